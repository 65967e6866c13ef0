import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { ROOT } from '../architecture/source.ts';

/** The package of the tools for these tests. */
export const TOOLS = join(ROOT, 'apps/lab/mcp');

const manifest = z.object({ bin: z.record(z.string(), z.string()) });

/** The path of a command that a package of `apps/lab/mcp` brings. */
export function commandOf(name: string, command: string): string {
  const folder = join(TOOLS, 'node_modules', name);
  const file = manifest.parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))).bin[command];
  if (file === undefined) throw new Error(`${name} brings no command ${command}`);
  return join(folder, file);
}

/** The path of a public server of the protocol's own project: `everything`, `filesystem` or `memory`. */
export function publicServer(name: 'everything' | 'filesystem' | 'memory'): string {
  return commandOf(`@modelcontextprotocol/server-${name}`, `mcp-server-${name}`);
}
