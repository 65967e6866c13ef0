import { LIMITS, type LimitKey, type LimitValues } from '../wire/limits.ts';

/** How runs share isolates and processes; `docs/security.md` compares them. */
export const ISOLATIONS = ['process', 'run', 'tenant'] as const;

/**
 * `process`: each run has a process of its own. `run`: each run has a fresh isolate, in a process that serves one run after another.
 * `tenant`: besides, an isolate serves the runs of one tenant one after another; the runs without a tenant are the application's own.
 */
export type Isolation = (typeof ISOLATIONS)[number];

/** The owner of kept isolates: the id of a tenant, or null for the application. */
export type Owner = string | null;

/** An isolate that a worker keeps. */
interface Kept {
  readonly number: number;
  readonly limits: LimitValues;
  runs: number;
  /** On the clock of `performance.now()`. */
  usedAt: number;
}

/** Isolates that one worker keeps at most, each for another owner. */
export const MAX_KEPT = 4;
/** Runs that an isolate serves at most. */
export const MAX_ISOLATE_RUNS = 500;
/** Milliseconds after which an isolate without a run is given up. */
export const KEPT_IDLE_MS = 30_000;

/** The limits that shrink from run to run while a tenant uses up its budgets. They change nothing in an isolate. */
const SHRINKING: ReadonlySet<LimitKey> = new Set<LimitKey>(['fuel', 'cpuMs', 'toolCalls']);
const FIXED = LIMITS.map(({ key }) => key).filter((key) => !SHRINKING.has(key));

/** Whether an isolate of runs with some limits may serve a run with others. */
function isSuited(some: LimitValues, others: LimitValues): boolean {
  return some === others || FIXED.every((key) => some[key] === others[key]);
}

/**
 * The isolates that one worker keeps, as its host knows them. The host decides whose they are, for how many runs and for how long. The
 * worker gives one up by itself after a run that did not end well, or whose heap has grown; then the next run of that number gets a fresh one.
 */
export class Isolates {
  /** The least recently used first. */
  readonly #kept = new Map<Owner, Kept>();
  readonly #discarded: number[] = [];
  #next = 1;

  /** Whether this owner has an isolate here. */
  has(owner: Owner): boolean {
    return this.#kept.has(owner);
  }

  /** The number of the isolate for the next run of an owner, and whether the worker has used it before. */
  refer(owner: Owner, limits: LimitValues, now: number): { readonly number: number; readonly known: boolean } {
    this.expire(now);
    const known = this.#kept.get(owner);
    this.#kept.delete(owner);
    if (known !== undefined && known.runs < MAX_ISOLATE_RUNS && isSuited(known.limits, limits)) {
      known.runs++;
      known.usedAt = now;
      this.#kept.set(owner, known);
      return { number: known.number, known: true };
    }
    if (known !== undefined) this.#discarded.push(known.number);
    const number = this.#next++;
    this.#kept.set(owner, { number, limits: { ...limits }, runs: 1, usedAt: now });
    if (this.#kept.size > MAX_KEPT) this.#giveUp(([oldest]) => oldest !== owner);
    return { number, known: false };
  }

  /** Gives up the isolates that had no run for {@link KEPT_IDLE_MS}. */
  expire(now: number): void {
    while (this.#giveUp(([, { usedAt }]) => now - usedAt >= KEPT_IDLE_MS));
  }

  /** The numbers that the worker must discard, once. */
  takeDiscarded(): readonly number[] {
    return this.#discarded.splice(0);
  }

  #giveUp(wanted: (entry: readonly [Owner, Kept]) => boolean): boolean {
    for (const entry of this.#kept) {
      if (!wanted(entry)) continue;
      this.#kept.delete(entry[0]);
      this.#discarded.push(entry[1].number);
      return true;
    }
    return false;
  }
}
