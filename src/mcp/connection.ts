import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type AuthProvider,
  type CallToolRequestParams,
  Client,
  type JsonSchemaValidator,
  type jsonSchemaValidator,
  type OAuthClientProvider,
  type Progress,
  type RequestOptions,
  type Tool,
  type Transport,
} from '@modelcontextprotocol/client';
import { KeyedMutex, type Logger } from '../context/index.ts';
import { withMcpCall } from '../telemetry/index.ts';
import { isRecord } from '../wire/unknown.ts';
import { answerOf, type McpAnswer } from './answer.ts';
import { ownCredentials } from './auth/provider.ts';
import { Secrets } from './auth/secrets.ts';
import { DEFAULT_TIMEOUT_MS, type HttpServer, type McpServerConfig, scriptName, secretsOf } from './config.ts';
import { digestsOf } from './digest.ts';
import { askForm } from './elicit.ts';
import { Changed, isLogin, isNegotiation, isUnknownSession, McpError, type Outage, outageOf, reasonOf } from './error.ts';
import { Exchange } from './exchange.ts';
import type { Access } from './http.ts';
import { listTools, MAX_PAGES } from './listing.ts';
import { type McpProgress, progressReport } from './progress.ts';
import { carriedTask, type McpTask, readTask, TASKS_EXTENSION } from './tasks.ts';
import { BoundError, transportTo } from './transport.ts';
import { type McpCaller, Underway } from './underway.ts';

/** Gives the tokens for a server. */
export type Authorize = (server: string, config: HttpServer) => AuthProvider | OAuthClientProvider | undefined;

/** The parts of its owner that a connection uses. */
export interface McpOwner {
  readonly logger: Logger;
  readonly onProgress: ((progress: McpProgress) => void) | null;
  readonly authorize: Authorize | null;
}

/** Maximum number of tools that one server may list. */
const MAX_TOOLS = 1000;
const CLOSED = 'the connection has been closed';
/** The wait after a failed attempt to connect; it doubles each time up to the longest. */
const RETRY_MS = 250;
const LONGEST_RETRY_MS = 30_000;
/** Upper bound for the time of a call whose server reports progress, as a multiple of its timeout. */
const PROGRESS_FACTOR = 10;
/** The longest wait for an answer about protocol versions over standard streams. A silent server counts as one of the previous version. */
const LONGEST_PROBE_MS = 5000;

/** Accepts everything, because a validator would run the patterns of a server's schema. `serverschema.ts` does the safe checks. */
const NO_VALIDATION: jsonSchemaValidator = {
  getValidator<T>(): JsonSchemaValidator<T> {
    // The library's type claims the type of the schema. The readers of an answer treat it as unknown.
    return (input) => ({ valid: true, data: input as T, errorMessage: undefined });
  },
};

/**
 * A connection to one server. It connects on first use, and again after a loss. The first connection fixes the list of tools: a
 * tool that has changed since is not called, so that a host never approves one tool and calls another.
 */
export class McpConnection implements AsyncDisposable {
  readonly name: string;
  /** The name in scripts and grants. */
  readonly group: string;
  readonly config: McpServerConfig;
  readonly #logger: Logger;
  readonly #onProgress: McpOwner['onProgress'];
  readonly #access: Access;
  readonly #mutex = new KeyedMutex();
  #client: Client | null = null;
  readonly #underway = new Underway();
  /** Whether the server speaks only the previous protocol version. */
  #legacy = false;
  #digests: ReadonlyMap<string, string> | null = null;
  #changed: ReadonlySet<string> = new Set();
  /** Connections whose list is being read again, and whether it has changed since. */
  readonly #unread = new WeakMap<Client, boolean>();
  #opening: Transport | null = null;
  #failures = 0;
  #notBefore = 0;
  #closed = false;
  /** Why a connection was closed, which the library does not tell. */
  readonly #breaches = new WeakMap<Client, BoundError>();

  constructor(name: string, config: McpServerConfig, { logger, onProgress, authorize }: McpOwner) {
    this.name = name;
    this.group = scriptName(name);
    this.config = config;
    this.#logger = logger;
    this.#onProgress = onProgress;
    this.#access = {
      tokens: 'url' in config ? (authorize?.(name, config) ?? ownCredentials(config.auth)) : undefined,
      secrets: new Secrets(secretsOf(config)),
    };
  }

  /** Whether the server offers resources and prompts, according to the present connection. */
  get offers(): { readonly resources: boolean; readonly prompts: boolean } {
    const { resources, prompts } = this.#client?.getServerCapabilities() ?? {};
    return { resources: resources !== undefined, prompts: prompts !== undefined };
  }

  /** The server's tools, as it describes them. Rejects with {@link McpError} (`ERR_MCP`). */
  async tools(): Promise<readonly Tool[]> {
    const tools = await this.#list(await this.#connected());
    // Only offered tools are compared, because a server may announce a changed list before the tools are offered.
    this.#digests ??= digestsOf(tools);
    return tools;
  }

  /**
   * Calls a tool. Gives a task instead of the answer when the server works on it for longer than `patienceMs`. Rejects with
   * {@link McpError} (`ERR_MCP`), or with the signal's reason if it is aborted.
   */
  call(tool: Tool, args: Record<string, unknown>, caller: McpCaller, patienceMs: number): Promise<McpAnswer | McpTask> {
    return this.exchange(`the call of '${tool.name}' failed`, caller, async (exchange) => {
      if (this.#changed.has(tool.name)) throw new Changed(tool.name);
      const { client } = exchange;
      const url = 'url' in this.config ? this.config.url : null;
      const session = client.transport?.sessionId;
      const about = { tool: tool.name, url, protocol: client.getNegotiatedProtocolVersion(), session };
      return withMcpCall(about, async (_meta) => {
        const answer = await this.#called(exchange, tool, { name: tool.name, arguments: args, _meta });
        const task = carriedTask(answer);
        return task === null ? answerOf(answer) : ended(await exchange.settle(task, patienceMs));
      });
    });
  }

  #called(exchange: Exchange, tool: Tool, params: CallToolRequestParams): Promise<unknown> {
    const { client } = exchange;
    // Progress reports arrive outside of the call and its span, so they enter its asynchronous context again.
    const inCall = AsyncLocalStorage.snapshot();
    const report = progressReport(this.name, tool.name, this.#logger, this.#onProgress);
    const onprogress = (progress: Progress) => inCall(() => report(progress));
    // From 2026-07-28 on, the server decides for each call whether it becomes a task.
    const wantsTask = tool.execution?.taskSupport === 'required' && client.getProtocolEra() !== 'modern';
    if (wantsTask) return exchange.request('tools/call', { ...params, task: {} });
    // Omits the schema of the answer, because the library would check it again and refuse questions.
    const toolDefinition = { ...tool, outputSchema: undefined };
    return exchange.rounds((answered, options) =>
      client.callTool({ ...params, ...answered }, { ...options, onprogress, toolDefinition }),
    );
  }

  /** The answer of a task of an earlier call; the task itself if it does not end within `patienceMs`. Rejects as {@link call} does. */
  resume(taskId: string, caller: McpCaller, patienceMs: number): Promise<McpAnswer | McpTask> {
    return this.exchange('the answer of a task cannot be read', caller, async (exchange) =>
      ended(await exchange.settle(await exchange.look(taskId), patienceMs)),
    );
  }

  /** Makes a request for a program. `failure` begins the message of an error. Rejects as {@link call} does. */
  async exchange<Result>(
    failure: string,
    caller: McpCaller,
    work: (exchange: Exchange) => Promise<Result>,
    isAgain = false,
  ): Promise<Result> {
    const client = await this.#connected();
    const { signal } = caller;
    signal.throwIfAborted();
    const { elicit = false } = this.config;
    const { maxTotalTimeout } = this.#times();
    const total = maxTotalTimeout * PROGRESS_FACTOR;
    const times = { timeout: elicit ? total : maxTotalTimeout, maxTotalTimeout: total, resetTimeoutOnProgress: true };
    const exchange = new Exchange(this.name, client, caller, { ...times, signal } satisfies RequestOptions, elicit);
    this.#underway.begin(caller, client);
    try {
      return await work(exchange);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof Changed)
        throw new McpError(this.name, `it has changed its tool '${error.message}' since it was offered; connect anew`);
      if (!isAgain && !exchange.isTaken && isUnknownSession(error, client)) {
        // Other requests of the session may have been taken, or another reason may have made it refuse this one.
        this.#underway.retire(client);
        if (this.#client === client) this.#client = null;
        return await this.exchange(failure, caller, work, true);
      }
      const cause = this.#breaches.get(client) ?? error;
      throw this.#failed(failure, cause, outageOf(cause, exchange.isTaken));
    } finally {
      await this.#underway.end(caller, client);
    }
  }

  /** Closes the connection, and ends the server if this process has started it. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    const client = this.#client;
    this.#client = null;
    // An attempt to connect that is under way fails.
    await Promise.all([this.#opening?.close(), client?.close(), this.#underway.close()]).catch(() => {});
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Makes one attempt at a time; concurrent callers share its outcome. */
  async #connected(): Promise<Client> {
    using _lock = await this.#mutex.hold('connect');
    if (this.#closed) throw new McpError(this.name, CLOSED);
    const present = await this.#present();
    if (present !== null) return present;
    const wait = this.#notBefore - performance.now();
    if (wait > 0) {
      const outage = { mayHaveTaken: false, retryAfterMs: Math.ceil(wait) };
      throw new McpError(this.name, `it could not be reached; the next attempt is due in ${outage.retryAfterMs} ms`, {
        outage,
      });
    }
    const client = await this.#connect();
    this.#failures = 0;
    this.#client = client;
    return client;
  }

  /** The connection of earlier requests; null without one. Ends a connection that was given up first, so that no server runs twice. */
  async #present(): Promise<Client | null> {
    const client = this.#client;
    if (client === null || !this.#breaches.has(client)) return client;
    await this.#giveUp(client);
    return null;
  }

  async #giveUp(client: Client): Promise<void> {
    if (this.#client === client) this.#client = null;
    await client.close().catch(() => {});
  }

  async #connect(): Promise<Client> {
    try {
      const client = await this.#attempt();
      this.#legacy ||= client.getProtocolEra() !== 'modern';
      return client;
    } catch (error) {
      const wait = Math.min(RETRY_MS * 2 ** this.#failures, LONGEST_RETRY_MS);
      this.#notBefore = performance.now() + wait;
      this.#failures += 1;
      // The next server at this place may know the present version.
      this.#legacy = false;
      if (error instanceof McpError) throw error;
      const outage = outageOf(error);
      const retryAfterMs = Math.max(wait, outage?.retryAfterMs ?? 0);
      // No request of a program has been sent.
      throw this.#failed('it cannot be reached', error, outage && { mayHaveTaken: false, retryAfterMs });
    }
  }

  async #attempt(): Promise<Client> {
    const client = this.#newClient();
    const transport = transportTo(this.name, this.config, this.#logger, this.#access);
    this.#opening = transport;
    try {
      await client.connect(transport, this.#times());
      if (this.#mustSubscribe(client)) await client.listen({ toolsListChanged: true }, this.#times());
      if (this.#digests !== null) await this.#list(client);
      if (this.#closed) throw new McpError(this.name, CLOSED);
      return client;
    } catch (error) {
      await client.close().catch(() => {});
      const breach = this.#breaches.get(client);
      // Some servers of the previous version end when they are asked about versions.
      if (!this.#legacy && !this.#closed && breach === undefined && isNegotiation(error)) {
        this.#legacy = true;
        return await this.#attempt();
      }
      throw breach ?? error;
    } finally {
      this.#opening = null;
    }
  }

  /** From 2026-07-28 on, a server announces a changed list only to subscribers. Over HTTP a subscription would keep a stream open. */
  #mustSubscribe(client: Client): boolean {
    const announces = client.getServerCapabilities()?.tools?.listChanged === true;
    return announces && 'command' in this.config && client.getProtocolEra() === 'modern';
  }

  #newClient(): Client {
    const { elicit = false } = this.config;
    const { timeout } = this.#times();
    const client = new Client(
      { name: 'neuroscript-runtime', version: '1' },
      {
        capabilities: { ...(elicit ? { elicitation: { form: {} } } : {}), extensions: { [TASKS_EXTENSION]: {} } },
        jsonSchemaValidator: NO_VALIDATION,
        listMaxPages: MAX_PAGES,
        versionNegotiation: this.#legacy
          ? { mode: 'legacy' }
          : { mode: 'auto', probe: { timeoutMs: Math.min(timeout, LONGEST_PROBE_MS) } },
        inputRequired: { autoFulfill: false },
      },
    );
    client.onerror = (error) => {
      if (error instanceof BoundError) this.#breaches.set(client, error);
      this.#logger.warn({ server: this.name }, `MCP server ${this.name}: ${this.#words(error)}`);
    };
    client.onclose = () => {
      if (this.#client === client) this.#client = null;
    };
    client.setNotificationHandler('notifications/tools/list_changed', () => this.#recheck(client));
    if (elicit) client.setRequestHandler('elicitation/create', ({ params }) => this.#ask(params));
    return client;
  }

  /**
   * Asks the user a question of the previous version, which does not say to which call it belongs. If calls of several users are under
   * way it declines, so that no user answers for another.
   */
  async #ask(params: unknown) {
    const user = this.#underway.user();
    if (user === null) return { action: 'decline' as const };
    using _turn = await this.#mutex.hold('ask');
    return await askForm(this.name, params, user);
  }

  /** Reads a list that the server says has changed. However often it says so during a reading, one more reading follows. */
  async #recheck(client: Client): Promise<void> {
    if (this.#digests === null) return;
    const isReading = this.#unread.has(client);
    this.#unread.set(client, true);
    if (isReading) return;
    while (this.#unread.get(client) === true) {
      this.#unread.set(client, false);
      await this.#list(client).catch((error: unknown) => {
        this.#logger.warn({ server: this.name }, `MCP server ${this.name}: ${this.#words(error)}`);
      });
    }
    this.#unread.delete(client);
  }

  async #list(client: Client): Promise<readonly Tool[]> {
    let tools: readonly Tool[] = [];
    try {
      // A server without tools has resources or prompts. The library would print to standard output.
      if (client.getServerCapabilities()?.tools !== undefined)
        tools = await listTools(client, this.#times(), (what) =>
          this.#logger.warn({ server: this.name }, `MCP server ${this.name}: left out is ${what}`),
        );
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
    if (!isLogin(error)) return this.#access.secrets.clean(reasonOf(error));
    return `it wants a login; log in with "neuroscript tools login ${this.name}", or give it a token`;
  }

  #times(): { readonly timeout: number; readonly maxTotalTimeout: number } {
    const timeout = this.config.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    return { timeout, maxTotalTimeout: timeout };
  }

  #failed(what: string, error: unknown, outage: Outage | null = null): McpError {
    // An error that shows a secret is not kept as the cause, because loggers print causes.
    const cause = this.#access.secrets.isIn(error) ? {} : { cause: error };
    return new McpError(this.name, `${what}: ${this.#words(error)}`, { ...cause, outage });
  }
}

function ended(outcome: Readonly<Record<string, unknown>> | McpTask): McpAnswer | McpTask {
  return isTask(outcome) ? outcome : answerOf(outcome);
}

/** Whether the outcome of a call is a task on which the server still works. */
export function isTask(outcome: unknown): outcome is McpTask {
  return isRecord(outcome) && 'raw' in outcome && readTask(outcome['raw']) !== null;
}
