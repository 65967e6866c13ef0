/** Model Context Protocol: servers as a source of tools, and this runtime as a server. Entry point `neuroscript-runtime/mcp`. */
import { type Logger, SILENT_LOGGER } from '../context/index.ts';
import type { ToolDefinition } from '../tools/index.ts';
import { anything, checker } from '../wire/options.ts';
import { checkMcpConfig, type McpConfig } from './config.ts';
import { McpConnection } from './connection.ts';
import { toolsOf } from './tools.ts';

export {
  type HttpServer,
  type McpBounds,
  type McpConfig,
  type McpServerConfig,
  parseMcpSpec,
  readMcpConfig,
  type StdioServer,
} from './config.ts';
export { McpError } from './connection.ts';
export { type McpHttp, type McpHttpOptions, serveHttp } from './server/http.ts';
export { type McpServerInit, mcpServers } from './server/server.ts';
export { serveStdio } from './server/stdio.ts';
export type { ErrorPage } from './server/teach.ts';

/** Options of {@link McpSource.connect}. */
export interface McpOptions {
  /** Logs lost connections and the error streams of servers. */
  readonly logger?: Logger;
}

const checkMcpOptions = checker<McpOptions>({ logger: anything });

/** The tools of MCP servers, for `createRuntime`. Close it after the runtime. */
export class McpSource implements AsyncDisposable {
  readonly tools: readonly ToolDefinition[];
  readonly #connections: readonly McpConnection[];

  private constructor(tools: readonly ToolDefinition[], connections: readonly McpConnection[]) {
    this.tools = tools;
    this.#connections = connections;
  }

  /**
   * Connects to all servers at once and reads their tools. Rejects with {@link McpError} (`ERR_MCP`) if a server cannot be used,
   * and with `ConfigError` (`ERR_CONFIG`) for an invalid configuration. After a rejection nothing stays connected.
   */
  static async connect(config: McpConfig, options: McpOptions = {}): Promise<McpSource> {
    checkMcpOptions('the options of MCP', options);
    const logger = options.logger ?? SILENT_LOGGER;
    const servers = Object.entries(checkMcpConfig(config));
    await using opened = new AsyncDisposableStack();
    const connections = servers.map(([name, server]) => opened.use(new McpConnection(name, server, logger)));
    const tools = await Promise.all(
      connections.map(async (connection) => toolsOf(connection, connection.config, await connection.tools())),
    );
    opened.move();
    return new McpSource(tools.flat(), connections);
  }

  /** Closes the connections and ends the servers that were started. Idempotent. */
  async close(): Promise<void> {
    await Promise.all(this.#connections.map((connection) => connection.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
