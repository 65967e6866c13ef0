// @module-tag slow
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type AnyClient, type PgPool, PostgresStore } from '../../src/postgres/index.ts';
import { commitOf, started, state } from '../../src/testing/contracts/samples.ts';
import { clockStatements, type OwnPool, pglite, pgPool } from './kit.ts';

/** A client whose database has the clock of a test. */
interface Timed {
  readonly client: AnyClient;
  /** The first column of a query. */
  readonly query: (text: string, values?: unknown[]) => Promise<readonly unknown[]>;
  readonly end: () => Promise<void>;
}

const CLOCK = 'retention_clock';
const SCHEMA = 'retention';

async function timed(client: AnyClient & { query(text: string, values?: unknown[]): Promise<unknown> }, end: Timed['end']) {
  const query: Timed['query'] = async (text, values = []) => {
    const { rows }: { readonly rows?: readonly object[] } = Object(await client.query(text, values));
    return (rows ?? []).map((row) => Object.values(row)[0]);
  };
  for (const statement of clockStatements(CLOCK)) await query(statement);
  return { client, query, end };
}

const OPEN: Readonly<Record<string, () => Promise<Timed>>> = {
  PGlite: async () => {
    const lite = await pglite();
    const made = await timed(lite, () => lite.close());
    await made.query(`SET search_path = ${CLOCK}, pg_catalog`);
    return made;
  },
  'a server': async () => {
    const pool = await pgPool(inject('url'), { path: `${CLOCK},pg_catalog` });
    return timed(pool, async () => {
      await pool.query(`DROP SCHEMA IF EXISTS ${SCHEMA} CASCADE`);
      await pool.end();
    });
  },
};

/** The tables that a store vacuums after it has erased a session. */
async function vacuumed(pool: OwnPool, schema: string): Promise<readonly string[]> {
  const sent: string[] = [];
  const watched: PgPool = {
    query: (text, values) => {
      sent.push(text);
      return pool.query(text, values);
    },
    connect: (callback) => pool.connect(callback),
  };
  await using store = await PostgresStore.open(watched, { schema, migrate: false });
  await store.erase([]);
  return sent.filter((text) => text.startsWith('VACUUM'));
}

it('issue 20: a host that does not own the tables starts although a month has no partition, and drives sessions', async () => {
  const [schema, role] = ['retention_rights', 'retention_host'];
  const owner = await pgPool(inject('url'));
  const url = new URL(inject('url'));
  url.searchParams.set('options', `-c role=${role}`);
  const host = await pgPool(url.href);
  try {
    await owner.query(`CREATE ROLE ${role}`);
    await (await PostgresStore.open(owner, { schema }))[Symbol.asyncDispose]();
    const { rows } = await owner.query(
      `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = '${schema}.turns'::regclass AND inhrelid <> '${schema}.turns_rest'::regclass`,
    );
    for (const { name } of rows) await owner.query(`DROP TABLE ${String(name)}`);
    await owner.query(`GRANT USAGE ON SCHEMA ${schema} TO ${role}`);
    await owner.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${role}`);
    await using store = await PostgresStore.open(host, { schema, migrate: false });
    await store.create(state('s'), 1);
    const { fence } = await store.claim('s', { owner: 'a', ms: 1000 });
    await store.start(started('s'), fence);
    const { owner: _, ...commit } = commitOf('s', 1, { keep: false });
    await store.commit({ ...commit, fence });
    expect(await store.turns('s')).toHaveLength(1);
    // The server would warn of each table that a role may not vacuum.
    expect(await vacuumed(host, schema)).toEqual([]);
    const all = ['sessions', 'steps', 'turns'].map((table) => `VACUUM ${schema}."${table}"`);
    expect((await vacuumed(owner, schema)).toSorted()).toEqual(all);
  } finally {
    await host.end();
    await owner.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
    await owner.query(`DROP ROLE IF EXISTS ${role}`);
    await owner.end();
  }
});

const day = (text: string): number => Date.parse(`${text}T12:00:00Z`);

describe.each(Object.keys(OPEN))('issue 20: retention on %s', (name) => {
  let database: Timed;
  let store: PostgresStore;
  beforeAll(async () => {
    const made = await OPEN[name]?.();
    if (made === undefined) throw new Error(name);
    database = made;
    await database.query(`DROP SCHEMA IF EXISTS ${SCHEMA} CASCADE`);
    await at('2026-01-15');
    store = await PostgresStore.open(database.client, { schema: SCHEMA });
  });
  afterAll(async () => {
    await store[Symbol.asyncDispose]();
    await database.end();
  });

  const at = (text: string) => database.query(`UPDATE ${CLOCK}.clock SET at = $1`, [day(text)]);
  const partitions = () =>
    database.query(`SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = '${SCHEMA}.turns'::regclass ORDER BY 1`);
  const months = async () => (await partitions()).map((each) => String(each).replace(`${SCHEMA}.turns_`, ''));
  const rows = async (month: string) => Number((await database.query(`SELECT count(*) FROM ${SCHEMA}.turns_${month}`))[0]);

  /** Takes a turn of a session on a day. */
  async function turn(sid: string, number: number, text: string, end = false): Promise<void> {
    await at(text);
    if (number === 1) await store.create(state(sid), day(text));
    const { fence } = await store.claim(sid, { owner: 'a', ms: 1000 });
    await store.start(started(sid, number), fence);
    const { owner: _, ...commit } = commitOf(sid, number, { at: day(text), keep: false });
    await store.commit({ ...commit, next: { ...commit.next, status: end ? 'done' : 'open' }, fence });
  }

  it('prune drops the months that are wholly old, and keeps those that a session still needs', async () => {
    expect(await months()).toEqual(['2026_01', '2026_02', '2026_03', 'rest']);
    await turn('old', 1, '2026-01-15', true);
    await turn('long', 1, '2026-01-16');
    await turn('mid', 1, '2026-02-15', true);
    await turn('long', 2, '2026-03-10');
    expect([await rows('2026_01'), await rows('2026_02'), await rows('2026_03')]).toEqual([2, 1, 1]);
    const prune = async (before: string, dryRun = false) =>
      (await store.prune({ before: day(before), dryRun })).map(({ sid }) => sid);

    expect(await prune('2026-02-20', true)).toEqual(['mid', 'old']);
    expect([await rows('2026_01'), await rows('2026_02')]).toEqual([2, 1]);
    // January has a turn of a session that goes on, and February is not over on that day: their rows are deleted.
    expect(await prune('2026-02-20')).toEqual(['mid', 'old']);
    expect([await rows('2026_01'), await rows('2026_02')]).toEqual([1, 0]);
    expect(await prune('2026-03-05')).toEqual([]);
    expect(await months()).toEqual(expect.not.arrayContaining(['2026_02']));
    expect(await store.turns('long')).toHaveLength(2);

    await turn('long', 3, '2026-04-02', true);
    expect(await prune('2026-04-01')).toEqual([]);
    expect(await store.turns('long')).toHaveLength(3);
    await turn('new', 1, '2026-05-20');
    expect(await prune('2026-05-01')).toEqual(['long']);
    expect((await months()).filter((month) => month < '2026_05')).toEqual([]);
    expect(await store.turns('long')).toEqual([]);
    expect(await store.turns('new')).toHaveLength(1);
  });

  it('a store that is opened makes the months to come, and turns of a month without one are pruned row by row', async () => {
    await turn('rest', 1, '2027-01-10', true);
    expect(await rows('rest')).toBeGreaterThan(0);
    await using again = await PostgresStore.open(database.client, { schema: SCHEMA });
    expect(await months()).toEqual(expect.arrayContaining(['2027_02', '2027_03', 'rest']));
    expect((await again.prune({ before: day('2027-02-01') })).map(({ sid }) => sid)).toEqual(['rest']);
    expect(await again.turns('rest')).toEqual([]);
    expect(await again.turns('new')).toHaveLength(1);
  });
});
