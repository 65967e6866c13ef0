import { checkText } from './arguments.ts';
import type { Lint, TokenCode, TokenDetail } from './errors.ts';
import { type Action, isTokenLine, TOKEN_PREFIX, type TokenPayload } from './token/format.ts';
import { type VerifyOptions, verifyToken } from './token/verify.ts';

/** A line of OUTPUT that has the form of a token. */
export interface Candidate {
  /** 1-based line of OUTPUT. */
  readonly line: number;
  /** The whole line, without its line end. */
  readonly text: string;
}

/** The tokens in one turn's OUTPUT, before any of them is verified. */
export interface OutputScan {
  /** In emission order. */
  readonly candidates: readonly Candidate[];
  /** Lines that contain the start of a token but are not one: quoted, padded, split or too long. They have no effect. */
  readonly lookalikes: readonly number[];
}

/** The prefix without the version, because `<<<NSMAG:V4:` was meant to be a token too. */
const ANY_TOKEN_PREFIX = TOKEN_PREFIX.slice(0, TOKEN_PREFIX.indexOf(':') + 1);

/**
 * Finds the candidates in this turn's OUTPUT; no other text is ever searched for tokens. Only a line feed ends a line. Takes
 * linear time: it examines only lines that contain the token prefix.
 */
export function scanOutput(output: string): OutputScan {
  checkText('OUTPUT', output);
  const candidates: Candidate[] = [];
  const lookalikes: number[] = [];
  let line = 1;
  let counted = 0;
  for (let at = output.indexOf(ANY_TOKEN_PREFIX); at !== -1; ) {
    const start = output.lastIndexOf('\n', at) + 1;
    const found = output.indexOf('\n', at);
    const end = found === -1 ? output.length : found;
    line += countLineFeeds(output, counted, start);
    counted = start;
    const text = output.slice(start, end);
    if (isTokenLine(text)) candidates.push({ line, text });
    else lookalikes.push(line);
    at = output.indexOf(ANY_TOKEN_PREFIX, end);
  }
  return { candidates, lookalikes };
}

function countLineFeeds(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf('\n', from); at !== -1 && at < to; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/** The result of verifying one candidate. */
export interface CandidateResult {
  /** 1-based line of OUTPUT. */
  readonly line: number;
  /** True when the token verified. */
  readonly ok: boolean;
  /** Null when the token verified. */
  readonly code: TokenCode | null;
  /** The check that failed; null when the token verified. */
  readonly detail: TokenDetail | null;
  /** A sentence about the failure, for logs; null when the token verified. */
  readonly message: string | null;
  /** The token's content; null unless it verified. */
  readonly payload: TokenPayload | null;
}

/** Why no token decided. The host loop has further reasons for a HALT. */
export type TokenHaltReason = 'ERR_TOKEN_MISSING' | TokenCode;

/** The decision of this turn's tokens: `HALT`, with a reason, exactly when none verified. */
export type Selection = SelectionDetails &
  (
    | {
        /** What the token requests. */
        readonly decision: 'CONTINUE' | 'DONE' | 'ABORT';
        readonly reason: null;
        /** The token that decided. */
        readonly chosen: ChosenToken;
      }
    /** No token verified; `reason` is the failure of the last candidate. */
    | { readonly decision: 'HALT'; readonly reason: TokenHaltReason; readonly chosen: null }
  );

/** The token that decided. */
export interface ChosenToken {
  /** 1-based line of OUTPUT. */
  readonly line: number;
  /** The content of the token, which was verified. */
  readonly payload: TokenPayload;
}

/** The report about every turn, whatever the decision. */
export interface SelectionDetails {
  /** In emission order. */
  readonly candidates: readonly CandidateResult[];
  /** 1-based lines of OUTPUT that contain the start of a token but do not have its form. */
  readonly lookalikes: readonly number[];
  /** Remarks on the lines around the candidates, such as text after a token. */
  readonly lints: readonly Lint[];
  /** Code of the last candidate that failed, even when another one decided; `ERR_TOKEN_PARSE` when there were only look-alikes. */
  readonly verificationFailureReason: TokenCode | null;
}

const DECISIONS = { continue: 'CONTINUE', done: 'DONE', abort: 'ABORT' } as const;
const RANK: Readonly<Record<Action, number>> = { continue: 0, done: 1, abort: 2 };

/**
 * Verifies every candidate of this turn's OUTPUT and selects one: abort beats done, done beats continue, and among equals the
 * last wins. Without a valid token the decision is HALT, with the failure of the last candidate as its reason, or
 * `ERR_TOKEN_MISSING` when there is no candidate. The id of every valid token is remembered, chosen or not.
 */
export function selectDecision(output: string, options: VerifyOptions): Selection {
  const { candidates: found, lookalikes } = scanOutput(output);
  const candidates = found.map((candidate) => judge(candidate, options));
  const valid = candidates.flatMap(({ line, payload }) => (payload === null ? [] : [{ line, payload }]));
  const lastFailure = candidates.findLast(({ ok }) => !ok)?.code ?? null;
  const verificationFailureReason = lastFailure ?? (lookalikes.length > 0 ? 'ERR_TOKEN_PARSE' : null);
  const chosen = choose(valid);
  if (chosen === null) {
    const reason = candidates.at(-1)?.code ?? 'ERR_TOKEN_MISSING';
    return { decision: 'HALT', reason, chosen, candidates, lookalikes, lints: [], verificationFailureReason };
  }
  const decision = DECISIONS[chosen.payload.payload.action];
  const lints = lintsOf(output, chosen, valid);
  return { decision, reason: null, chosen, candidates, lookalikes, lints, verificationFailureReason };
}

function judge({ line, text }: Candidate, options: VerifyOptions): CandidateResult {
  const result = verifyToken(text, options);
  return result.ok
    ? { line, ok: true, code: null, detail: null, message: null, payload: result.payload }
    : { line, ok: false, code: result.code, detail: result.detail, message: result.message, payload: null };
}

function choose(valid: readonly ChosenToken[]): ChosenToken | null {
  let chosen: ChosenToken | null = null;
  for (const token of valid) if (chosen === null || rank(token) >= rank(chosen)) chosen = token;
  return chosen;
}

function rank({ payload }: ChosenToken): number {
  return RANK[payload.payload.action];
}

/** At most one lint of each kind, in the order of their lines. */
function lintsOf(output: string, chosen: ChosenToken, valid: readonly ChosenToken[]): readonly Lint[] {
  const lints: Lint[] = [];
  const second = valid[1];
  if (second !== undefined) lints.push({ code: 'LINT_MULTI_TOKENS', line: second.line });
  const text = firstTextAfter(output, chosen.line);
  if (text !== null) lints.push({ code: 'LINT_POST_TOKEN_TEXT', line: text });
  return lints.sort((a, b) => a.line - b.line);
}

/** The first line after `line` that holds anything but ASCII white space; null when there is none. */
function firstTextAfter(output: string, line: number): number | null {
  let current = 1;
  for (let at = 0; at < output.length; at++) {
    const unit = output.charCodeAt(at);
    if (unit === 0x0a) current += 1;
    else if (current > line && unit !== 0x20 && (unit < 0x09 || unit > 0x0d)) return current;
  }
  return null;
}
