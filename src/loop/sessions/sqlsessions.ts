import { randomUUID } from 'node:crypto';
import { StoreError } from '../../sqlite/error.ts';
import type { Row, SqlQuery } from '../../sqlite/sql.ts';
import { BusyError } from '../../wire/errors.ts';
import { grouped } from '../../wire/text/grouped.ts';
import { SqlLog } from '../log/sqllog.ts';
import type { TurnRecord } from '../record/record.ts';
import { waitingOf } from '../record/suspension.ts';
import { claimedOf, leaseOf, recordsOf, setupOf, summaryOf, usedOf } from './columns.ts';
import { type DamagedSession, type ForcedEnd, isDamage } from './damaged.ts';
import type { SessionsEngine } from './engine.ts';
import { SessionExistsError, SessionLeasedError, SessionStateError } from './errors.ts';
import type { CensusRow, HostRegistry } from './fleet.ts';
import { hostsIn } from './hosts.ts';
import { endUnread, eraseRow, pruneRows } from './removal.ts';
import {
  readConfiguration,
  readStarted,
  readState,
  readStep,
  readTurn,
  readUsed,
  readWaiting,
  storable,
  storableObject,
} from './rows.ts';
import { type Admission, checkSetup, mustKnow, PLAIN_SETUP, READER, type Runnable, type SessionSetup } from './setup.ts';
import { recentSql, type Statements, statementsOf } from './statements.ts';
import {
  type ClaimedSession,
  type ErasableStore,
  type Held,
  type Lease,
  type ListQuery,
  notStarted,
  type OnDamaged,
  type Pruning,
  type RecentQuery,
  type Renewal,
  type SessionCondition,
  type SessionState,
  type SessionSummary,
  type StartedTurn,
  type StoredStep,
  type TurnCommit,
  type TurnsQuery,
  waitsUntil,
} from './store.ts';

const STATES = ['ready', 'running', 'waiting'] as const;
const CLASSES = ['none', 'tenant'] as const;

/** Most rows of a query without a limit. */
const ALL = Number.MAX_SAFE_INTEGER;

/**
 * A store of sessions in a database that speaks SQL. Each call is one statement, one change or one transaction, with the clock of the
 * store. A write whose connection was lost is tried again: its stamp tells whether it had been done.
 */
export abstract class SqlSessions implements ErasableStore {
  readonly #engine: SessionsEngine;
  readonly #statements: Statements;
  /** The decision log in the same database. */
  readonly log: SqlLog;
  /** The hosts that serve this store. */
  readonly hosts: HostRegistry;

  protected constructor(engine: SessionsEngine) {
    this.#engine = engine;
    this.#statements = statementsOf(engine.sql.dialect);
    this.log = new SqlLog(engine, this.#statements);
    this.hosts = hostsIn(engine, this.#statements);
  }

  get #sql(): SessionsEngine['sql'] {
    return this.#engine.sql;
  }

  async create(state: SessionState, at: number, setup: SessionSetup = PLAIN_SETUP, admission: Admission = {}): Promise<void> {
    checkSetup(setup);
    const { sid, parent } = state;
    const { tenant, profile, configuration, engine, reader } = setup;
    const values = [
      ...[sid, state.status, state.reason, state.nextTurn, stateText(state), Math.floor(at)],
      ...[
        tenant,
        profile,
        configuration && storableObject(configuration, (text) => readConfiguration(text, sid)),
        engine,
        reader,
      ],
      ...[parent === null ? 0 : 1, parent?.sid ?? null, randomUUID()],
    ];
    const isBounded = parent === null && (admission.tenant !== undefined || admission.store !== undefined);
    const [made] = isBounded
      ? await this.#sql.transaction(async (query) => {
          await this.#engine.admitting(query);
          await mustAdmit(query, this.#statements, tenant, admission);
          return query(this.#statements.create, ...values);
        })
      : await this.#sql.again(this.#statements.create, ...values);
    if (made === undefined) throw new SessionExistsError(sid);
    this.#engine.wake();
  }

  async read(sid: string): Promise<SessionState | null> {
    const [row] = await this.#sql.again(this.#statements.state, sid);
    return row === undefined ? null : readState(row['state'], sid);
  }

  async claim(sid: string, lease: Lease): Promise<ClaimedSession> {
    const row = await this.#take(sid, lease);
    try {
      return await this.#claimed(row);
    } catch (error) {
      await this.release(sid, Number(row['fence']));
      throw error;
    }
  }

  async #take(sid: string, { owner, ms }: Lease): Promise<Row> {
    const [row] = await this.#sql.again(this.#statements.claim, sid, owner, Math.floor(ms), READER);
    if (row !== undefined) return row;
    const found = await this.#found(sid);
    mustKnow(sid, setupOf({ ...found, configuration: null }));
    throw new SessionLeasedError(sid, leaseOf(found, Number(found['now'])));
  }

  async next(lease: Lease, most: number, runnable: Runnable): Promise<readonly ClaimedSession[]> {
    const claimed: ClaimedSession[] = [];
    for (const row of await this.#engine.next(lease, most, runnable))
      try {
        claimed.push(await this.#claimed(row));
      } catch (error) {
        if (!isDamage(error)) throw error;
        await this.#sql.query(this.#statements.putAside, row['sid'], Number(row['fence']), ALL);
      }
    return claimed;
  }

  onReady(wake: () => void): () => void {
    return this.#engine.onReady(wake);
  }

  async renew(held: readonly Held[], ms: number): Promise<readonly Renewal[]> {
    const list = JSON.stringify(held.map(({ sid, fence }) => ({ sid, fence })));
    const rows = await this.#sql.query(this.#statements.renew, Math.floor(ms), list);
    const renewed = new Map(rows.map(({ sid, cancelled }) => [sid, Number(cancelled) === 1]));
    return held.map(({ sid }) => {
      const cancelled = renewed.get(sid);
      return cancelled === undefined ? 'lost' : cancelled ? 'cancelled' : 'held';
    });
  }

  async release(sid: string, fence: number): Promise<void> {
    await this.#sql.again(this.#statements.release, sid, fence);
    this.#engine.wake();
  }

  async start(turn: StartedTurn, fence: number): Promise<boolean> {
    const { sid, suspended } = turn;
    const text = storable(turn, (text) => readStarted(text, sid, turn.turn));
    const waiting = suspended && storable(waitingOf(turn.turn, suspended), (text) => readWaiting(text, sid));
    const until = waitsUntil(turn);
    const [started] = await this.#sql.again(
      this.#statements.start,
      ...[sid, fence, text, turn.turn, turn.nonce, waiting, until === null ? null : Math.floor(until)],
    );
    if (started !== undefined) return Number(started['cancelled']) === 1;
    await this.#mustHold(sid, fence);
    throw new StoreError('order', `turn ${turn.turn} of session ${JSON.stringify(sid)} is not the next`);
  }

  async keep(sid: string, { turn, seq, body }: StoredStep, fence: number): Promise<void> {
    const text = storable(body, (text) => readStep(text, sid));
    const [kept] = await this.#sql.again(this.#statements.keep, sid, fence, turn, seq, text);
    if (kept !== undefined) return;
    await this.#mustHold(sid, fence);
    throw notStarted(sid, turn);
  }

  async withdraw(sid: string, fence: number): Promise<void> {
    const [held] = await this.#sql.change(this.#statements.withdraw, sid, fence);
    if (held === undefined) await this.#mustHold(sid, fence);
  }

  async commit({ fence, record, next, used, usedSince, unlogged, entry, at, keep }: TurnCommit): Promise<boolean> {
    const { sid } = next;
    // Tells this commit from all others when it is repeated because nobody knows whether it was done.
    const stamp = randomUUID();
    const [owed, endOwed] = [unlogged && record !== null ? 1 : 0, unlogged && record === null ? 1 : 0];
    let [done] = await this.#sql.change(
      this.#statements.commit,
      ...[sid, fence, stamp, next.status, next.reason, next.nextTurn, stateText(next), Math.floor(at)],
      ...[next.status === 'open' ? 0 : 1, Math.ceil(usedSince), storable(used, readUsed), owed, endOwed, keep ? 1 : 0],
      ...(record === null
        ? [null, null, null, null, null]
        : [record.turn, record.decision, record.inputs.nonce, record.digest, recordText(record)]),
      ...[entry?.turn_index ?? null, entry === null ? null : JSON.stringify(entry)],
    );
    if (done === undefined) [done] = await this.#sql.again(this.#statements.stamp, sid, stamp);
    if (done === undefined) {
      await this.#mustHold(sid, fence);
      throw notStarted(sid, record?.turn ?? next.nextTurn);
    }
    if (entry !== null) this.#engine.logged();
    if (!keep) this.#engine.wake();
    return Number(done['cancelled']) === 1;
  }

  async logged(sid: string, turn: number, fence: number, keep: boolean): Promise<void> {
    const [held] = await this.#sql.change(this.#statements.logged, sid, fence, turn, keep ? 1 : 0);
    if (held === undefined) await this.#mustHold(sid, fence);
    if (!keep) this.#engine.wake();
  }

  async cancel(sid: string): Promise<boolean> {
    const cancelled = (await this.#sql.again(this.#statements.cancel, sid)).length > 0;
    if (cancelled) this.#engine.wake();
    return cancelled;
  }

  async endDamaged(sid: string, lease: Lease, end: ForcedEnd): Promise<DamagedSession | null> {
    const row = await this.#take(sid, lease);
    const fence = Number(row['fence']);
    try {
      await this.#claimed(row);
      await this.release(sid, fence);
      return null;
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
    const unlogged = await this.#sql.transaction((query) => endUnread(query, this.#statements, { sid, fence }, end));
    if (end.log === 'own') this.#engine.logged();
    return { fence, unlogged };
  }

  async turns(sid: string, onDamaged?: OnDamaged, { after = 0, limit = ALL }: TurnsQuery = {}): Promise<readonly TurnRecord[]> {
    return recordsOf(sid, await this.#sql.again(this.#statements.turns, sid, after, limit), onDamaged);
  }

  async list({ after = '', limit = ALL, parent }: ListQuery = {}): Promise<readonly SessionSummary[]> {
    return parent === undefined
      ? this.#summaries(this.#statements.list, after, limit)
      : this.#summaries(this.#statements.children, after, limit, parent);
  }

  async recent(query: RecentQuery): Promise<readonly SessionSummary[]> {
    const [rest, ...values] = recentSql(query);
    return this.#summaries(`${this.#statements.summaries} ${rest}`, ...values);
  }

  async summary(sid: string): Promise<SessionSummary | null> {
    return (await this.#summaries(this.#statements.summary, sid))[0] ?? null;
  }

  async find(condition: SessionCondition, limit: number): Promise<readonly string[]> {
    const ids = async (text: string, ...values: readonly unknown[]): Promise<readonly string[]> =>
      (await this.#sql.again(text, ...values)).map(({ sid }) => String(sid));
    if (condition.kind === 'owing') return ids(this.#statements.owing, condition.after, limit);
    if (condition.kind === 'orphaned') return ids(this.#statements.orphaned, condition.after, limit, condition.idleMs);
    await this.#engine.lapse();
    const own = await ids(this.#statements.leased, condition.owner, limit);
    return own.length === limit ? own : [...own, ...(await ids(this.#statements.ready, limit - own.length))];
  }

  async census(): Promise<readonly CensusRow[]> {
    const rows = await this.#sql.query(this.#statements.census);
    return STATES.flatMap((state) =>
      CLASSES.map((kind) => {
        const found = rows.find((row) => row['state'] === state && row['class'] === kind);
        const since = found?.['since'] ?? null;
        return { state, class: kind, count: Number(found?.['n'] ?? 0), since: since === null ? null : Number(since) };
      }),
    );
  }

  async prune(pruning: Pruning): Promise<readonly SessionSummary[]> {
    return this.#sql.transaction((query) => pruneRows(query, this.#engine, this.#statements, pruning));
  }

  async erase(sids: readonly string[]): Promise<void> {
    await this.#sql.transaction(async (query) => {
      for (const sid of sids) await eraseRow(query, this.#statements, sid);
    });
    await this.#engine.scrub();
  }

  /** The summaries of the sessions that a statement selects and orders. */
  async #summaries(text: string, ...values: readonly unknown[]): Promise<readonly SessionSummary[]> {
    const rows = await this.#sql.again(text, ...values);
    return rows.map((row) => summaryOf(row, Number(row['now'])));
  }

  async #claimed(row: Row): Promise<ClaimedSession> {
    const sid = String(row['sid']);
    const { started, started_nonce: nonce, owed } = row;
    return claimedOf(row, {
      started,
      steps: started === null ? [] : await this.#sql.again(this.#statements.steps, sid, nonce),
      used: usedOf(row['used']),
      unlogged: Number(owed) === 0 ? [] : recordsOf(sid, await this.#sql.again(this.#statements.owedTurns, sid)),
    });
  }

  async #found(sid: string): Promise<Row> {
    const [row] = await this.#sql.again(this.#statements.session, sid);
    if (row === undefined) throw new SessionStateError(sid, 'unknown');
    return row;
  }

  async #mustHold(sid: string, fence: number): Promise<void> {
    const row = await this.#found(sid);
    if (Number(row['fence']) !== fence || row['lease_owner'] === null)
      throw new SessionLeasedError(sid, leaseOf(row, Number(row['now'])));
  }
}

function stateText(state: SessionState): string {
  return storable(state, (text) => readState(text, state.sid));
}

function recordText(record: TurnRecord): string {
  return storable(record, (text) => readTurn(text, record.sid, record.turn));
}

/** Milliseconds after which another try is worth it: sessions end in seconds to minutes. */
const RETRY_AFTER_MS = 5000;

/** Throws {@link BusyError} when no further session of a tenant may be open. Nobody else adds one until the transaction of `query` ends. */
async function mustAdmit(
  query: SqlQuery,
  statements: Pick<Statements, 'open' | 'openOfTenant'>,
  tenant: string,
  admission: Admission,
): Promise<void> {
  const refuse = async (
    limit: 'openSessions' | 'tenantOpenSessions',
    allowed: number | undefined,
    whose: string,
  ): Promise<void> => {
    if (allowed === undefined) return;
    const rows = await (limit === 'openSessions'
      ? query(statements.open, allowed)
      : query(statements.openOfTenant, allowed, tenant));
    const used = Number(rows[0]?.['n']);
    if (used < allowed) return;
    const message = `${grouped(allowed)} sessions of ${whose} are open already; try again in ${RETRY_AFTER_MS / 1000} s`;
    throw new BusyError(message, { limit, allowed, used, retryAfterMs: RETRY_AFTER_MS });
  };
  await refuse('openSessions', admission.store, 'the store');
  await refuse('tenantOpenSessions', admission.tenant, tenant === '' ? 'no tenant' : `tenant ${JSON.stringify(tenant)}`);
}
