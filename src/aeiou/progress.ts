import { type CryptoPort, defaultCrypto } from '../crypto/index.ts';
import { ConfigError } from '../wire/errors.ts';
import { checkMethods, checkText, typeName } from './arguments.ts';
import { isTokenLine } from './token/format.ts';
import { toUtf8 } from './utf8.ts';

/** Default for the number of equal turns in a row that end a session. */
export const DEFAULT_NO_PROGRESS_N = 3;
/** The largest N that can be configured. A larger N would in effect switch off the guard, which is mandatory. */
export const MAX_NO_PROGRESS_N = 100;

/**
 * Normalizes a stream for comparison: drops token lines, which differ in every turn, drops blanks, tabs and carriage
 * returns at the ends of lines, and drops the final line feed. Takes linear time: no regular expression runs over the blanks.
 */
export function normalizeStream(stream: string): string {
  checkText('a stream', stream);
  const lines = stream.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines
    .filter((line) => !isTokenLine(line))
    .map(trimRight)
    .join('\n');
}

function trimRight(line: string): string {
  let end = line.length;
  while (end > 0 && isBlank(line.charCodeAt(end - 1))) end -= 1;
  return line.slice(0, end);
}

function isBlank(unit: number): boolean {
  return unit === 0x20 || unit === 0x09 || unit === 0x0d;
}

/**
 * The digest of a turn's streams in lower-case hexadecimal: `sha256("OUT|" + output + "\nSCR|" + scratchpad)`, both
 * normalized by {@link normalizeStream}.
 */
export function progressDigest(output: string, scratchpad: string, crypto: CryptoPort = defaultCrypto): string {
  if (typeof crypto?.sha256 !== 'function') checkMethods('the crypto of progressDigest', crypto, 'sha256');
  const digest = crypto.sha256(toUtf8(`OUT|${normalizeStream(output)}\nSCR|${normalizeStream(scratchpad)}`));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The last digest of a session and how many turns in a row had it. */
export interface ProgressState {
  /** Null before the first turn that has one. */
  readonly digest: string | null;
  /** Number of turns in a row with the digest; 0 without one. */
  readonly repeats: number;
}

/** The state of a session that has not completed a turn yet. */
export const NO_PROGRESS_YET: ProgressState = Object.freeze({ digest: null, repeats: 0 });

/** The guard's verdict on one completed turn. */
export interface ProgressVerdict {
  /** The state after the turn, for the next `observe`. */
  readonly state: ProgressState;
  /** True on the N-th equal turn in a row: the session then ends with HALT(ERR_NO_PROGRESS), whatever its token requested. */
  readonly halt: boolean;
}

/**
 * The mandatory guard against endless loops: N equal turns in a row halt the session. The first turn with a digest counts as 1. Hosts
 * pass it only turns whose program ran to its end.
 */
export class ProgressGuard {
  /** Number of equal turns in a row that halt a session. */
  readonly n: number;

  /**
   * `name` is the name of the number in messages. Throws {@link ConfigError} for an N that is not a whole number from 2 to
   * {@link MAX_NO_PROGRESS_N}.
   */
  constructor(n: number = DEFAULT_NO_PROGRESS_N, name = 'the n of a ProgressGuard') {
    if (!Number.isSafeInteger(n) || n < 2 || n > MAX_NO_PROGRESS_N) {
      const got = typeof n === 'number' ? String(n) : typeName(n);
      throw new ConfigError(
        `${name} must be a whole number from 2 to ${MAX_NO_PROGRESS_N}, got ${got}; the guard cannot be switched off`,
      );
    }
    this.n = n;
  }

  /** The next state of a session, computed from the state before. The guard itself keeps none. */
  observe(before: ProgressState, digest: string): ProgressVerdict {
    const repeats = before.digest === digest ? before.repeats + 1 : 1;
    return { state: { digest, repeats }, halt: repeats >= this.n };
  }
}
