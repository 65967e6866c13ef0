import { type Command, Option } from 'commander';
import {
  type SessionCursor,
  type SessionQuery,
  type SessionStore,
  type SessionSummary,
  searchSessions,
  sessionQuery,
  systemClock,
} from '../../loop/index.ts';
import { UsageError } from '../terminal/failure.ts';

/** The flags that select sessions of a store. */
export interface QueryFlags {
  readonly where?: string;
  readonly status?: string;
  readonly reason?: string;
  readonly tenant?: string;
  readonly since?: string;
}

export function addWhere(command: Command, description: string): Command {
  return command.option('--where <QUERY>', `${description}: status:halted error:timeout tool:shop since:7d words`);
}

/** Adds the flag for a query, and those for its usual terms. */
export function addQuery(command: Command): Command {
  return addWhere(command, 'only sessions of which all of this is true')
    .addOption(new Option('--status <STATUS>', 'open, waiting, running, done, aborted or halted'))
    .option('--reason <CODE>', 'only sessions halted for a reason that contains this')
    .option('--tenant <ID>', 'only sessions of this tenant')
    .option('--since <WHEN>', 'only sessions that changed in this time (30m, 12h, 7d) or since a date');
}

/** The query of the flags. Throws `ConfigError` for a mistake in it, and {@link UsageError} for a text that no query can have. */
export function queryOf({ where = '', ...terms }: QueryFlags): SessionQuery {
  const parts = (['status', 'reason', 'tenant', 'since'] as const).flatMap((key) => {
    const text = terms[key];
    if (text === undefined) return [];
    if (text.includes('"')) throw new UsageError(`--${key} may not have a quote`);
    return [`${key}:"${text}"`];
  });
  return sessionQuery([where, ...parts].join(' '), systemClock.now());
}

/** The sessions that match, the latest change first, as they are found. */
export async function* matching(store: SessionStore, query: SessionQuery): AsyncGenerator<SessionSummary> {
  for (let after: SessionCursor | undefined; ; ) {
    const { sessions, next } = await searchSessions(store, query, { limit: PAGE, after });
    yield* sessions;
    if (next === null) return;
    after = next;
  }
}

/** Where a list goes on, as a text. */
export function cursorText({ updatedAt, sid }: SessionCursor): string {
  return `${updatedAt}-${sid}`;
}

/** Where a list goes on. Throws {@link UsageError} for a text that no list has given. */
export function cursorOf(text: string): SessionCursor {
  const dash = text.indexOf('-', 1);
  const updatedAt = Number(text.slice(0, dash));
  if (dash < 0 || !Number.isSafeInteger(updatedAt)) throw new UsageError('--after takes what an earlier list has said');
  return { updatedAt, sid: text.slice(dash + 1) };
}

/** Sessions that one search may find. */
const PAGE = 250;
