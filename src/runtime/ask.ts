import type { HostContext, StoreReaders, TurnContext } from '../context/index.ts';
import {
  type AskCall,
  type AskPort,
  type AskReply,
  type CallHistory,
  type CheckedReply,
  callDepth,
  type Payer,
  ToolError,
  valueFrom,
} from '../tools/index.ts';
import type { CallIo } from '../wire/call.ts';
import { NS_CODES } from '../wire/codes.ts';
import { ConfigError } from '../wire/errors.ts';
import { labelNames } from '../wire/labels.ts';
import type { LimitValues } from '../wire/limits.ts';
import { usdOf } from '../wire/money.ts';
import { type Check, checker, checkObject, oneOf, required, wholeNumber } from '../wire/options.ts';
import type { AskLeft, AskSpent, CallSite, Source, TaggedJson } from '../wire/protocol.ts';
import { isValueMap, type Value, type ValueMap } from '../wire/values.ts';
import { type AskAnswer, checkedAnswer, wantedAnswer } from './askanswer.ts';
import type { AskingRun } from './context.ts';
import type { Fork, ForkOptions } from './fork.ts';

/** The remaining budget of the asking run, which bounds a nested loop. Whole numbers from 0. */
export interface AskBudget {
  readonly fuel: number;
  readonly memoryBytes: number;
  readonly toolCalls: number;
  readonly cpuMs: number;
  readonly wallMs: number;
}

/** One `ask` of a script, with all parts of a nested loop. */
export interface AskRequest {
  readonly model: string;
  readonly prompt: Value;
  /** The map behind `with`, without `answer`; empty without it. */
  readonly options: ValueMap;
  /** What the answer must be, which is checked afterwards; null for any text. */
  readonly answer: AskAnswer | null;
  /** Names of the labels of all that is asked, and of what decided that it is asked; empty without rules about origin. */
  readonly labels: readonly string[];
  readonly site: CallSite;
  /** Counts the calls of the asking run. */
  readonly seq: number;
  /** The number of the call within its session. It is the same in every execution of the asking turn. */
  readonly id: string;
  readonly left: AskBudget;
  /** The limits of the asking run; `journalBytes` and `cost` are what is left. */
  readonly limits: LimitValues;
  /** Pays for what is asked: {@link PAYER} of nested turns. */
  readonly payer: Payer;
  /** The turn of the asking run, from which nested turns derive their contexts. */
  readonly turn: TurnContext;
  /** Aborted when the asking run ends before it has an answer. The run then waits for the handler 10 seconds at most. */
  readonly signal: AbortSignal;
  readonly host: HostContext;
  readonly stores: StoreReaders;
  /** The globals of the asking run, which nested programs have too. */
  readonly globals: Readonly<Record<string, TaggedJson>>;
  /** Makes a fork of the asking fork, for one nested turn. It obeys the policies of the asking fork and shares their counters. */
  fork(options: ForkOptions): Fork;
  /** Definitions of the asking run in addition to those of its root. */
  definitions(): Promise<readonly Source[]>;
  /** Removes what tools kept for a nested session. */
  endSession(sessionId: string): Promise<void>;
}

/**
 * Answers `ask`: with the value, an error that the script can catch, or a halt, each with what was used. A failure of a model or a nested
 * program must be a reply: a rejection is a fault of the host. `askHandler` of `neuroscript-runtime/loop` makes one.
 */
export type AskHandler = (request: AskRequest) => Promise<AskReply>;

/** Answers the asks of one run by `handler`. `fork` makes forks of the asking fork. */
export function askPort(
  handler: AskHandler,
  run: AskingRun,
  fork: (options: ForkOptions, history: CallHistory) => Fork,
): AskPort {
  const { context, turn, limits, globals, history, costs } = run;
  const { runtime, root } = context;
  const remainder = new Remainder(limits);
  let library: Promise<readonly Source[]> | null = null;
  return async (call, io, journalLeft) => {
    const options = await valueFrom(call.options);
    if (options !== null && !isValueMap(options))
      return { t: 'error', code: NS_CODES.ArgMismatch, message: 'the options of ask are a map' };
    let wanted: AskAnswer | null;
    try {
      wanted = wantedAnswer(options ?? {});
    } catch (error) {
      return replyOf(error);
    }
    const { answer: _, ...others } = options ?? {};
    const own = history.inside(call.seq);
    const reply = await handler({
      model: call.model,
      prompt: await valueFrom(call.prompt),
      options: others,
      answer: wanted,
      labels:
        call.labels === undefined ? [] : labelNames([...call.labels.args.flatMap(({ all }) => all), ...call.labels.deciding]),
      site: call.at,
      seq: call.seq,
      id: call.id,
      left: remainder.at(call, io),
      limits: { ...limits, cost: usdOf(costs.left), journalBytes: Math.max(1, journalLeft) },
      payer: costs,
      turn,
      signal: io.signal,
      host: root.host,
      stores: root.readers,
      globals,
      fork: (nested) => fork(nested, own),
      definitions() {
        library ??= libraryOf(run);
        return library;
      },
      endSession: (sessionId) => runtime.resources.end(sessionId),
    });
    checkReply(reply);
    remainder.charge(reply);
    return wanted === null ? reply : await checked(wanted, reply);
  };
}

const checkForm = oneOf('ok', 'error', 'halt');
const checkAmount: Check = (what, value) => {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0)
    throw new ConfigError(`${what} must be a number from 0, got ${String(value)}`);
};
const count = required(wholeNumber(0));
const checkSpent = checker<AskSpent>({
  ...{ fuel: count, toolCalls: count, turns: count, tokens: count },
  ...{ cpuMs: required(checkAmount), cost: checkAmount },
});

/** Throws {@link ConfigError} for what a handler of the application must not reply: the worker would be blamed for it. */
function checkReply(reply: AskReply): void {
  const what = 'the reply of the handler of ask';
  checkObject(what, reply);
  checkForm(`${what}: t`, reply.t);
  if (reply.spent !== undefined) checkSpent(`${what}: spent`, reply.spent);
}

/** A reply with the value that was asked for, or the error of another one. */
async function checked(wanted: AskAnswer, reply: AskReply): Promise<CheckedReply> {
  if (reply.t !== 'ok') return reply;
  try {
    return { ...reply, value: checkedAnswer(wanted, await valueFrom(reply.value)), isChecked: true };
  } catch (error) {
    const { value: _, ...rest } = reply;
    return { ...rest, ...replyOf(error) };
  }
}

function replyOf(error: unknown): AskReply & { readonly t: 'error' } {
  if (!(error instanceof ToolError)) throw error;
  return { t: 'error', code: error.nsCode, message: error.message };
}

/** The remaining budget of a run for its asks. */
class Remainder {
  readonly #limits: LimitValues;
  readonly #begun = performance.now();
  #nestedFuel = 0;

  constructor(limits: LimitValues) {
    this.#limits = limits;
  }

  at(call: AskCall, io: CallIo): AskBudget {
    return { ...this.#bounded(call.left), ...this.#time(io) };
  }

  charge({ spent }: AskReply): void {
    this.#nestedFuel += spent?.fuel ?? 0;
  }

  /**
   * The budget that the isolate reports, bounded by the host's own counts: a program that has broken out of the interpreter may report
   * anything.
   */
  #bounded({ fuel, memoryBytes, toolCalls }: AskLeft): AskLeft {
    const limits = this.#limits;
    return {
      fuel: Math.max(0, Math.min(fuel, limits.fuel - this.#nestedFuel)),
      memoryBytes: Math.min(memoryBytes, limits.memoryBytes),
      toolCalls: Math.min(toolCalls, limits.toolCalls),
    };
  }

  /** The rest of the time is an estimate: time that the worker's meter has not measured yet counts as left. */
  #time(io: CallIo): Pick<AskBudget, 'cpuMs' | 'wallMs'> {
    const { cpuMs, wallMs } = this.#limits;
    const own = io.cpuMs?.() ?? 0;
    return {
      cpuMs: Math.max(0, Math.floor(cpuMs - own)),
      wallMs: Math.max(0, Math.floor(wallMs - (performance.now() - this.#begun))),
    };
  }
}

/** The libraries among the run's own sources. A file of command blocks is no library. */
async function libraryOf({ context, sources, limits }: AskingRun): Promise<readonly Source[]> {
  const { files } = await context.runtime.sandbox.parse(sources, limits.sourceBytes, callDepth());
  return sources.filter((_, index) => files[index]?.kind === 'library');
}
