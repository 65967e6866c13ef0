import type { NsCodeName } from '../wire/codes.ts';
import type { LimitKey, LimitValues } from '../wire/limits.ts';
import type { NonNumericTexts } from './nonnumeric.ts';
import type { Dict } from './values.ts';
import { WORK, type Work } from './work.ts';

/**
 * What the helpers of the interpreter and the pure tools see of a run: they pay for their work before they do it, and report what
 * goes wrong. The machine implements it.
 */
export interface Meter {
  readonly limits: LimitValues;
  /** Offset of the running operation in its source: the place of an error. */
  at: number;
  /** The map, and its missing key, that was read last by a key written in the program: for the hint of an error about nil. */
  missed: { readonly map: Dict; readonly key: string } | null;
  /** Whether values of the run carry labels. An error has those of what its statement read, so it must not tell of other values. */
  readonly hasLabels: boolean;
  readonly codePoints: CodePointReader;
  /** Long texts that are known not to be numbers. */
  readonly nonNumeric: NonNumericTexts;

  /** Charges fuel, time and scratch memory for units of work. Ends the run when fuel, time or memory is used up. */
  pay(work: Work, units?: number): void;

  /** Whether a list of so many items is allowed, and the use of so much fuel and memory reaches no limit and makes no census due. */
  covers(fuel: number, bytes: number, items: number): boolean;
  /** Counts bytes about to be allocated; ends the run when they do not fit. */
  allocate(bytes: number): void;
  /** Counts a text about to be made, and ends the run when it is longer than a limit allows. */
  allocateText(units: number): void;
  /** Counts units about to be added to a text, which may be JSON that no script sees. */
  extendText(units: number, added: number): void;
  /** Takes back what the running statement allocated for a value that is garbage now. */
  release(bytes: number): void;
  releaseText(units: number): void;

  /** Ends the run when a text would be longer than a limit allows. */
  checkText(units: number): void;
  /** Ends the run when a value would count more bytes than a limit allows. */
  checkSize(bytes: number): void;
  /** Ends the run when a list would have more items than a limit allows. */
  checkItems(items: number): void;
  /** Ends the run when a map would have more entries than a limit allows. */
  checkEntries(entries: number): void;

  /** Raises an error that a script can catch, at the current place. */
  fail(name: NsCodeName, message: string, hint?: string): never;
  /** Ends the run: more of something was used than its limit allows. */
  breach(limit: LimitKey, used: number, message: string, hint?: string): never;
  /** A number that no walk over the values of this run has had. */
  nextCensus(): number;
}

/** Reads texts by code points. */
export interface CodePointReader {
  count(text: string): number;
  /** The code point at an index from 0 on as a text of its own; undefined beyond the end. */
  at(text: string, index: number): string | undefined;
}

/** Rounds of a loop that are paid together; a power of two. */
const ROUNDS = 1024;

/** Pays for the time of a loop over characters or items. To be called in every round; `round` goes up or down by one. */
export function payRound(meter: Meter, round: number): void {
  if ((round & (ROUNDS - 1)) === 0) meter.pay(WORK.round, ROUNDS);
}

/** V8 computes no hash of a longer text: it takes the length for one, so that all texts of a length collide. */
const LONGEST_HASHED = 16_383;

/** Looking up a key of at most this length takes no measurable time. */
export const SHORT_KEY = 256;

/** Pays for the time of looking a key up. `held` is how many units the keys of the map may have in all. */
export function payLookup(meter: Meter, key: string, held: number): void {
  const { length } = key;
  if (length <= SHORT_KEY) return;
  if (length <= LONGEST_HASHED) meter.pay(WORK.hash, length);
  else meter.pay(WORK.longKey, length + held);
}
