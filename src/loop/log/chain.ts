import { hash as digestOf } from 'node:crypto';
import { z } from 'zod';
import { canonicalize } from '../../aeiou/index.ts';
import { parsedJson } from '../../files/json.ts';
import { LINE_BYTES, logLines } from './lines.ts';
import type { StoredLog } from './log.ts';

/** The `prev` hash of the first line of a chain. */
export const GENESIS = '0'.repeat(64);

const LINE = z.looseObject({ prev: z.string().regex(/^[0-9a-f]{64}$/), hash: z.string().regex(/^[0-9a-f]{64}$/) });

/** One line of a chained log. */
export interface Link {
  readonly text: string;
  readonly hash: string;
}

/**
 * Chains an entry to the line whose hash is `prev`. The new hash is the SHA-256, in lower-case hexadecimal, of the canonical
 * form (RFC 8785) of the line without `hash`. Changing, removing or moving a line therefore breaks every later line.
 */
export function chained(entry: object, prev: string): Link {
  const hash = hashOf({ ...entry, prev });
  return { text: JSON.stringify({ ...entry, prev, hash }), hash };
}

/** A line of a chain: its two hashes, and its other fields. */
interface ReadLink {
  readonly prev: string;
  readonly hash: string;
  readonly entry: Readonly<Record<string, unknown>>;
}

/** Reads a line. Returns a sentence if the line is not valid. */
export function readLink(text: string): ReadLink | string {
  const value = parsedJson(text);
  if (value === undefined) return 'it is not JSON';
  const { success, data } = LINE.safeParse(value);
  if (!success) return "it has no 'prev' and 'hash' of 64 hexadecimal digits";
  // Every line has exactly one valid form, so other white space, escapes and duplicate keys are refused.
  if (JSON.stringify(value) !== text) return 'it is not written as this log writes';
  const { hash, ...rest } = data;
  return hashOf(rest) === hash ? { prev: data.prev, hash, entry: rest } : 'it was changed: its hash does not fit';
}

/** A line of a log, and what is wrong with it. */
interface ChainPlace {
  readonly file: string;
  /** 1-based. */
  readonly line: number;
  readonly why: string;
}

/** Result of {@link verifyChain}. */
export type ChainReport =
  | {
      readonly ok: true;
      /** Lines of the log. */
      readonly lines: number;
      /** Hash of the last line. */
      readonly head: string;
      /**
       * The first line that decides a turn a second time; absent when there is none. The cause is a store that was set back, or a reused
       * id of an unfinished session.
       */
      readonly repeated?: ChainPlace | undefined;
    }
  | ({ readonly ok: false } & ChainPlace);

/** Compares the log with an earlier state of it. */
export interface ChainWitness {
  /** Compares the hash of the chain after `lines` lines, from 0. Returns why it differs from the earlier one, or null. */
  at(lines: number, head: string): string | null;
  /** Called at the end of the chain. Returns why it ended too early, or null. */
  end(): string | null;
}

/** External knowledge that a chain is checked against. */
export interface ChainOptions {
  /** Hash of the line before the first one, if earlier files were deleted. */
  readonly after?: string | undefined;
  /** Hash of a line that must exist. A chain cannot detect by itself that its last lines are missing. */
  readonly through?: string | undefined;
  /** Compares every line with what was seen before. */
  readonly witness?: ChainWitness | undefined;
  /** Ends the check, which then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the number of bytes of each piece that was read. */
  readonly onRead?: ((bytes: number) => void) | undefined;
}

/** Sessions whose last turn is remembered, so that a log of any length is checked in bounded memory. */
const MOST_SESSIONS = 100_000;

/** Checks a chain line by line. */
export class ChainWalk {
  #head: string;
  #lines = 0;
  /** The last turn of each session, and whether it ended the session. The session that was seen last comes last. */
  readonly #turns = new Map<string, { readonly turn: number; readonly ended: boolean }>();
  #again: string | null = null;

  /** `after` is the hash of the line before the first. */
  constructor(after: string = GENESIS) {
    this.#head = after;
  }

  /** Hash of the last line that fits the chain. */
  get head(): string {
    return this.#head;
  }

  /** Number of lines that fit the chain so far. */
  get lines(): number {
    return this.#lines;
  }

  /** A sentence about the turn that the last line decides a second time; null when there is none. */
  get again(): string | null {
    return this.#again;
  }

  /** Takes the next line. Returns why it does not fit the chain, or null. */
  next(text: string): string | null {
    const link = readLink(text);
    if (typeof link === 'string') return link;
    if (link.prev !== this.#head) return breakOf(link.prev, this.#lines);
    this.#again = this.#decidedBefore(link.entry);
    this.#head = link.hash;
    this.#lines += 1;
    return null;
  }

  /**
   * Whether an earlier line decides the same turn. Turn 0 stands for a refused session. An id may be used again once its session has
   * ended.
   */
  #decidedBefore({ SID: sid, turn_index: turn, decision }: ReadLink['entry']): string | null {
    if (typeof sid !== 'string' || typeof turn !== 'number' || turn === 0) return null;
    const last = this.#turns.get(sid);
    if (last !== undefined && turn <= last.turn && !(last.ended && turn === 1))
      return `turn ${turn} of session ${JSON.stringify(sid)} was decided before: its store was set back, or its id was used again`;
    this.#turns.delete(sid);
    this.#turns.set(sid, { turn, ended: decision !== 'CONTINUE' });
    const [oldest] = this.#turns.keys();
    if (this.#turns.size > MOST_SESSIONS && oldest !== undefined) this.#turns.delete(oldest);
    return null;
  }
}

/** Checks the files of one log, oldest first, and reports the first broken line. Rejects with the file system's error, also for a path that
 * is not an ordinary file. */
export async function verifyChain(files: readonly string[], options: ChainOptions = {}): Promise<ChainReport> {
  const walk = new ChainWalk(options.after);
  let expected = options.through;
  let repeated: ChainPlace | undefined;
  for (const file of files) {
    let line = 0;
    let whole = true;
    for await (const { text, finished } of logLines(file, options)) {
      line += 1;
      whole = finished;
      const why =
        (text === null ? `it is longer than ${LINE_BYTES} bytes` : walk.next(text)) ?? options.witness?.at(walk.lines, walk.head);
      if (why != null) return { ok: false, file, line, why };
      if (walk.again !== null) repeated ??= { file, line, why: walk.again };
      if (walk.head === expected) expected = undefined;
    }
    const early = file !== files.at(-1) ? null : expected === undefined ? options.witness?.end() : CUT_OFF;
    if (early != null) return { ok: false, file, line: line + 1, why: early };
    if (!whole) return { ok: false, file, line, why: 'it was not written to its end' };
  }
  return { ok: true, lines: walk.lines, head: walk.head, repeated };
}

/** Checks the log in the database of a store, as {@link verifyChain} checks files; `place` stands for the file. */
export async function verifyStoredLog(
  log: Pick<StoredLog, 'lines'>,
  place: string,
  { after, through, witness, signal }: Omit<ChainOptions, 'onRead'> = {},
): Promise<ChainReport> {
  const walk = new ChainWalk(after);
  let expected = through;
  let repeated: ChainPlace | undefined;
  let at = 0;
  for await (const { line, text } of log.lines()) {
    signal?.throwIfAborted();
    at += 1;
    const why = (line === at ? walk.next(text) : 'it is missing') ?? witness?.at(walk.lines, walk.head);
    if (why != null) return { ok: false, file: place, line: at, why };
    if (walk.again !== null) repeated ??= { file: place, line, why: walk.again };
    if (walk.head === expected) expected = undefined;
  }
  const early = expected === undefined ? witness?.end() : CUT_OFF;
  if (early != null) return { ok: false, file: place, line: at + 1, why: early };
  return { ok: true, lines: walk.lines, head: walk.head, repeated };
}

const CUT_OFF = 'the line with the expected hash is missing: the log was cut off';

function breakOf(prev: string, before: number): string {
  if (before > 0) return 'it does not follow the line before it: a line was taken out, put in, or moved';
  return prev === GENESIS
    ? 'it is the first line of a log, and an earlier one was expected'
    : 'it is not the first line of its log: the files before this one are missing';
}

function hashOf(line: object): string {
  return digestOf('sha256', canonicalize(line, 'doubles'), 'hex');
}
