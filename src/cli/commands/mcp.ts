import type { Command } from 'commander';
import { addLimits, texts, wholeNumber } from '../flags/options.ts';
import { addSetup } from '../flags/setup.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';
import type { McpFlags } from './mcpserver.ts';

const HELP = `
A client of the Model Context Protocol starts this command and talks to it over
standard input and output. The server offers run, check, turn and tools. Every
program runs in a sandbox of its own, under the limits, tools and policy of
this command line. With --http it serves any number of clients at one address;
it has no authentication, so let only a proxy that has some offer it to others.

In a client's configuration:
  {"mcpServers": {"neuroscript": {"command": "neuroscript",
    "args": ["tools", "mcp", "--tools", "tools.yaml", "--fuel", "1e6"]}}}
`;

/** `tools mcp`: serves this runtime to MCP hosts, over standard input and output or over HTTP. */
export function addMcp(tools: Command, execute: Execute): void {
  const command = tools
    .command('mcp')
    .summary('offer this runtime to an MCP host')
    .description('Offers run, check, turn and tools over the Model Context Protocol, on standard input and output or HTTP.')
    .option('--keys <FILE>', 'key file for turns, see "neuroscript keys" (default: new keys for this process)')
    .option('--ask-user', 'let programs ask the user of a client that can ask, with promptuser')
    .option('--store <FILE>', 'with --ask-user: the file in which programs wait for the user (default: memory)')
    .option('--http <PORT>', 'serve over HTTP on this port of 127.0.0.1 instead; 0 chooses one', wholeNumber('--http', 0))
    .option(
      '--allow-host <NAME>',
      'with --http: another name by which clients may reach the server, such as that of a proxy (repeatable)',
      texts,
    )
    .option(
      '--origin <ORIGIN>',
      'with --http: the origin of web pages that may use the server, such as https://app.example (texts)',
      texts,
    );
  addSetup(command);
  addLimits(command, 'run')
    .addHelpText('after', HELP)
    // The SDK of the protocol takes longer to load than everything else.
    .action(execute(async (flags: McpFlags, terminal: Terminal) => (await import('./mcpserver.ts')).serveMcp(flags, terminal)));
}
