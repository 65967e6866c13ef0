import { recordProblem, type SessionStore } from '../loop/index.ts';
import { entryOf, type LogSource, linesOf } from './log.ts';
import type { SeriesView } from './logviews.ts';
import { wholeOf } from './request.ts';

/** Steps of a series at most. */
const STEPS = 240;
/** Latencies that are kept of a step; of more, every second one is dropped. */
const SAMPLES = 512;
/** Decisions and reasons that are counted by name. A foreign log may have any words. */
const NAMES = 40;
/** Turns that are counted where there is no log, and sessions whose turns they are. */
const [TURNS, SESSIONS] = [2000, 200];

/** What is counted. */
interface Decided {
  /** Unix milliseconds. */
  readonly at: number;
  readonly decision: string;
  readonly reason: string | null;
  readonly latencyMs: number;
}

interface Step {
  readonly decisions: Map<string, number>;
  readonly errors: Map<string, number>;
  latencies: number[];
  /** One of so many latencies is kept. */
  every: number;
  seen: number;
}

/** Decisions, errors and latencies over time: of the log, or without one of the sessions that changed last. */
export async function seriesView(
  { log, store }: { readonly log: LogSource | null; readonly store: SessionStore },
  query: URLSearchParams,
  signal: AbortSignal,
): Promise<SeriesView> {
  const since = wholeOf(query, 'since', [0, Number.MAX_SAFE_INTEGER], 0);
  const until = wholeOf(query, 'until', [0, Number.MAX_SAFE_INTEGER], Number.MAX_SAFE_INTEGER);
  const counts = new Counts();
  const count = (decided: Decided): void => {
    if (decided.at >= since && decided.at < until) counts.add(decided);
  };
  let lines = 0;
  if (log !== null)
    for await (const { text } of linesOf(log, signal)) {
      lines += 1;
      const entry = entryOf(text);
      if (entry !== null) count({ ...entry, at: Date.parse(entry.ts) });
    }
  if (lines === 0) for await (const decided of turnsOf(store, signal)) count(decided);
  return { source: lines === 0 ? 'sessions' : 'log', ...counts.view() };
}

/** The turns of the sessions that changed last. */
async function* turnsOf(store: SessionStore, signal: AbortSignal): AsyncGenerator<Decided> {
  let left = TURNS;
  for (const { sid, turns } of await store.recent({ limit: SESSIONS })) {
    for (let after = Math.max(0, turns - left); left > 0; ) {
      signal.throwIfAborted();
      const records = await store.turns(sid, () => {}, { after, limit: 5 });
      for (const record of records)
        if (recordProblem(record) === null) {
          const { startedAt: at, decision, reason, latencyMs } = record;
          yield { at, decision, reason, latencyMs };
        }
      left -= records.length;
      const last = records.at(-1);
      if (last === undefined) break;
      after = last.turn;
    }
    if (left <= 0) return;
  }
}

/** Counts in steps whose length doubles until the whole time fits. */
class Counts {
  #stepMs = 1000;
  /** By the number of the step since 1970. */
  #steps = new Map<number, Step>();
  readonly #names = new Set<string>();
  #first = Number.POSITIVE_INFINITY;
  #last = Number.NEGATIVE_INFINITY;

  add({ at, decision, reason, latencyMs }: Decided): void {
    // A clock of JavaScript goes this far.
    if (!(Math.abs(at) <= 8.64e15)) return;
    this.#fit(at);
    const place = Math.floor(at / this.#stepMs);
    const step = this.#steps.get(place) ?? { decisions: new Map(), errors: new Map(), latencies: [], every: 1, seen: 0 };
    this.#steps.set(place, step);
    this.#count(step.decisions, decision);
    if (reason !== null) this.#count(step.errors, reason);
    keep(step, latencyMs);
  }

  view(): Omit<SeriesView, 'source'> {
    const places = [...this.#steps.keys()];
    const first = Math.min(...places);
    const count = places.length === 0 ? 0 : Math.max(...places) - first + 1;
    const steps = Array.from({ length: count }, (_, index) => this.#steps.get(first + index));
    const named = (of: 'decisions' | 'errors') => {
      const names = new Set(steps.flatMap((step) => [...(step?.[of].keys() ?? [])]));
      return Object.fromEntries([...names].map((name) => [name, steps.map((step) => step?.[of].get(name) ?? 0)]));
    };
    const sorted = steps.map((step) => step?.latencies.toSorted((a, b) => a - b) ?? []);
    const at = (share: number) => sorted.map((list) => list[Math.min(list.length - 1, Math.floor(list.length * share))] ?? null);
    return {
      stepMs: this.#stepMs,
      times: steps.map((_, index) => (first + index) * this.#stepMs),
      decisions: named('decisions'),
      errors: named('errors'),
      latency: { median: at(0.5), p95: at(0.95), most: at(1) },
    };
  }

  #count(counts: Map<string, number>, word: string): void {
    const name = this.#names.has(word) || this.#names.size < NAMES ? word.slice(0, 100) : 'other';
    this.#names.add(name);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }

  /** Doubles the steps until they reach from the first to `at`. */
  #fit(at: number): void {
    this.#first = Math.min(this.#first, at);
    this.#last = Math.max(this.#last, at);
    const place = (time: number): number => Math.floor(time / this.#stepMs);
    while (place(this.#last) - place(this.#first) >= STEPS) {
      const before = this.#steps;
      this.#steps = new Map();
      this.#stepMs *= 2;
      for (const [each, step] of before) {
        const half = Math.floor(each / 2);
        const other = this.#steps.get(half);
        if (other === undefined) this.#steps.set(half, step);
        else join(other, step);
      }
    }
  }
}

function join(into: Step, from: Step): void {
  for (const kind of ['decisions', 'errors'] as const)
    for (const [name, count] of from[kind]) into[kind].set(name, (into[kind].get(name) ?? 0) + count);
  for (const latency of from.latencies) keep(into, latency);
}

/** Keeps a latency, and drops every second one when there are too many. The greatest stays. */
function keep(step: Step, latency: number): void {
  step.seen += 1;
  const most = step.latencies.at(-1);
  if (most === undefined || latency > most) step.latencies.push(latency);
  else if (step.seen % step.every === 0) step.latencies.unshift(latency);
  if (step.latencies.length < SAMPLES) return;
  step.latencies = step.latencies.filter((_, index, all) => index % 2 === 0 || index === all.length - 1);
  step.every *= 2;
}
