import { setTimeout as sleep } from 'node:timers/promises';
import type { TurnContext } from '../../context/index.ts';
import { ATTR, note, OWN } from '../../telemetry/index.ts';
import { NS_CODES } from '../../wire/codes.ts';
import type { ErrorInfo } from '../../wire/errors.ts';
import type { TaggedJson } from '../../wire/protocol.ts';
import { errorOf } from '../../wire/unknown.ts';
import { callPrice } from '../define/cost.ts';
import type { CallIdentity, ToolDefinition, ToolRuntime } from '../define/definition.ts';
import { ToolError } from '../errors.ts';
import { Pending } from '../pending.ts';
import { approvedCall } from './approval.ts';
import { mustAct, unlessOver } from './callscope.ts';
import type { CallingRun, ToolCall } from './context.ts';
import { orderedValueFrom, valueFrom } from './large.ts';
import { callDigest } from './numbers.ts';
import { translate } from './outcome.ts';
import type { Completion } from './recorded.ts';
import { resultJson } from './result.ts';
import { suspend } from './suspended.ts';
import { CallRuntime } from './toolruntime.ts';

/**
 * Runs a tool with checked arguments, within its own time limit and until the call is over. `callNested` calls other tools for it.
 * Rejects with `ToolError` or `Halt`.
 */
export async function invoke(
  { context, quotas }: CallingRun,
  tool: ToolDefinition,
  args: Readonly<Record<string, unknown>>,
  { id, seq, args: given, site, io, hold, depth, completion, origin, keepsVariables = false }: ToolCall,
  callNested: ToolRuntime['callTool'],
): Promise<TaggedJson> {
  const { turn, limits, costs } = context;
  const price = tool.price === null ? 0 : callPrice(tool.price, args);
  const paid = (breach: ErrorInfo | null): void => void (breach === null || quotas.end(breach));
  let [tries, pausedMs] = [0, 0];
  const box = tool.timeoutMs === null ? null : { ms: tool.timeoutMs, expired: new AbortController() };
  const runtime = new CallRuntime(tool, {
    context,
    site,
    identity: new TurnCall(turn, context.asTurn === true ? turn.origin : null, id, tool.canonicalName, given),
    io,
    hold,
    expired: box?.expired.signal ?? null,
    callNested,
    keepsVariables,
    mayWait: depth === 0 && (context.mayWait ?? false),
    waitedFor: completion?.waitedFor ?? null,
    origin,
  });
  const work = () => {
    // A call that is completed now began in an earlier run, which had the required approval and paid.
    if (completion !== null) {
      if (tries === 0) paid(costs.repeat(seq, price));
      return complete(tool, completion, args, runtime);
    }
    const begin = () => {
      if (tries === 0) paid(costs.pay(seq, price, `the call of ${tool.canonicalName}`));
      return tool.run(args, runtime);
    };
    return tool.requiresApproval ? approvedCall(tool, given, turn, begin) : begin();
  };
  const run = async () => {
    for (;;) {
      // In the pause before a further try, or while the tool that makes this call waited, another process may have taken the session.
      mustAct(turn);
      try {
        // Its CPU time until it first waits. What it does later cannot be told from the work of others: a tool declares that by `charge`.
        const result = await withCpuTime(work, (ms) => io.spend?.(ms));
        hold.take(result);
        return await resultJson(tool, result, limits.toolBytes);
      } catch (thrown) {
        const error = errorOf(thrown);
        const pause = error instanceof ToolError ? pauseAfter(error) : null;
        if (pause === null) throw error;
        await sleep(pause, undefined, { signal: runtime.signal });
      }
    }
  };
  /** Milliseconds before the call is tried again. A person approves one try. */
  function pauseAfter({ retryAfterMs, message, nsCode }: ToolError): number | null {
    if (retryAfterMs === null || tool.requiresApproval) return null;
    const pause = quotas.pauseBefore(retryAfterMs, ++tries, pausedMs, box?.ms ?? Number.POSITIVE_INFINITY);
    pausedMs += pause ?? 0;
    if (pause === null) return null;
    const words = `${tool.canonicalName} is tried again in ${Math.ceil(pause)} ms: ${message}`;
    context.host.logger.warn({ tool: tool.canonicalName, tries, pause, reason: message }, words);
    note('neuroscript.tool.retry', { [OWN.tries]: tries, [OWN.pause]: pause / 1000, [ATTR.errorType]: `NS${nsCode}` });
    context.retries.count += 1;
    return pause;
  }
  try {
    return await unlessOver(io, box === null ? run : () => timeboxed(tool, box, run));
  } catch (thrown) {
    const error = errorOf(thrown);
    if (error instanceof Pending) throw suspend(tool, error, depth, context.mayWait ?? false);
    throw translate(tool, error, tries);
  } finally {
    runtime.end();
  }
}

/** The result that a tool makes of the answer to a suspended call. */
async function complete(
  tool: ToolDefinition,
  completion: Completion,
  args: Readonly<Record<string, unknown>>,
  runtime: ToolRuntime,
): Promise<unknown> {
  if (!completion.ok) throw new ToolError(completion.code, completion.message);
  const inOrder = tool.orderedMaps || tool.complete === null;
  const answer = await (inOrder ? orderedValueFrom : valueFrom)(completion.value);
  return tool.complete === null ? answer : tool.complete(answer, args, runtime);
}

/**
 * The outcome of a tool's work. When the tool's own time is over, aborts `expired` and rejects with {@link ToolError} 37. Work that
 * never awaits blocks the whole host process and cannot be stopped: the author of the tool has to avoid it.
 */
async function timeboxed<T>(
  { canonicalName }: ToolDefinition,
  { ms, expired }: { readonly ms: number; readonly expired: AbortController },
  work: () => Promise<T>,
): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const error = new ToolError(NS_CODES.ResourceExhaustion, `tool '${canonicalName}' took longer than ${ms} ms`);
    expired.abort(error);
    late.reject(error);
  }, ms);
  try {
    return await Promise.race([work(), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Work that took so many milliseconds counts as if it had computed all the time: to ask for the CPU time of the thread takes 3 µs. */
const SHORT_MS = 0.1;
/** Milliseconds for which a reading of the thread's CPU time is kept. */
const KEPT_MS = 1;

/** The last reading of the thread's CPU time, and when it was taken. */
const reading = { at: Number.NEGATIVE_INFINITY, cpuMs: 0 };

function read(now: number): number {
  const { user, system } = process.threadCpuUsage();
  reading.at = now;
  reading.cpuMs = (user + system) / 1000;
  return reading.cpuMs;
}

/**
 * Does `work`, and gives `spend` the milliseconds of CPU time that it took: never less than it took, and never more than the time
 * that went by. At most a tenth of a millisecond is counted too much for short work, and one for long work.
 */
function withCpuTime<T>(work: () => T, spend: (ms: number) => void): T {
  const begun = performance.now();
  const before = begun - reading.at > KEPT_MS ? read(begun) : reading.cpuMs;
  try {
    return work();
  } finally {
    const now = performance.now();
    spend(now - begun > SHORT_MS ? Math.min(now - begun, read(now) - before) : now - begun);
  }
}

/**
 * The identity of one call of a turn. The key contains a digest of tool and arguments, among whose calls it is numbered. It is computed on demand, because most tools never read it.
 */
class TurnCall implements CallIdentity {
  readonly #turn: TurnContext;
  readonly #origin: string | null;
  readonly #id: () => string;
  readonly #tool: string;
  readonly #args: readonly TaggedJson[];

  /** `id` is the number of the call within its session: that of the turn, and that among the calls with the same digest. Without an `origin` the call has no key. */
  constructor(turn: TurnContext, origin: string | null, id: () => string, tool: string, args: readonly TaggedJson[]) {
    this.#turn = turn;
    this.#origin = origin;
    this.#id = id;
    this.#tool = tool;
    this.#args = args;
  }

  get key(): string | null {
    if (this.#origin === null) return null;
    return `${this.#origin}/${this.#id()}/${callDigest(this.#tool, this.#args)}`;
  }

  get fence(): number | null {
    return this.#turn.fence;
  }
}
