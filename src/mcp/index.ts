/** Model Context Protocol: servers as a source of tools, and this runtime as a server. Entry point `neuroscript-runtime/mcp`. */

import { type Logger, SILENT_LOGGER } from '../context/index.ts';
import type { ToolDefinition } from '../tools/index.ts';
import { callBack } from '../wire/callback.ts';
import { anything, checker, checkFunction } from '../wire/options.ts';
import { checkMcpConfig, type McpConfig } from './config.ts';
import { type Authorize, McpConnection } from './connection.ts';
import { McpError } from './error.ts';
import type { McpProgress } from './progress.ts';
import { readersOf } from './resources.ts';
import { standIn, toolsOf } from './tools.ts';

export type { McpAuth } from './auth/config.ts';
export { type LoginOptions, McpLogins } from './auth/logins.ts';
export {
  type HttpServer,
  type McpBounds,
  type McpConfig,
  type McpServerConfig,
  parseMcpSpec,
  readMcpConfig,
  type StdioServer,
} from './config.ts';
export { McpError } from './error.ts';
export type { McpProgress } from './progress.ts';
export { type McpHttp, type McpHttpOptions, serveHttp } from './server/http.ts';
export { ProgramFile } from './server/programfile.ts';
export type { ProgramStore } from './server/programs.ts';
export { type McpServerInit, mcpServers } from './server/server.ts';
export { serveStdio } from './server/stdio.ts';
export type { ErrorPage } from './server/teach.ts';

/** Options of {@link McpSource.connect}. */
export interface McpOptions {
  /** Logs lost connections and the error streams of servers. */
  readonly logger?: Logger;
  /** Receives what servers report about calls that are under way. An exception goes to the log. */
  readonly onProgress?: (progress: McpProgress) => void;
  /**
   * Gives the tokens for a server over HTTP: those of {@link McpLogins}, or an OAuth client of the application, as
   * `@modelcontextprotocol/client` defines it. If it returns undefined, the configuration of the server decides.
   */
  readonly authorize?: Authorize;
}

const checkMcpOptions = checker<McpOptions>({ logger: anything, onProgress: checkFunction, authorize: checkFunction });

/** A server that could not be used, although the configuration names it. */
export interface McpFailure {
  /** Name of the server in the configuration. */
  readonly server: string;
  /** Why it could not be used. */
  readonly error: McpError;
}

/** The tools of MCP servers, for `createRuntime`. Close it after the runtime. */
export class McpSource implements AsyncDisposable {
  /** The tools of all servers, as `tool.<server>.<tool>`. */
  readonly tools: readonly ToolDefinition[];
  /** The servers with `optional: true` that could not be used. One tool that says why replaces the tools of each. */
  readonly failures: readonly McpFailure[];
  readonly #connections: readonly McpConnection[];

  private constructor(tools: readonly ToolDefinition[], failures: readonly McpFailure[], connections: readonly McpConnection[]) {
    this.tools = tools;
    this.failures = failures;
    this.#connections = connections;
  }

  /**
   * Connects to all servers at once and reads their tools. Rejects with {@link McpError} (`ERR_MCP`) if a server cannot be used that
   * is not optional, and with `ConfigError` (`ERR_CONFIG`) for an invalid configuration. After a rejection nothing stays connected.
   */
  static async connect(config: McpConfig, options: McpOptions = {}): Promise<McpSource> {
    checkMcpOptions('the options of MCP', options);
    const logger = options.logger ?? SILENT_LOGGER;
    const onProgress = guarded(options.onProgress, logger);
    const owner = { logger, onProgress, authorize: options.authorize ?? null };
    const servers = Object.entries(checkMcpConfig(config));
    await using opened = new AsyncDisposableStack();
    const connections = servers.map(([name, server]) => opened.use(new McpConnection(name, server, owner)));
    const failures: McpFailure[] = [];
    const tools = await Promise.all(
      connections.map(async (connection) => {
        try {
          const own = await toolsOf(connection, connection.config, await connection.tools());
          return [...own, ...readersOf(connection, connection.config, own)];
        } catch (error) {
          if (connection.config.optional !== true || !(error instanceof McpError)) throw error;
          await connection.close();
          failures.push({ server: connection.name, error });
          return [standIn(connection.group, error)];
        }
      }),
    );
    opened.move();
    return new McpSource(tools.flat(), failures, connections);
  }

  /** Closes the connections and ends the servers that were started. Idempotent. */
  async close(): Promise<void> {
    await Promise.all(this.#connections.map((connection) => connection.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** The callback of an application, whose failures go to the log. */
function guarded(callback: McpOptions['onProgress'], logger: Logger): ((progress: McpProgress) => void) | null {
  if (callback === undefined) return null;
  return (progress) =>
    callBack(
      () => callback(progress),
      (error) => logger.error({ error }, 'the callback onProgress failed'),
    );
}
