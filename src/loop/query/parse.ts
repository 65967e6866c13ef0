import { ConfigError } from '../../wire/errors.ts';

/** What a term of a query looks at, and what it says about it. */
export const QUERY_KEYS = {
  status: 'open, waiting, running, done, aborted or halted',
  reason: 'a part of the reason of a HALT',
  error: 'a part of the code or message of any error: of the session, a turn, an attempt or a call',
  tool: 'a part of the name of a tool that was called, or for which the session waits',
  agent: "a part of the agent's name",
  tenant: 'the whole name of the tenant',
  since: 'a time back from now (90s, 30m, 12h, 7d) or a date (2026-08-31, 2026-08-31T10:00Z)',
} as const;

/** The keys of a query. */
export type QueryKey = keyof typeof QUERY_KEYS;

/** One condition. A word has no key: it may stand in the id, subject, agent, program or message of a session. */
export interface QueryTerm {
  /** What it looks at; null for a word. */
  readonly key: QueryKey | null;
  /** What it looks for, in lower case but for a tenant. */
  readonly text: string;
}

/** The conditions of a query, all of which must hold. */
export interface SessionQuery {
  /** In the order in which they are written, without `since`. */
  readonly terms: readonly QueryTerm[];
  /** Unix milliseconds of the earliest last change; null for any time. */
  readonly since: number | null;
}

/** The states of sessions that `status:` tells apart. */
const STATUSES: readonly string[] = ['open', 'waiting', 'running', 'done', 'aborted', 'halted'];

/**
 * Reads a query of sessions: `key:text` and words, separated by blanks; quotes hold a text with blanks or a colon together. `now` is Unix
 * milliseconds, from which ages count. Throws {@link ConfigError} for an unknown key and for a text that its key cannot have.
 */
export function sessionQuery(text: string, now: number): SessionQuery {
  const terms: QueryTerm[] = [];
  let since: number | null = null;
  for (const { key, text: given } of written(text)) {
    const term = termOf(key?.toLowerCase(), given);
    if (term.key === 'since') since = Math.max(since ?? Number.NEGATIVE_INFINITY, momentOf(term.text, now));
    else terms.push(term);
  }
  return { terms, since };
}

/** The terms as they are written. Between two quotes, a blank and a colon belong to the text. */
function written(text: string): readonly { readonly key: string | undefined; readonly text: string }[] {
  const found: { key: string | undefined; text: string }[] = [];
  let [key, part, isQuoted, isBegun]: [string | undefined, string, boolean, boolean] = [undefined, '', false, false];
  for (const char of `${text} `) {
    if (char === '"') [isQuoted, isBegun] = [!isQuoted, true];
    else if (isQuoted) part += char;
    else if (char === ':' && key === undefined && part !== '' && !isBegun) [key, part] = [part, ''];
    else if (char.trim() !== '') part += char;
    else {
      if (key !== undefined || part !== '') found.push({ key, text: part });
      [key, part, isBegun] = [undefined, '', false];
    }
  }
  if (isQuoted) throw new ConfigError('a query has a quote without its end');
  return found;
}

function termOf(key: string | undefined, given: string): QueryTerm {
  const text = given.toLowerCase();
  if (key === undefined) return { key: null, text };
  if (!isQueryKey(key)) {
    const known = Object.keys(QUERY_KEYS).join(', ');
    throw new ConfigError(`a query has no '${key}:'; it has ${known}, and words; put words with a colon in quotes`);
  }
  if (text === '') throw new ConfigError(`'${key}:' of a query needs ${QUERY_KEYS[key]}`);
  if (key === 'status' && !STATUSES.includes(text))
    throw new ConfigError(`status:${given} of a query must be ${QUERY_KEYS.status}`);
  return { key, text: key === 'tenant' || key === 'since' ? given : text };
}

function isQueryKey(key: string): key is QueryKey {
  return Object.hasOwn(QUERY_KEYS, key);
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The moment that `since` names. A date without a zone is one of UTC. */
function momentOf(text: string, now: number): number {
  const [count, size] = [text.slice(0, -1), UNITS[text.slice(-1).toLowerCase()]];
  if (size !== undefined && count !== '' && Number(count) >= 0) return now - Number(count) * size;
  const [date = '', time = ''] = text.toUpperCase().split('T');
  const hasZone = ['Z', '+', '-'].some((sign) => time.includes(sign));
  const at = Date.parse(`${date}T${time === '' ? '00:00' : time}${hasZone ? '' : 'Z'}`);
  if (Number.isNaN(at)) throw new ConfigError(`since:${text} of a query must be ${QUERY_KEYS.since}`);
  return at;
}
