import { fileURLToPath } from 'node:url';
import { bundled } from '../bundled.ts';
import { COMPILED } from '../compiled.ts';

const programOf = (name: string): Promise<string> => bundled(fileURLToPath(new URL(name, import.meta.url)));
const CLASSIC = await programOf('server.ts');
const MODERN = await programOf('modern.ts');

/** How a test starts an MCP server. It inherits nothing from its client, so the place of what Node compiles is named here too. */
interface Started {
  readonly command: string;
  readonly args: string[];
  readonly env: Record<string, string>;
}

/** `server.ts` in one of its modes. It writes to the file, first its process number. */
export function classicServer(mode: string, file?: string): Started {
  return { command: process.execPath, args: [CLASSIC, mode, ...(file === undefined ? [] : [file])], env: COMPILED };
}

/** `modern.ts`. */
export function modernServer(): Started {
  return { command: process.execPath, args: [MODERN], env: COMPILED };
}

/** The command line of an honest server, for `--mcp`. */
export const SERVER_LINE = `env NODE_COMPILE_CACHE=${COMPILED.NODE_COMPILE_CACHE} ${process.execPath} ${CLASSIC} honest`;
