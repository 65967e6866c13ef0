import { ConfigError } from '../wire/errors.ts';
import { type CryptoPort, defaultCrypto, toHex } from './crypto.ts';
import { toUtf8 } from './text.ts';
import { isTokenLine } from './token.ts';

/** Equal turns in a row that end a session, unless configured otherwise (A3-9-7). */
export const DEFAULT_NO_PROGRESS_N = 3;
/** The most that can be configured: with more, no session would live to see the guard, which must not be switched off (A3-9-1). */
export const MAX_NO_PROGRESS_N = 100;

/**
 * What a stream says, for comparison: split at line feeds, a final empty piece dropped, token lines dropped (they differ
 * in every turn), blanks, tabs and carriage returns at the ends of lines dropped, joined with line feeds (A3-9-3…5).
 * Linear: no pattern runs over the blanks (threat 36).
 */
export function normalizeStream(stream: string): string {
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

/** The digest of what a turn said, lower-case hexadecimal: `sha256("OUT|" + output + "\nSCR|" + scratchpad)` (A3-9-6). */
export function progressDigest(output: string, scratchpad: string, crypto: CryptoPort = defaultCrypto): string {
  return toHex(crypto.sha256(toUtf8(`OUT|${normalizeStream(output)}\nSCR|${normalizeStream(scratchpad)}`)));
}

/** How often the last digest came in a row; what a store keeps of a session. */
export interface ProgressState {
  readonly digest: string | null;
  readonly repeats: number;
}

/** A session that has not completed a turn yet. */
export const NO_PROGRESS_YET: ProgressState = Object.freeze({ digest: null, repeats: 0 });

/** What the guard says about one completed turn. */
export interface ProgressVerdict {
  readonly state: ProgressState;
  /** True on the turn that is the N-th of its kind in a row: HALT(ERR_NO_PROGRESS), whatever a token asked for (AMB-02). */
  readonly halt: boolean;
}

/**
 * The mandatory guard against going in circles. The first sight of a digest counts 1, and N in a row halt (AMB-01). Only
 * turns whose program ran to its end are shown to it (AMB-02).
 */
export class ProgressGuard {
  readonly n: number;

  /**
   * Throws {@link ConfigError} for an N that is no whole number from 2 to {@link MAX_NO_PROGRESS_N}: the guard cannot be
   * switched off (A3-9-1).
   */
  constructor(n: number = DEFAULT_NO_PROGRESS_N) {
    if (!Number.isSafeInteger(n) || n < 2 || n > MAX_NO_PROGRESS_N)
      throw new ConfigError(
        `no_progress_n must be a whole number from 2 to ${MAX_NO_PROGRESS_N}, got ${String(n)}; the guard cannot be switched off`,
      );
    this.n = n;
  }

  /** The next state of a session, given the one before; keeps nothing itself. */
  observe(before: ProgressState, digest: string): ProgressVerdict {
    const repeats = before.digest === digest ? before.repeats + 1 : 1;
    return { state: { digest, repeats }, halt: repeats >= this.n };
  }
}
