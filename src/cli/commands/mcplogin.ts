import type { Command } from 'commander';
import { printable } from '../../report/index.ts';
import { addServers, loginsOfUser, readServers } from '../flags/servers.ts';
import { usable } from '../flags/setup.ts';
import { parseQuantity } from '../flags/units.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';

interface LoginFlags {
  readonly mcp?: readonly string[];
  readonly timeout?: number;
}

/** The time that a person has for a login. */
const TIMEOUT = { flag: 'timeout', unit: 'ms', min: 1000, max: 3_600_000 } as const;

const HELP = `
Prints an address to open in a browser. After the consent the browser returns
to a port of this machine. The tokens are kept in a file that only you can read,
below ~/.local/state/neuroscript/mcp; every command with --mcp uses and renews
them. docs/mcp.md describes 'auth' of a server in the configuration.
`;

/** `tools login` and `tools logout`: tokens for MCP servers that want a person to consent. */
export function addLogins(tools: Command, execute: Execute): void {
  const login = tools
    .command('login')
    .summary('log in to an MCP server over HTTP')
    .description('Logs in to an MCP server over HTTP (OAuth), so that programs can use its tools.')
    .argument('<NAME>', "the server's name in the configuration");
  addServers(login)
    .option('--timeout <TIME>', 'how long to wait for the browser (5m)', (text: string) => parseQuantity(TIMEOUT, text))
    .addHelpText('after', HELP)
    .action(execute(logIn));
  const logout = tools
    .command('logout')
    .summary('forget the login to an MCP server')
    .description('Forgets the tokens of a login to an MCP server. The server is not told.')
    .argument('<NAME>', "the server's name in the configuration");
  addServers(logout).action(execute(logOut));
}

async function logIn(name: string, { mcp, timeout }: LoginFlags, terminal: Terminal): Promise<ExitCode> {
  const { server, logins } = await loginOf(name, mcp);
  const open = (address: string): void => {
    terminal.err.prose(`To log in to ${name}, open this address:`);
    terminal.out.line(address);
  };
  await usable(() => logins.login(name, server, { open, signal: terminal.interrupt, timeoutMs: timeout }));
  terminal.err.prose(`logged in to ${name}`);
  return EXIT.ok;
}

async function logOut(name: string, { mcp }: LoginFlags, terminal: Terminal): Promise<ExitCode> {
  const { server, logins } = await loginOf(name, mcp);
  terminal.err.prose(logins.logout(name, server) ? `logged out of ${name}` : `there is no login to ${name}`);
  return EXIT.ok;
}

async function loginOf(name: string, specs: readonly string[] = []) {
  if (specs.length === 0) throw new UsageError('name the configuration of the server with --mcp FILE, or with --mcp NAME=URL');
  const servers = await readServers(specs);
  const server = Object.hasOwn(servers, name) ? servers[name] : undefined;
  if (server === undefined)
    throw new UsageError(`unknown server '${printable(name)}'; known are ${printable(Object.keys(servers).join(', '))}`);
  if ('command' in server) throw new UsageError(`the server '${name}' is a command, which needs no login`);
  const logins = await loginsOfUser();
  if (logins === null) throw new UsageError('there is no home directory to keep a login in; set HOME');
  return { server, logins };
}
