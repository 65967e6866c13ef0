/**
 * What a turn leads to: seeds 000 and 002 in two pages, computed from what was said and what is known of the tokens in it, without the
 * code of the loop.
 */
import { createHash } from 'node:crypto';

export type Decision = 'CONTINUE' | 'DONE' | 'ABORT' | 'HALT';
export type Action = 'continue' | 'done' | 'abort';

/** What is known of a token by somebody who made it. */
export interface Token {
  readonly jti: string;
  readonly kid: string;
  readonly action: Action;
  /** Unix seconds. */
  readonly issuedAt: number;
  /** Seconds; null for a token without an end. */
  readonly ttl: number | null;
  /** Whether both parts are base64url and the payload is JSON without floats. */
  readonly readable: boolean;
  /** Whether the payload is canonical and the tag belongs to it by the key that it names. */
  readonly genuine: boolean;
  /** Whether version, kind, action and types are those of the specification. */
  readonly wellFormed: boolean;
  /** The turn for which it was made; null for one of another session, turn or nonce. */
  readonly turn: number | null;
}

/** The progress guard after a turn. */
export interface Progress {
  readonly digest: string | null;
  readonly repeats: number;
}

/** A turn whose program has ended, or was ended. */
export interface Turn {
  readonly turn: number;
  /** Why the program did not come to its end; null when it did. */
  readonly end: string | null;
  /** Whether both signers failed for a token. */
  readonly mintFailed: boolean;
  readonly output: readonly string[];
  readonly scratchpad: readonly string[];
  /** By their text. */
  readonly tokens: ReadonlyMap<string, Token>;
  /** Unix seconds at the decision. */
  readonly now: number;
  /** The last Unix second of each key; null for a key in use. */
  readonly keys: ReadonlyMap<string, number | null>;
  readonly before: Progress;
  /** How many equal turns in a row end a session. */
  readonly most: number;
}

export interface Verdict {
  readonly decision: Decision;
  readonly reason: string | null;
  readonly overridden: Decision | null;
  /** Id of the chosen token. */
  readonly jti: string | null;
  /** Code of the last candidate that failed. */
  readonly failure: string | null;
  /** Codes of all candidates that failed, in order. */
  readonly failures: readonly string[];
  readonly lints: readonly string[];
  readonly progress: Progress;
}

/** 002, 7 and 6.2. */
const isCandidate = (line: string): boolean =>
  Buffer.byteLength(line) <= 1024 && /^<<<NSMAG:V3:[A-Z0-9_]+:[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+>>>$/.test(line);

const SKEW = 60;

/** 002, 8.3: format, signature, scope, time, replay. The first check that fails; null for a valid token. */
function failureOf(token: Token, { turn, now, keys }: Turn, used: Set<string>): string | null {
  if (!token.readable) return 'ERR_TOKEN_PARSE';
  const until = keys.get(token.kid);
  if (until === undefined || (until !== null && now > until) || !token.genuine) return 'ERR_TOKEN_VERIFY';
  if (!token.wellFormed) return 'ERR_TOKEN_PARSE';
  if (token.turn !== turn) return 'ERR_TOKEN_SCOPE';
  if (token.ttl !== null && now > token.issuedAt + token.ttl) return 'ERR_TOKEN_TTL';
  if (token.issuedAt > now + SKEW) return 'ERR_TOKEN_TTL';
  if (used.has(token.jti)) return 'ERR_TOKEN_REPLAY';
  used.add(token.jti);
  return null;
}

/** 002, 9. */
export function digestOf(output: readonly string[], scratchpad: readonly string[]): string {
  const body = (lines: readonly string[]): string =>
    lines
      .filter((line) => !isCandidate(line))
      .map((line) => line.replace(/[ \t\r]+$/, ''))
      .join('\n');
  return createHash('sha256')
    .update(`OUT|${body(output)}\nSCR|${body(scratchpad)}`)
    .digest('hex');
}

const DECISIONS = { abort: 'ABORT', done: 'DONE', continue: 'CONTINUE' } as const;
const MARKER = /^\ufeff?<<<NSENV:.*>>>$/;

/** 000, 11. */
export function verdictOf(turn: Turn): Verdict {
  const nothing = { overridden: null, jti: null, failure: null, failures: [], lints: [], progress: turn.before };
  // 002, 11.4: when no signer could sign, the host halts, whatever the program made of the error.
  if (turn.mintFailed && (turn.end === null || turn.end === 'ERR_EXEC'))
    return { ...nothing, decision: 'HALT', reason: 'ERR_MAGIC_TOOL_INTERNAL' };
  if (turn.end !== null) return { ...nothing, decision: 'HALT', reason: turn.end };
  const selected = select(turn);
  const digest = digestOf(turn.output, turn.scratchpad);
  const progress = { digest, repeats: digest === turn.before.digest ? turn.before.repeats + 1 : 1 };
  const halted = (reason: string): Verdict => {
    return { ...selected, decision: 'HALT', reason, overridden: selected.jti === null ? null : selected.decision, progress };
  };
  if (progress.repeats >= turn.most) return halted('ERR_NO_PROGRESS');
  const lines = [...turn.output, ...turn.scratchpad];
  if (selected.decision === 'CONTINUE' && lines.some((line) => MARKER.test(line))) return halted('ERR_ENV_MARKERS_INVALID');
  return { ...selected, progress };
}

/** 002, 5.3: abort before done before continue, and the last of equals. */
function select(turn: Turn): Omit<Verdict, 'progress'> {
  const used = new Set<string>();
  const candidates = turn.output.flatMap((text, line) => {
    if (!isCandidate(text)) return [];
    const token = turn.tokens.get(text);
    if (token === undefined) throw new Error(`nobody made ${text}`);
    return [{ line, token, code: failureOf(token, turn, used) }];
  });
  const resembles = turn.output.some((text) => text.includes('<<<NSMAG:') && !isCandidate(text));
  const failures = candidates.flatMap(({ code }) => code ?? []);
  const failure = failures.at(-1) ?? (resembles ? 'ERR_TOKEN_PARSE' : null);
  const valid = candidates.filter(({ code }) => code === null);
  const of = (action: Action) => valid.findLast(({ token }) => token.action === action);
  const chosen = of('abort') ?? of('done') ?? of('continue');
  if (chosen === undefined) {
    const reason = candidates.at(-1)?.code ?? 'ERR_TOKEN_MISSING';
    return { decision: 'HALT', reason, overridden: null, jti: null, failure, failures, lints: [] };
  }
  const multi = valid.length > 1 ? ['LINT_MULTI_TOKENS'] : [];
  const post = turn.output.slice(chosen.line + 1).some((text) => text.trim() !== '') ? ['LINT_POST_TOKEN_TEXT'] : [];
  const { action, jti } = chosen.token;
  return { decision: DECISIONS[action], reason: null, overridden: null, jti, failure, failures, lints: [...multi, ...post] };
}
