import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { sessionQuery } from '../../../src/loop/query/parse.ts';
import { searchSessions } from '../../../src/loop/query/search.ts';
import { PLAIN_SETUP } from '../../../src/loop/sessions/setup.ts';
import { MemoryStore, SqliteStore } from '../../../src/loop/sessions/sqlite.ts';
import { recentSql } from '../../../src/loop/sessions/statements.ts';
import type { RecentQuery } from '../../../src/loop/sessions/store.ts';
import { SESSIONS } from '../../../src/loop/sessions/tables.ts';
import { commitOf, started, state } from '../../../src/testing/contracts/samples.ts';
import { defineTool } from '../../../src/tools/index.ts';
import { tempFolder } from '../../folder.ts';
import { SLOW } from '../../groups.ts';
import { CONTINUE, command, DONE, openStage } from '../sessions.ts';

const NOW = Date.UTC(2026, 7, 31, 12);

it('reads keys, words and quotes, and says what is wrong with a query', () => {
  expect(sessionQuery('  status:Done tool:shop.Book "two words" X ', NOW)).toEqual({
    terms: [
      { key: 'status', text: 'done' },
      { key: 'tool', text: 'shop.book' },
      { key: null, text: 'two words' },
      { key: null, text: 'x' },
    ],
    since: null,
  });
  expect(sessionQuery('tenant:"Acme & Co"', NOW).terms).toEqual([{ key: 'tenant', text: 'Acme & Co' }]);
  expect(sessionQuery('since:2h', NOW).since).toBe(NOW - 7_200_000);
  expect(sessionQuery('since:7d since:2026-08-31', NOW).since).toBe(Date.UTC(2026, 7, 31));
  expect(sessionQuery('since:2026-08-31T10:00', NOW).since).toBe(Date.UTC(2026, 7, 31, 10));
  expect(sessionQuery('', NOW)).toEqual({ terms: [], since: null });
  for (const [text, problem] of [
    ['eror:x', /has no 'eror:'; it has status, reason, error, tool/],
    ['http://x', /words with a colon in quotes/],
    ['status:ended', /status:ended of a query must be open, waiting/],
    ['since:soon', /since:soon/],
    ['tool:""', /'tool:' of a query needs/],
  ] as const)
    expect(() => sessionQuery(text, NOW), text).toThrow(
      expect.objectContaining({ code: 'ERR_CONFIG', message: expect.stringMatching(problem) }),
    );
});

it('finds sessions by what their lists, messages, programs, calls and errors say', async () => {
  await using stage = await openStage({
    policy: { allow: ['tool.*'] },
    tools: [defineTool({ name: 'tool.shop.Book', args: [{ name: 'what', type: 'string' }], run: () => 'booked' })],
  });
  const store = new MemoryStore();
  const play = (...programs: readonly (readonly string[])[]) =>
    stage.play(
      programs.map((lines) => command(...lines)),
      { sid: `s-${programs.flat().length}`, maxReasks: 0 },
      { store },
    );
  await play([CONTINUE], ['emit tool.shop.Book("whale")', DONE]);
  await play(['emit 1', 'emit 2', 'emit 3', 'fail "the kraken woke"', DONE]);
  await play(['emit 1', 'emit 2', 'emit 3', 'emit 4', 'emit 5', 'emit tool.list.Get([1], 9)', DONE]);
  await store.create(state('theirs', { agent: 'Claude' }), 5, { ...PLAIN_SETUP, tenant: 'acme' });
  const find = async (text: string) =>
    (await searchSessions(store, sessionQuery(text, NOW), { limit: 10 })).sessions.map(({ sid }) => sid).sort();
  expect(await find('')).toHaveLength(4);
  expect(await find('status:done')).toEqual(['s-3']);
  expect(await find('status:open')).toEqual(['theirs']);
  expect(await find('status:halted reason:exec')).toEqual(['s-5', 's-7']);
  expect(await find('error:kraken')).toEqual(['s-5']);
  expect(await find('error:err_exec')).toEqual(['s-5', 's-7']);
  expect(await find('WHALE')).toEqual(['s-3']);
  expect(await find('"kraken woke" status:halted')).toEqual(['s-5']);
  expect(await find('whale kraken')).toEqual([]);
  expect(await find('agent:claude tenant:acme')).toEqual(['theirs']);
  expect(await find('tenant:Acme')).toEqual([]);
  expect(await find('status:done status:open')).toEqual([]);
  expect(await find('tool:shop.book')).toEqual(['s-3']);
});

it('issue 49: finds a session by the one word that a list shows of what it does', async () => {
  const waits = { call: '1.1', turn: 1, tool: 'tool.human.Ask', args: [], reason: 'r', since: 1, expiresAt: 2, completed: false };
  const lease = { owner: 'host-7', until: NOW };
  const rows = [
    { sid: 'free', waits: null, lease: null },
    { sid: 'held', waits: null, lease },
    { sid: 'asking', waits, lease: null },
    { sid: 'asking-held', waits, lease },
    { sid: 'answered-held', waits: { ...waits, completed: true }, lease },
    { sid: 'answered', waits: { ...waits, completed: true }, lease: null },
  ];
  const store = new MemoryStore();
  for (const { sid } of rows) await store.create(state(sid), 1);
  const summaries = (await store.recent({ limit: 9 })).map((row) => ({ ...row, ...rows.find(({ sid }) => sid === row.sid) }));
  const selecting = {
    recent: async ({ open }: RecentQuery) =>
      summaries.filter((row) => (open === undefined ? true : open === 'waiting' ? row.waits !== null : row.lease !== null)),
    read: async () => null,
    turns: async () => [],
  };
  const find = async (text: string) =>
    (await searchSessions(selecting, sessionQuery(text, NOW), { limit: 10 })).sessions.map(({ sid }) => sid).sort();
  expect(await find('status:waiting')).toEqual(['asking', 'asking-held']);
  expect(await find('status:running')).toEqual(['answered-held', 'held']);
  expect(await find('status:open')).toEqual(['answered', 'free']);
});

it('goes on where it stopped, and stops when a search has read enough', async () => {
  const store = new MemoryStore();
  for (let at = 1; at <= 9; at++) await store.create(state(`s${at}`), at);
  const query = sessionQuery('s', NOW);
  const first = await searchSessions(store, query, { limit: 2 });
  expect(first).toMatchObject({ sessions: [{ sid: 's9' }, { sid: 's8' }], next: { sid: 's8' } });
  expect(await searchSessions(store, query, { limit: 99, after: first.next ?? undefined })).toMatchObject({
    sessions: { length: 7 },
    next: null,
  });
  expect(await searchSessions(store, sessionQuery('nowhere', NOW), { limit: 1, effort: 4 })).toMatchObject({
    sessions: [],
    next: { sid: 's6' },
  });
});

it('issue 48: a page reads at most 500 sessions and turns, and of those only what its query looks at', async () => {
  const store = new MemoryStore();
  for (let at = 1; at <= 600; at++) await store.create(state(`s${at}`), at);
  await store.claim('s2', { owner: 'a', ms: 60_000 });
  const read: Record<string, number> = {};
  const count = (name: string, more: number): void => {
    read[name] = (read[name] ?? 0) + more;
  };
  const counting: Parameters<typeof searchSessions>[0] = {
    async recent(query) {
      const found = await store.recent(query);
      count('sessions', found.length);
      return found;
    },
    async read(sid) {
      count('states', 1);
      return store.read(sid);
    },
    async turns(...query) {
      count('turns', 1);
      return store.turns(...query);
    },
  };
  const reads = async (text: string) => {
    for (const name of Object.keys(read)) delete read[name];
    await searchSessions(counting, sessionQuery(text, NOW), { limit: 100 });
    return { ...read };
  };
  expect(await reads('')).toEqual({ sessions: 101 });
  expect(await reads('status:open')).toEqual({ sessions: 250 });
  expect(await reads('status:running')).toEqual({ sessions: 1 });
  expect(await reads('status:waiting')).toEqual({ sessions: 0 });
  expect(await reads('agent:none')).toEqual({ sessions: 500 });
  expect(await reads('tool:none')).toEqual({ sessions: 500 });
  expect(await reads('error:none')).toEqual({ sessions: 500, states: 500 });
});

it('issue 48: every list of sessions is in the order of an index', () => {
  using database = new DatabaseSync(':memory:');
  for (const statements of SESSIONS.forms) database.exec(statements);
  const after = { updatedAt: 5, sid: 's' };
  const parts: readonly Partial<RecentQuery>[] = [
    {},
    { status: 'open' },
    { open: 'waiting' },
    { open: 'leased' },
    { reason: 'ERR_AGENT' },
  ];
  for (const part of parts)
    for (const more of [{}, { tenant: 't' }, { after }, { since: 1, until: 9 }, { tenant: 't', after, since: 1 }]) {
      const [rest] = recentSql({ ...part, ...more, limit: 9 });
      const sql = `EXPLAIN QUERY PLAN SELECT * FROM sessions AS s ${rest.replaceAll('$', '?')}`;
      const plan = database.prepare(sql).all();
      expect(plan.map(({ detail }) => detail)).toEqual([
        expect.stringMatching(/^S(EARCH|CAN) s USING INDEX sessions_(recent|status|reason)/),
      ]);
    }
});

it('issue 48: finds a page of 100,000 sessions in less than 300 ms of CPU time', SLOW, async () => {
  const folder = tempFolder();
  const file = join(folder, 's.db');
  await using store = await SqliteStore.open(file);
  await store.create(state('s'), 1, { ...PLAIN_SETUP, tenant: 'rare' });
  const { fence } = await store.claim('s', { owner: 'a', ms: 60_000 });
  await store.start(started('s'), fence);
  await store.commit({ ...commitOf('s', 1), fence });
  const database = new DatabaseSync(file);
  database.exec(`INSERT INTO sessions (sid, status, reason, next_turn, state, created_at, updated_at, tenant, profile, engine, reader, nested, idle_since)
    WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 100000)
    SELECT 's' || n, CASE n % 3 WHEN 0 THEN 'done' WHEN 1 THEN 'halted' ELSE 'open' END, CASE n % 3 WHEN 1 THEN 'ERR_AGENT' END, 2,
      json_set(state, '$.sid', 's' || n, '$.status', CASE n % 3 WHEN 0 THEN 'done' WHEN 1 THEN 'halted' ELSE 'open' END, '$.subject', 'x'),
      n, n + 10, 't' || n % 50, profile, engine, reader, nested, idle_since FROM sessions, n WHERE sid = 's'`);
  // The last ones have a turn each, of a usual size.
  database.exec(`INSERT INTO turns (sid, turn, decision, nonce, owed, record)
    SELECT s.sid, 1, decision, nonce, 0, json_set(record, '$.sid', s.sid, '$.output', printf('%6000d', 1))
    FROM sessions AS s, turns AS t WHERE t.sid = 's' AND s.updated_at > 98000`);
  database.close();
  for (const text of [
    '',
    'status:done',
    'status:running',
    'status:waiting',
    'reason:agent',
    'tenant:t7',
    'tenant:rare',
    'tenant:rare status:open',
    'since:1h',
    's99',
    'tool:none',
    'error:none',
    'none',
  ]) {
    const query = sessionQuery(text, NOW);
    const times: number[] = [];
    for (let round = 0; round < 3; round++) {
      const begun = process.cpuUsage();
      await searchSessions(store, query, { limit: 100 });
      const { user, system } = process.cpuUsage(begun);
      times.push((user + system) / 1000);
    }
    expect(Math.min(...times), text).toBeLessThan(300);
  }
});
