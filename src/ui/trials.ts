import { z } from 'zod';
import type { KeyLookup } from '../aeiou/index.ts';
import { FIRST_ISSUE } from '../files/check.ts';
import {
  type CallAnswer,
  heatOfTurn,
  PLAN,
  parsePlace,
  type ReplayOptions,
  replayTurn,
  type SessionStore,
  stepOfTurn,
  type TurnRecord,
  tryOut,
} from '../loop/index.ts';
import type { Runtime } from '../runtime/index.ts';
import { decode } from '../wire/codec.ts';
import { ConfigError } from '../wire/errors.ts';
import type { StepPlace, TurnHeat, TurnStep } from '../wire/heat.ts';
import type { TaggedJson } from '../wire/protocol.ts';
import { ValueError } from '../wire/values.ts';
import { findTurn } from './record.ts';
import { RequestError, wholeOf } from './request.ts';
import { PAGE_SIZES, Texts } from './texts.ts';
import type { ReplayView, TryView } from './trialviews.ts';
import { turnSide } from './turn.ts';

const MOST_TURNS = 10;
/** Trials that wait for the one that runs. */
const MOST_WAITING = 4;

const ANSWER = z.union([z.strictObject({ value: z.unknown() }), z.strictObject({ error: z.string() })]);
const CALL = z.string().regex(/^(?:[1-9]\d{0,8}\.[1-9]\d{0,8}|tool\..{1,200})$/);
const TRY = z.strictObject({ program: z.string().optional(), answers: z.record(CALL, ANSWER).optional() });

/** Executes recorded turns again, one at a time, in a runtime without tools. */
export class Trials implements AsyncDisposable {
  readonly #store: SessionStore;
  readonly #open: () => Promise<Runtime>;
  readonly #keys: KeyLookup | undefined;
  #runtime: Promise<Runtime> | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** `open` makes the runtime when it is needed first. Tokens of replays verify with `keys`, or with those of the records. */
  constructor(store: SessionStore, open: () => Promise<Runtime>, keys?: KeyLookup) {
    this.#store = store;
    this.#keys = keys;
    this.#open = open;
  }

  /** A turn executed again from its record. */
  async replay(sid: string, turn: number, signal: AbortSignal): Promise<ReplayView> {
    const { verdict, why, attempts, faults, divergence, unverified } = await this.#again(sid, turn, signal, replayTurn);
    return { turn, verdict, why, attempts, faults, divergence, unverified };
  }

  /** Where a turn spent its fuel and time. */
  heat(sid: string, turn: number, signal: AbortSignal): Promise<TurnHeat> {
    return this.#again(sid, turn, signal, heatOfTurn);
  }

  /** One moment of a turn: `step=NUMBER`, or `at=LINE` and `at=LINE:VISIT`. Throws {@link RequestError} (400). */
  step(sid: string, turn: number, query: URLSearchParams, signal: AbortSignal): Promise<TurnStep> {
    const at = placeOf(query);
    return this.#again(sid, turn, signal, (runtime, record, options) => stepOfTurn(runtime, record, at, options));
  }

  /** A turn and those after it, tried out with changes. Throws {@link RequestError} for a request of another form. */
  async tryOut(sid: string, turn: number, request: unknown): Promise<TryView> {
    const { data, error } = TRY.safeParse(request, FIRST_ISSUE);
    if (data === undefined) throw new RequestError(400, `the request is not of its form: ${error?.issues[0]?.message ?? ''}`);
    await findTurn(this.#store, sid, turn);
    const turns = await this.#store.turns(sid, () => {}, { after: turn - 1, limit: MOST_TURNS + 1 });
    const changes = {
      fromTurn: turn,
      program: data.program,
      answers: new Map(Object.entries(data.answers ?? {}).map(([call, answer]) => [call, answerOf(answer)])),
    };
    const session = { sid, head: null, turns: turns.slice(0, MOST_TURNS) };
    const tried = await this.#run((runtime) => tryOut(runtime, session, changes)).catch((problem: unknown) => {
      throw problem instanceof ConfigError ? new RequestError(422, problem.message) : problem;
    });
    const texts = new Texts(PAGE_SIZES, { parts: false });
    const isCut = turns.length > MOST_TURNS && tried.turns.length === MOST_TURNS;
    return {
      turns: tried.turns.map(({ recorded, tried: now, differences, unanswered, turn: each }) => ({
        turn: each,
        recorded: turnSide(recorded, texts),
        tried: turnSide(now, texts),
        differences: differences.map(({ where, recorded: was, replayed: is }) => ({
          where,
          recorded: was.slice(0, 2000),
          replayed: is.slice(0, 2000),
        })),
        unanswered,
      })),
      end: isCut ? `a trial has at most ${MOST_TURNS} turns; try out turn ${turn + MOST_TURNS} for the next ones` : tried.end,
    };
  }

  /** Does `work` with the runtime, after the trials before it. Throws {@link RequestError} (429) when too many wait. */
  async #run<Result>(work: (runtime: Runtime) => Promise<Result>): Promise<Result> {
    if (this.#waiting >= MOST_WAITING) throw new RequestError(429, 'other trials are still running; try again in a moment');
    this.#waiting += 1;
    const before = this.#last;
    const mine = (async () => {
      await before;
      return await work(await this.#opened());
    })();
    this.#last = mine.catch(() => {});
    try {
      return await mine;
    } finally {
      this.#waiting -= 1;
    }
  }

  /** Cancels the trial that runs. */
  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#runtime)?.[Symbol.asyncDispose]();
    await this.#last;
  }

  /** Executes a recorded turn. */
  async #again<Result>(
    sid: string,
    turn: number,
    signal: AbortSignal,
    execute: (runtime: Runtime, record: TurnRecord, options: ReplayOptions) => Promise<Result>,
  ): Promise<Result> {
    const { record, prev } = await findTurn(this.#store, sid, turn);
    const options = { signal, keys: this.#keys, prev };
    return this.#run((runtime) => execute(runtime, record, options));
  }

  /** The runtime; if it cannot be made now, the next trial tries again. */
  #opened(): Promise<Runtime> {
    this.#runtime ??= this.#open().catch((error: unknown) => {
      this.#runtime = null;
      throw error;
    });
    return this.#runtime;
  }
}

function placeOf(query: URLSearchParams): StepPlace {
  if (query.has('step')) return { step: wholeOf(query, 'step', [1, Number.MAX_SAFE_INTEGER], 1) };
  try {
    return parsePlace(query.get('at') ?? '');
  } catch (error) {
    throw error instanceof ConfigError ? new RequestError(400, error.message) : error;
  }
}

/** An answer of a page as a call takes it. Throws {@link RequestError} (400) for a value that no program can have. */
export function answerOf(answer: z.infer<typeof ANSWER>): CallAnswer {
  if ('error' in answer) return { error: { message: answer.error } };
  // The result of a JSON parser has the shape of tagged JSON; decoding checks the rest.
  const value = answer.value as TaggedJson;
  try {
    decode(value);
  } catch (cause) {
    if (cause instanceof ValueError) throw new RequestError(400, cause.message);
    throw cause;
  }
  return { result: value };
}

const WAITING = z.union([CALL, z.literal(PLAN)]);
const COMPLETE = z.union([
  z.strictObject({ call: WAITING, value: z.unknown() }),
  z.strictObject({ call: WAITING, error: z.string() }),
]);

/** The call and the answer of a request to complete it. Throws {@link RequestError} (400). */
export function completionOf(request: unknown): { readonly call: string; readonly answer: CallAnswer } {
  const { data } = COMPLETE.safeParse(request, FIRST_ISSUE);
  if (data === undefined) throw new RequestError(400, 'the request needs call, and exactly one of value and error');
  const { call } = data;
  return { call, answer: answerOf('error' in data ? { error: data.error } : { value: data.value }) };
}
