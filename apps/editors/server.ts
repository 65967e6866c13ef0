// The server that the extension brings along, for workspaces that have none of their own.
import { parseArgs } from 'node:util';
import { serve } from '../../src/cli/commands/lsp.ts';

const { values } = parseArgs({ options: { tools: { type: 'string' }, policy: { type: 'string' }, stdio: { type: 'boolean' } } });
const { tools, policy } = values;
process.exitCode = await serve({ tools, policy }, { stdin: process.stdin, interrupt: new AbortController().signal });
process.exit();
