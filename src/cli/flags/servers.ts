import { join } from 'node:path';
import type { Command } from 'commander';
import type { HttpServer, McpConfig, McpLogins, McpServerConfig } from '../../mcp/index.ts';
import { printable } from '../../report/index.ts';
import { UsageError } from '../terminal/failure.ts';
import { configText } from './configfile.ts';
import { texts } from './options.ts';
import { stateFolder } from './statefolder.ts';

export function addServers(command: Command): Command {
  return command.option(
    '--mcp <SERVER>',
    'an MCP server with tools for programs: NAME=COMMAND, NAME=URL, or a file with mcpServers (repeatable)',
    texts,
  );
}

/** The servers that the flags name. Throws {@link UsageError}, and `ConfigError` with file and line. */
export async function readServers(specs: readonly string[]): Promise<McpConfig> {
  if (specs.length === 0) return {};
  const { parseMcpSpec, readMcpConfig } = await import('../../mcp/index.ts');
  const configs = await Promise.all(specs.map(async (spec) => parseMcpSpec(spec) ?? readMcpConfig(await configText(spec), spec)));
  const servers: Record<string, McpServerConfig> = {};
  for (const [name, server] of configs.flatMap((config) => Object.entries(config))) {
    if (Object.hasOwn(servers, name)) throw new UsageError(`--mcp names two servers '${printable(name)}'`);
    servers[name] = server;
  }
  return servers;
}

/** The logins that `tools login` keeps; null without a home directory. */
export async function loginsOfUser(): Promise<McpLogins | null> {
  const { McpLogins } = await import('../../mcp/index.ts');
  const folder = stateFolder();
  return folder === null ? null : new McpLogins(join(folder, 'mcp'));
}

/** Gives the tokens of these logins to connections. */
export async function tokensOfUser() {
  const logins = await loginsOfUser();
  // A client with credentials of its own has no login.
  return (name: string, server: HttpServer) =>
    server.auth?.grant === 'client_credentials' ? undefined : logins?.tokens(name, server);
}
