import { createHash } from 'node:crypto';
import {
  Client,
  type JsonSchemaValidator,
  type jsonSchemaValidator,
  type Tool,
  type Transport,
} from '@modelcontextprotocol/client';
import { KeyedMutex, type Logger } from '../context/index.ts';
import { withMcpCall } from '../telemetry/index.ts';
import { NeuroScriptError } from '../wire/errors.ts';
import { DEFAULT_TIMEOUT_MS, type McpServerConfig, secretsOf } from './config.ts';
import { plainWords } from './serverschema.ts';
import { BoundError, transportTo } from './transport.ts';

/** A server cannot be reached, does not answer in time, or violates the protocol. */
export class McpError extends NeuroScriptError {
  static readonly code = 'ERR_MCP';
  constructor(server: string, problem: string, options?: ErrorOptions) {
    super(McpError.code, `MCP server '${server}': ${problem}`, options);
  }
}

/** The answer to a call of a server's tool. */
export interface McpAnswer {
  readonly isError: boolean;
  readonly content: readonly unknown[];
  /** Undefined if there is none. */
  readonly structured: unknown;
}

/** Maximum number of tools that one server may list. */
const MAX_TOOLS = 1000;
/** Maximum number of pages of a list. */
const MAX_PAGES = 50;
const CLOSED = 'the connection has been closed';
/** The wait after a failed attempt to connect; it doubles each time up to the longest. */
const RETRY_MS = 250;
const LONGEST_RETRY_MS = 30_000;

/** Accepts everything. A validator would run the patterns of a server's schema; `serverschema.ts` keeps the safe checks. */
const NO_VALIDATION: jsonSchemaValidator = {
  getValidator<T>(): JsonSchemaValidator<T> {
    // The library's type promises what the schema says; the readers of an answer treat it as unknown.
    return (input) => ({ valid: true, data: input as T, errorMessage: undefined });
  },
};

/**
 * A connection to one server. It connects on first use, and again after a loss. The first connection fixes the list of tools: a
 * tool that has changed since is not called, so that a host never approves one tool and calls another.
 */
export class McpConnection implements AsyncDisposable {
  readonly name: string;
  readonly config: McpServerConfig;
  readonly #logger: Logger;
  readonly #mutex = new KeyedMutex();
  #client: Client | null = null;
  #digests: ReadonlyMap<string, string> | null = null;
  #changed: ReadonlySet<string> = new Set();
  #opening: Transport | null = null;
  #failures = 0;
  #notBefore = 0;
  #closed = false;
  /** Why a connection was closed. The library tells its callers only that it was. */
  readonly #breaches = new WeakMap<Client, BoundError>();

  constructor(name: string, config: McpServerConfig, logger: Logger) {
    this.name = name;
    this.config = config;
    this.#logger = logger;
  }

  /** The server's tools, as it describes them. Rejects with {@link McpError} (`ERR_MCP`). */
  async tools(): Promise<readonly Tool[]> {
    const tools = await this.#list(await this.#connected());
    // A server may announce a changed list before the tools are offered. Only offered tools count for the comparison.
    this.#digests ??= digestsOf(tools);
    return tools;
  }

  /** Calls a tool. Rejects with {@link McpError} (`ERR_MCP`), or with the signal's reason if it is aborted. */
  async call(tool: string, args: Record<string, unknown>, signal: AbortSignal): Promise<McpAnswer> {
    const client = await this.#connected();
    signal.throwIfAborted();
    if (this.#changed.has(tool))
      throw new McpError(this.name, `it has changed its tool '${tool}' since it was offered; connect anew`);
    try {
      const { timeout, maxTotalTimeout } = this.#times();
      const url = 'url' in this.config ? this.config.url : null;
      const about = { tool, url, protocol: client.getNegotiatedProtocolVersion(), session: client.transport?.sessionId };
      return await withMcpCall(about, async (_meta) => {
        const result = await client.callTool({ name: tool, arguments: args, _meta }, { timeout, maxTotalTimeout, signal });
        return { isError: result.isError === true, content: result.content ?? [], structured: result.structuredContent };
      });
    } catch (error) {
      signal.throwIfAborted();
      throw this.#failed(`the call of '${tool}' failed`, this.#breaches.get(client) ?? error);
    }
  }

  /** Closes the connection, and ends the server if this process has started it. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    const client = this.#client;
    this.#client = null;
    // An attempt to connect that is under way fails.
    await Promise.all([this.#opening?.close(), client?.close()]).catch(() => {});
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Makes one attempt at a time; concurrent callers share its outcome. */
  #connected(): Promise<Client> {
    return this.#mutex.run('connect', async () => {
      if (this.#closed) throw new McpError(this.name, CLOSED);
      if (this.#client !== null) return this.#client;
      const wait = this.#notBefore - performance.now();
      if (wait > 0) throw new McpError(this.name, `it could not be reached; the next attempt is due in ${Math.ceil(wait)} ms`);
      const client = await this.#connect();
      this.#failures = 0;
      this.#client = client;
      return client;
    });
  }

  async #connect(): Promise<Client> {
    const client = new Client(
      { name: 'neuroscript-runtime', version: '1' },
      { capabilities: {}, jsonSchemaValidator: NO_VALIDATION, listMaxPages: MAX_PAGES },
    );
    client.onerror = (error) => {
      if (error instanceof BoundError) this.#breaches.set(client, error);
      this.#logger.warn({ server: this.name }, `MCP server ${this.name}: ${this.#words(error)}`);
    };
    client.onclose = () => {
      if (this.#client === client) this.#client = null;
    };
    client.setNotificationHandler('notifications/tools/list_changed', () => this.#recheck(client));
    const transport = transportTo(this.name, this.config, this.#logger);
    this.#opening = transport;
    try {
      await client.connect(transport, this.#times());
      if (this.#digests !== null) await this.#list(client);
      if (this.#closed) throw new McpError(this.name, CLOSED);
      return client;
    } catch (error) {
      await client.close().catch(() => {});
      this.#notBefore = performance.now() + Math.min(RETRY_MS * 2 ** this.#failures, LONGEST_RETRY_MS);
      this.#failures += 1;
      throw error instanceof McpError ? error : this.#failed('it cannot be reached', this.#breaches.get(client) ?? error);
    } finally {
      this.#opening = null;
    }
  }

  async #recheck(client: Client): Promise<void> {
    if (this.#digests === null) return;
    await this.#list(client).catch((error: unknown) => {
      this.#logger.warn({ server: this.name }, `MCP server ${this.name}: ${this.#words(error)}`);
    });
  }

  async #list(client: Client): Promise<readonly Tool[]> {
    let tools: readonly Tool[];
    try {
      // Without this check the library prints to standard output.
      if (client.getServerCapabilities()?.tools === undefined) throw new Error('it offers none');
      // Never from the cache: only the present list counts.
      ({ tools } = await client.listTools(undefined, { ...this.#times(), cacheMode: 'refresh' }));
    } catch (error) {
      throw this.#failed('its tools cannot be listed', this.#breaches.get(client) ?? error);
    }
    if (tools.length > MAX_TOOLS) throw new McpError(this.name, `it lists ${tools.length} tools; ${MAX_TOOLS} are allowed`);
    const digests = digestsOf(tools);
    const offered = this.#digests ?? digests;
    this.#changed = new Set([...offered].filter(([name, digest]) => digests.get(name) !== digest).map(([name]) => name));
    return tools;
  }

  /** The message of an error, without the secrets that the server may repeat in it. */
  #words(error: unknown): string {
    return plainWords(secretsOf(this.config).reduce((text, secret) => text.replaceAll(secret, '[secret]'), messageOf(error)));
  }

  #times(): { readonly timeout: number; readonly maxTotalTimeout: number } {
    const timeout = this.config.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    return { timeout, maxTotalTimeout: timeout };
  }

  #failed(what: string, error: unknown): McpError {
    return new McpError(this.name, `${what}: ${this.#words(error)}`, { cause: error });
  }
}

function digestsOf(tools: readonly Tool[]): ReadonlyMap<string, string> {
  return new Map(tools.map((tool) => [tool.name, digestOf(tool)]));
}

function digestOf({ name, description, inputSchema, outputSchema }: Tool): string {
  return createHash('sha256')
    .update(JSON.stringify([name, description, inputSchema, outputSchema]))
    .digest('hex');
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
