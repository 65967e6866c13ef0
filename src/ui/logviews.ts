import type { SessionAbove } from '../loop/index.ts';

/* What the inspector's server answers about the decision log and about time, as `views.ts` describes it. */

/** `GET /api/log?after=LINE&limit=N`: the chain of the decision log; without `after`, its last lines. */
export interface LogView {
  /** File or store; null when the server has no log. */
  readonly log: string | null;
  /** Lines that follow one another from the first. */
  readonly whole: number;
  /** Hash of the last of them. */
  readonly head: string;
  /** The first line that does not follow; null for an unbroken chain. Nothing behind it is vouched for. */
  readonly broken: LogPlace | null;
  /** The first line that decides a turn which an earlier line has decided; null when there is none. */
  readonly repeated: LogPlace | null;
  /** All lines. */
  readonly total: number;
  readonly lines: readonly LogRow[];
}

/** A line of the decision log, and what is wrong with it. */
export interface LogPlace {
  /** {@link LogRow.line}. */
  readonly place: number;
  readonly file: string;
  /** Its place in that file, from 1. */
  readonly line: number;
  readonly why: string;
}

export interface LogRow {
  /** Its place in the whole log, from 1. */
  readonly line: number;
  /** `follows`: unchanged and behind an unchanged line; `broken`: the first that is not; `behind`: not vouched for. */
  readonly state: 'follows' | 'broken' | 'behind';
  readonly text: string;
  /** Its fields; null for a line that is no entry. */
  readonly entry: {
    readonly ts: string;
    readonly sid: string;
    /** The sessions above it, as in `SessionRow`; none for one that is not in the store. */
    readonly above: readonly SessionAbove[];
    /** Cut to 200 characters; null for a session that is not in the store. */
    readonly subject: string | null;
    readonly turn: number;
    readonly decision: string;
    readonly reason: string | null;
    readonly latencyMs: number;
  } | null;
}

/** `GET /api/series?since=MS&until=MS`: counts over time; each list has one number for each of `times`. */
export interface SeriesView {
  /** What was counted: the decision log, or without one the turns of the sessions that changed last. */
  readonly source: 'log' | 'sessions';
  readonly stepMs: number;
  /** Beginnings of the steps. */
  readonly times: readonly number[];
  readonly decisions: Readonly<Record<string, readonly number[]>>;
  /** Reasons of HALT. */
  readonly errors: Readonly<Record<string, readonly number[]>>;
  /** Of decided turns; null for a step without any. */
  readonly latency: {
    readonly median: readonly (number | null)[];
    readonly p95: readonly (number | null)[];
    readonly most: readonly (number | null)[];
  };
}
