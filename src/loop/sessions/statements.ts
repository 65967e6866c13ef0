import type { SessionsDialect } from './engine.ts';
import type { RecentQuery } from './store.ts';
import { LEASED, NESTED, OPEN, OWING, READY, WAITING } from './tables.ts';

/** Sessions whose lease or wait has ended that one statement looks at. */
const LAPSES = 1000;

/** Sessions of one kind that a census counts at most, so that a scrape takes the same time beside any number of them. */
const MOST_COUNTED = 10_000;

const COUNTED = {
  ready: ['sessions_ready', READY],
  running: ['sessions_leased', LEASED],
  waiting: ['sessions_waiting', WAITING],
} as const;

/** Sessions of tenants apart from those without one. */
const CLASS = `CASE WHEN tenant = '' THEN 'none' ELSE 'tenant' END`;

/** Milliseconds after which a store forgets a host that is gone. */
const GONE_MS = 3_600_000;

const HELD = 'sid = $1 AND fence = $2 AND lease_owner IS NOT NULL';

/** Statements of a store of sessions, in the words of a database. `$1`, `$2` … are the values that the calls of `sqlsessions.ts` give. */
export type Statements = ReturnType<typeof statementsOf>;

/** The statements of {@link Statements}. Those with several parts are a change, see `Sql.change`. */
export function statementsOf({ schema, now, found, lock, items, json, gathered, index, entry }: SessionsDialect) {
  const [sessions, turns, steps, decisions, hosts] = ['sessions', 'turns', 'steps', 'decisions', 'hosts'].map(
    (table) => `${schema}.${table}`,
  );
  const whole = (value: string): string => `CAST(${value} AS bigint)`;
  const from = (name: string, condition: string): string => `${sessions} ${index(name)} WHERE ${condition}`;
  /** Gives up the lease where the value is 0. */
  const free = (keep: string): string =>
    `lease_owner = CASE WHEN ${keep} = 1 THEN lease_owner END, lease_until = CASE WHEN ${keep} = 1 THEN lease_until END,
     idle_since = CASE WHEN ${keep} = 1 THEN idle_since ELSE ${now} END`;
  /** Whether a commit decides no turn and ends no session: it changes the state alone. */
  const goesOn = `$4 = 'open' AND ${whole('$15')} IS NULL`;
  const decided = (column: string): string => `${column} = CASE WHEN ${goesOn} THEN ${column} END`;
  const ended = (name: string, condition: string, column: string): string =>
    `SELECT sid FROM ${from(name, condition)} AND ${column} <= ${now} ORDER BY ${column} LIMIT ${LAPSES} ${lock.skip}`;
  const summaries = `SELECT sid, status, reason, next_turn, created_at, updated_at, lease_owner, lease_until, end_owed, owed,
    tenant, profile, engine, reader, state, waits, started_turn AS started, ${now} AS now FROM ${sessions} AS s`;
  const chosen = `sid IN (SELECT one ->> 'sid' FROM ${items('$1')})`;
  return {
    create: `INSERT INTO ${sessions} AS s (sid, status, reason, next_turn, state, created_at, updated_at,
       tenant, profile, configuration, engine, reader, nested, parent_sid, stamp, idle_since)
       VALUES ($1, $2, $3, $4, $5, $6, $6, $7, $8, $9, $10, $11, $12, $13, $14, ${now})
       ON CONFLICT (sid) DO UPDATE SET stamp = s.stamp WHERE s.stamp = $14 RETURNING 1 AS made`,
    /** Counts open sessions, of all tenants or of one, and no further than a bound. */
    open: `SELECT count(*) AS n FROM (SELECT 1 FROM ${from('sessions_open', OPEN)} LIMIT $1) AS few`,
    openOfTenant: `SELECT count(*) AS n FROM (SELECT 1 FROM ${from('sessions_open', OPEN)} AND tenant = $2 LIMIT $1) AS few`,
    census: (['ready', 'running', 'waiting'] as const)
      .map((state) => {
        const [name, condition] = COUNTED[state];
        const since = state === 'waiting' ? `${json('waits')} ->> 'since'` : 'NULL';
        const some = `(SELECT ${CLASS} AS class, CAST(${since} AS double precision) AS since FROM ${from(name, condition)} LIMIT ${MOST_COUNTED})`;
        return `SELECT '${state}' AS state, class, count(*) AS n, min(since) AS since FROM ${some} AS some_${state} GROUP BY class`;
      })
      .join(' UNION ALL '),
    beat: `INSERT INTO ${hosts} (instance, owner, kids, until) VALUES ($1, $2, $3, ${now} + ${whole('$4')})
       ON CONFLICT (instance) DO UPDATE SET kids = excluded.kids, until = excluded.until`,
    forgetGone: `DELETE FROM ${hosts} WHERE (until < ${now} - ${GONE_MS} OR owner = $2) AND instance <> $1`,
    hosts: `SELECT instance, owner, kids, until, CASE WHEN until > ${now} THEN 1 ELSE 0 END AS lives FROM ${hosts} ORDER BY owner, instance`,
    forgetHost: `DELETE FROM ${hosts} WHERE instance = $1`,
    state: `SELECT state FROM ${sessions} WHERE sid = $1`,
    session: `SELECT *, ${now} AS now FROM ${sessions} WHERE sid = $1`,
    sessionToChange: `SELECT *, ${now} AS now FROM ${sessions} WHERE sid = $1 ${lock.update}`,
    /** Without the time, which only the claim needs. */
    held: `SELECT * FROM ${sessions} WHERE ${HELD} ${lock.update}`,
    claim: `UPDATE ${sessions} SET fence = fence + 1, lease_owner = $2, lease_until = ${now} + ${whole('$3')}
       WHERE sid = $1 AND reader <= $4 AND (lease_owner IS NULL OR lease_owner = $2 OR lease_until <= ${now}) RETURNING *`,
    /** Keeps a session that cannot be read from being claimed with the others; a claim by its id still finds it. */
    putAside: `UPDATE ${sessions} SET lease_owner = NULL, lease_until = NULL, waits_until = $3 WHERE sid = $1 AND fence = $2`,
    /** Ends the leases and waits that have ended by time. */
    lapse: [
      `UPDATE ${sessions} SET lease_owner = NULL, idle_since = lease_until, lease_until = NULL
       WHERE sid IN (${ended('sessions_leased', LEASED, 'lease_until')})`,
      `UPDATE ${sessions} SET idle_since = waits_until, waits_until = NULL
       WHERE sid IN (${ended('sessions_waiting', WAITING, 'waits_until')})`,
    ],
    renew: `UPDATE ${sessions} SET lease_until = ${now} + ${whole('$1')} FROM ${items('$2')}
       WHERE sid = (one ->> 'sid') AND fence = ${whole(`(one ->> 'fence')`)} AND lease_owner IS NOT NULL RETURNING sid, cancelled`,
    release: `UPDATE ${sessions} SET lease_owner = NULL, lease_until = NULL, idle_since = ${now} WHERE sid = $1 AND fence = $2`,
    start: `UPDATE ${sessions} SET started = $3, started_turn = $4, started_nonce = $5, waits = $6,
       waits_until = CASE WHEN cancelled = 1 THEN NULL ELSE ${whole('$7')} END
       WHERE ${HELD} AND status = 'open' AND next_turn = $4 RETURNING cancelled`,
    // The row is locked, so that no claim reads the steps while one of them is added.
    keep: `INSERT INTO ${steps} (sid, nonce, turn, seq, body)
       SELECT $1, started_nonce, $3, $4, $5 FROM (SELECT started_nonce FROM ${sessions} WHERE ${HELD} AND started_turn = $3 ${lock.share}) AS own
       WHERE TRUE ON CONFLICT (sid, nonce, seq) DO UPDATE SET body = excluded.body RETURNING 1 AS kept`,
    withdraw: [
      `UPDATE ${sessions} SET started = NULL, started_turn = NULL, started_nonce = NULL, waits = NULL, waits_until = NULL
       WHERE ${HELD} RETURNING 1 AS held`,
      `DELETE FROM ${steps} WHERE sid = $1 AND ${found}`,
    ],
    /**
     * Commits a turn, or a change of a session between two turns, for instance its end. It gives no row when the lease is lost, when the turn was not started, or
     * when the commit of this stamp was done before.
     */
    commit: [
      `UPDATE ${sessions} SET stamp = $3, status = $4, reason = $5, next_turn = $6, state = $7, updated_at = $8,
       ${['started', 'started_turn', 'started_nonce', 'waits', 'waits_until'].map(decided).join(', ')},
       used = CASE WHEN $9 = 1 THEN '[]' ELSE (SELECT ${gathered} FROM (
         SELECT one FROM ${items('used')} WHERE ${whole(`(one ->> 'second')`)} >= $10 UNION ALL SELECT one FROM ${items('$11')}
       ) AS kept) END,
       owed = owed + $12, end_owed = CASE WHEN $13 = 1 THEN 1 ELSE end_owed END, ${free('$14')}
       WHERE ${HELD} AND stamp IS DISTINCT FROM $3
         AND (${whole('$15')} IS NULL OR (next_turn = $15 AND started_turn = $15)) RETURNING cancelled`,
      `INSERT INTO ${turns} (sid, turn, decision, nonce, digest, record, owed)
       SELECT $1, $15, $16, $17, $18, $19, $12 WHERE ${whole('$15')} IS NOT NULL AND ${found}`,
      `DELETE FROM ${steps} WHERE sid = $1 AND NOT (${goesOn}) AND ${found}`,
      entry('$1', '$20', '$21', `CAST($21 AS text) IS NOT NULL AND ${found}`),
    ],
    stamp: `SELECT cancelled FROM ${sessions} WHERE sid = $1 AND stamp = $2`,
    logged: [
      `UPDATE ${sessions} SET owed = (SELECT count(*) FROM ${turns} AS t WHERE t.sid = $1 AND t.owed = 1 AND t.turn <> $3),
       end_owed = CASE WHEN next_turn = $3 THEN 0 ELSE end_owed END, ${free('$4')} WHERE ${HELD} RETURNING 1 AS held`,
      `UPDATE ${turns} SET owed = 0 WHERE sid = $1 AND turn = $3 AND owed = 1 AND ${found}`,
    ],
    cancel: `UPDATE ${sessions} SET cancelled = 1, waits_until = NULL
       WHERE sid = $1 AND status NOT IN ('done', 'aborted', 'halted') RETURNING 1 AS cancelled`,
    end: `UPDATE ${sessions} SET status = $2, reason = $3, next_turn = $4, state = $5, updated_at = $6, end_owed = $7, waits_until = NULL
       WHERE sid = $1`,
    lastTurn: `SELECT max(turn) AS turns FROM ${turns} WHERE sid = $1`,
    steps: `SELECT turn, seq, body FROM ${steps} WHERE sid = $1 AND nonce = $2 ORDER BY seq`,
    owedTurns: `SELECT turn, record FROM ${turns} WHERE sid = $1 AND owed = 1 ORDER BY turn`,
    turns: `SELECT turn, record FROM ${turns} WHERE sid = $1 AND turn > $2 ORDER BY turn LIMIT $3`,
    summaries,
    list: `${summaries} WHERE sid > $1 ORDER BY sid LIMIT $2`,
    children: `${summaries} WHERE sid > $1 AND parent_sid = $3 ORDER BY sid LIMIT $2`,
    summary: `${summaries} WHERE sid = $1`,
    owing: `SELECT sid FROM ${from('sessions_owing', OWING)} AND sid > $1 ORDER BY sid LIMIT $2`,
    orphaned: `SELECT sid FROM ${from('sessions_nested', NESTED)} AND sid > $1 AND idle_since <= ${now} - ${whole('$3')}
       AND (lease_owner IS NULL OR lease_until <= ${now}) ORDER BY sid LIMIT $2`,
    leased: `SELECT sid FROM ${from('sessions_leased', LEASED)} AND lease_owner = $1 LIMIT $2`,
    ready: `SELECT sid FROM ${from('sessions_ready', READY)} ORDER BY profile, reader, tenant, idle_since LIMIT $1`,
    old: `${summaries} WHERE status IN ('done', 'aborted', 'halted') AND updated_at < $1 AND owed = 0 AND end_owed = 0
       AND (lease_owner IS NULL OR lease_until <= ${now}) ORDER BY sid`,
    removeSessions: [`DELETE FROM ${sessions} WHERE ${chosen}`, `DELETE FROM ${steps} WHERE ${chosen}`],
    removeTurns: `DELETE FROM ${turns} WHERE ${chosen}`,
    records: `SELECT turn, record FROM ${turns} WHERE sid = $1`,
    eraseTurn: `UPDATE ${turns} SET record = $3, digest = NULL WHERE sid = $1 AND turn = $2`,
    eraseSession: `UPDATE ${sessions} SET state = $2, started = NULL, started_turn = NULL, started_nonce = NULL, waits = NULL WHERE sid = $1`,
    eraseSteps: `DELETE FROM ${steps} WHERE sid = $1`,
    append: entry('$1', '$2', '$3', 'TRUE'),
    hasDecision: `SELECT 1 FROM ${decisions} WHERE sid = $1 AND turn = $2 LIMIT 1`,
    decisions: `SELECT line, text FROM ${decisions} WHERE line > $1 ORDER BY line LIMIT $2`,
  } as const;
}

const WITH = { waiting: 's.waits', leased: 's.lease_owner' } as const;

/** The SQL after `FROM sessions AS s` for {@link SessionStore.recent}, with its values. */
export function recentSql({
  limit,
  after,
  status,
  open,
  reason,
  tenant,
  since,
  until,
}: RecentQuery): readonly [string, ...(string | number)[]] {
  const values: (string | number)[] = [];
  const mark = (value: string | number): string => `$${values.push(value)}`;
  const conditions = [
    ...(status === undefined ? [] : [`s.status = ${mark(status)}`]),
    ...(open === undefined ? [] : [`s.status = 'open' AND ${WITH[open]} IS NOT NULL`]),
    ...(reason === undefined ? [] : [`s.reason = ${mark(reason)}`]),
    ...(tenant === undefined ? [] : [`s.tenant = ${mark(tenant)}`]),
    ...(since === undefined ? [] : [`s.updated_at >= ${mark(since)}`]),
    ...(until === undefined ? [] : [`s.updated_at < ${mark(until)}`]),
    ...(after === undefined ? [] : [`(s.updated_at, s.sid) < (${mark(after.updatedAt)}, ${mark(after.sid)})`]),
  ];
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')} `;
  return [`${where}ORDER BY s.updated_at DESC, s.sid DESC LIMIT ${mark(limit)}`, ...values];
}
