import { z } from 'zod';
import { type Keyring, NO_PROGRESS_YET, ReplayCache } from '../aeiou/index.ts';
import { fields, later, pathText, readAs } from '../files/problem.ts';
import {
  type Agent,
  type AgentReply,
  type Clock,
  type DecisionLog,
  functionAgent,
  LoopController,
  type LoopResult,
  randomIds,
  readTurn,
  runTurn,
  runtimeExecutor,
  type SessionStore,
  toPublicLoop,
  toPublicTurn,
  withNonce,
} from '../loop/index.ts';
import { type Fork, type Runtime, requestFrom, runRequestOf } from '../runtime/index.ts';
import { VERSION } from '../runtime/version.ts';
import type { LimitOptions } from '../sandbox/index.ts';
import { loadPolicy, type Policy, type ToolDefinition } from '../tools/index.ts';
import { toPublicCheck } from '../wire/findings.ts';
import type { OutFrame } from '../wire/protocol.ts';
import { resultText, toPublicResult } from '../wire/result.ts';
import { jsonText } from '../wire/tagged.ts';
import { RpcError, rpcErrorOf } from './error.ts';
import { type MethodName, type Params, PROTOCOL, readParams } from './forms.ts';
import { type MessageId, RPC } from './messages.ts';
import { errorLine, type Method, Peer, type Serving, type Streams } from './peer.ts';
import { type ClientTool, clientTool } from './tools.ts';

/** What a connection needs of its process. */
export interface ServiceHost {
  /** Starts the runtime of a client. `policy` is null for a client that names none. Its resources end with the connection. */
  readonly open: (client: { readonly tools: readonly ToolDefinition[]; readonly policy: Policy | null }) => Promise<Runtime>;
  /** Signs the tokens of sessions and turns. */
  readonly keyring: Keyring;
  readonly clock: Clock;
  /** Keeps the sessions; the memory of the connection when absent. */
  readonly store?: SessionStore | undefined;
  readonly log?: DecisionLog | undefined;
}

type Drive = Params<'session.resume'>;

/** The methods that a client can call. The first request is `initialize`; it is answered once. */
export class Service implements AsyncDisposable {
  readonly #host: ServiceHost;
  readonly #peer: Peer;
  readonly #running = new Map<string, MessageId>();
  /** Rejects, and is null again, where the runtime of the client does not start. */
  #client: Promise<Client> | null = null;

  constructor(host: ServiceHost, peer: Peer) {
    this.#host = host;
    this.#peer = peer;
  }

  method(name: string): Method | undefined {
    return Object.hasOwn(this.#methods, name) ? this.#methods[name as MethodName] : undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const client = await this.#client?.catch(() => null);
    await client?.runtime.close();
  }

  readonly #methods: Readonly<Record<MethodName, Method>> = {
    initialize: async (given) => {
      if (this.#client !== null) throw new RpcError(RPC.invalid, 'the connection is initialized already');
      const { tools = [], policy, limits } = readParams('initialize', given);
      const client = { tools: tools.map((tool) => this.#tool(tool)), policy: optionalPolicy(policy) ?? null };
      this.#client = this.#open(client, limits);
      return JSON.stringify({ protocol: PROTOCOL, version: VERSION, limits: (await this.#client).limits });
    },
    run: async (given, serving) => {
      const { policy, session, ...program } = readParams('run', given);
      const { runtime, limits } = await this.#ready();
      using turn = session === undefined ? undefined : runtime.turn({ sessionId: session });
      const fork = runtime.interpreter().fork({ turn, limits, policy: optionalPolicy(policy) });
      const run = runRequestOf(lineOf(program));
      return await this.#within(fork.id, serving, async () => {
        const result = await fork.runRequest({
          ...run,
          signal: serving.signal,
          markedKeys: true,
          onOut: (out) => this.#output(serving.id, out),
        });
        return resultText(toPublicResult(serving.id, result));
      });
    },
    foresee: async (given) => {
      const { policy, ...program } = readParams('foresee', given);
      const { runtime, limits } = await this.#ready();
      const fork: Fork = runtime.interpreter().fork({ limits, policy: optionalPolicy(policy) });
      const { preview, diagnostics } = await fork.foresee(runRequestOf(lineOf(program)));
      const { findings } = toPublicCheck({ diagnostics, files: [], findings: [], estimates: [] });
      return JSON.stringify({ ok: preview !== null, ...preview, errors: findings });
    },
    check: async (given) => {
      const { src, lib = [], globals = [] } = readParams('check', given);
      const libraries = (typeof lib === 'string' ? [lib] : lib).map((text, index) => ({ name: `lib${index + 1}`, text }));
      const report = await (await this.#ready()).runtime.check([...libraries, { name: 'src', text: src }], { globals });
      return JSON.stringify(toPublicCheck(report));
    },
    cancel: async (given) => JSON.stringify(this.#peer.cancel(readParams('cancel', given).id)),
    turn: async (given, serving) => {
      const { clock, keyring } = this.#host;
      const { envelope, turn = 1, sid = randomIds.session(), nonce, limits } = readParams('turn', given);
      const client = await this.#ready();
      const host = {
        executor: client.executor,
        ...{ keyring, clock, replay: client.replay },
        ids: nonce === undefined ? randomIds : withNonce(randomIds, nonce),
      };
      const input = readTurn(Buffer.from(envelope));
      const own = { sid, turn, input, progress: NO_PROGRESS_YET, signal: serving.signal };
      return this.#within(sid, serving, async () => {
        const { record } = await runTurn(host, { ...own, limits: { ...client.given, ...limits } });
        return JSON.stringify(toPublicTurn(record));
      });
    },
    'session.run': async (given, serving) => {
      const { userdata, sid = randomIds.session(), ...drive } = readParams('session.run', given);
      return this.#drive({ ...drive, sid }, serving, ({ controller }, options) =>
        controller.runLoop({ ...options, userdata, sid }),
      );
    },
    'session.resume': async (given, serving) => {
      const drive = readParams('session.resume', given);
      return this.#drive(drive, serving, ({ controller }, options) => controller.resume(drive.sid, options));
    },
    'session.complete': async (given) => {
      const { sid, call, answer } = readParams('session.complete', given);
      // The controller checks the answer.
      const waiting = await (await this.#ready()).controller.complete(
        sid,
        call,
        answer as Parameters<LoopController['complete']>[2],
      );
      return JSON.stringify(waiting);
    },
    'session.cancel': async (given) => {
      const { sid } = readParams('session.cancel', given);
      return JSON.stringify(await (await this.#ready()).controller.cancel(sid));
    },
    'session.end': async (given) => {
      const { session } = readParams('session.end', given);
      await (await this.#ready()).runtime.endSession(session);
      return 'null';
    },
  };

  /** Hands on what a program put out, as the result has it. */
  #output(id: MessageId, { emits, values, whispers }: OutFrame): void {
    for (const [index, text] of emits.entries()) {
      const head = JSON.stringify({ id, kind: 'emit', text });
      this.#peer.notifyJson('output', `${head.slice(0, -1)},"value":${jsonText(values[index] ?? null)}}`);
    }
    for (const whisper of whispers) this.#peer.notify('output', { id, kind: 'whisper', ...whisper });
  }

  /** Requests that come while the runtime starts wait for it. */
  async #ready(): Promise<Client> {
    if (this.#client === null) throw new RpcError(RPC.uninitialized, 'the first request is initialize');
    return await this.#client;
  }

  async #open(client: Parameters<ServiceHost['open']>[0], limits: LimitOptions | undefined): Promise<Client> {
    try {
      return new Client(await this.#host.open(client), this.#host, limits);
    } catch (error) {
      this.#client = null;
      throw error;
    }
  }

  #tool(tool: ClientTool): ToolDefinition {
    return clientTool(
      tool,
      this.#peer,
      (forkId, session) => this.#running.get(forkId) ?? this.#running.get(session ?? '') ?? null,
    );
  }

  /** Does `work` while calls of this fork or session belong to the request. */
  async #within(place: string, { id }: Serving, work: () => Promise<string>): Promise<string> {
    this.#running.set(place, id);
    try {
      return await work();
    } finally {
      this.#running.delete(place);
    }
  }

  /** Drives a session whose agent is the client. */
  async #drive(
    { sid, limits, ...ceilings }: Drive,
    serving: Serving,
    begin: (client: Client, options: Parameters<LoopController['resume']>[1]) => Promise<LoopResult>,
  ): Promise<string> {
    const client = await this.#ready();
    const agent: Agent = functionAgent(async ({ signal, onDelta: _, maxTokens, ...asked }) => {
      const params = { id: serving.id, ...asked, maxTokens };
      return replyOf(await this.#peer.ask('agent.reply', params, signal));
    }, 'client');
    return this.#within(sid, serving, async () => {
      const own = { ...client.given, ...limits };
      const result = await begin(client, { ...ceilings, agent, limits: own, signal: serving.signal, keepTurns: true });
      return JSON.stringify(toPublicLoop(result));
    });
  }
}

/** What a client has once it is initialized. */
class Client {
  readonly executor: ReturnType<typeof runtimeExecutor>;
  readonly controller: LoopController;
  readonly replay: ReplayCache;
  /** The limits of every run of the client. */
  readonly limits: Runtime['limits'];
  readonly runtime: Runtime;
  /** The limits that the client asked for. */
  readonly given: LimitOptions;

  constructor(runtime: Runtime, { keyring, clock, store, log }: ServiceHost, given: LimitOptions = {}) {
    const interpreter = runtime.interpreter();
    this.runtime = runtime;
    this.given = given;
    this.limits = interpreter.fork({ limits: given }).limits;
    this.executor = runtimeExecutor(runtime, interpreter);
    this.replay = new ReplayCache({ clock });
    this.controller = new LoopController({ executor: this.executor, keyring, clock, store, log });
  }
}

/** A program of a request, checked. */
function lineOf(program: object) {
  const outcome = requestFrom(program);
  if (outcome.ok) return outcome.request;
  throw new RpcError(RPC.params, outcome.error.message, { code: outcome.error.code });
}

function optionalPolicy(policy: object | undefined): Policy | undefined {
  return policy === undefined ? undefined : loadPolicy(JSON.stringify(policy), 'policy');
}

const count = z.int().min(0);

/** What a client answers to `agent.reply`. */
const replyForm = later(() =>
  z.union([
    z.string(),
    fields({ text: z.string(), tokens: count, inputTokens: count.optional(), outputTokens: count.optional() }),
  ]),
);

/** The reply of a client's agent: its text, or the text with its cost. Throws {@link RpcError} for anything else. */
function replyOf(value: unknown): string | AgentReply {
  return readAs(replyForm(), value, ({ path, problem }) => {
    throw new RpcError(
      RPC.params,
      `the reply of the client's agent${path.length === 0 ? '' : `, ${pathText(path)}`}: ${problem}`,
    );
  });
}

/**
 * Serves one client over a pair of streams until it closes them or the signal ends it. Everything that the client began ends with the
 * connection.
 */
export async function serveClient(streams: Streams, host: ServiceHost, signal: AbortSignal): Promise<void> {
  const peer: Peer = new Peer(streams, (name) => service.method(name));
  await using service = new Service(host, peer);
  await peer.serve(signal);
}

/** The line for a client that is not served, because of `error`. */
export function refusalOf(error: Error): string {
  return `${errorLine(null, rpcErrorOf(error))}\n`;
}
