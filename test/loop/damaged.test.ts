import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { MemoryLog } from '../../src/loop/log/log.ts';
import { SessionCoordinator } from '../../src/loop/sessions/coordinator.ts';
import { eraseSession } from '../../src/loop/sessions/erase.ts';
import { SessionLeasedError } from '../../src/loop/sessions/errors.ts';
import { SqliteStore } from '../../src/loop/sessions/sqlite.ts';
import { commitOf, started } from '../../src/testing/contracts/samples.ts';
import { tempFolder } from '../folder.ts';
import { programAgent, TestClock, USERDATA } from './fake.ts';
import { controller } from './host.ts';

const folder = tempFolder();

let files = 0;

/** A store with the open session `s` after one turn, and what a test changes and sees in its file. */
async function stored({ own = false } = {}) {
  const [path, clock] = [join(folder, `${++files}.db`), new TestClock()];
  const store = await SqliteStore.open(path, { clock });
  const memory = new MemoryLog();
  const log = own ? store.log : memory;
  const { loop } = controller({ store, clock, log });
  await loop.open(USERDATA, 's');
  await loop.step('s', { agent: programAgent('continue') });
  const file = new DatabaseSync(path);
  const called = (owner: string, to: MemoryLog | typeof store.log = log) =>
    new SessionCoordinator({ store, log: to, clock, owner, leaseMs: 1000, replayTtl: 300 });
  const texts = () => ({
    state: file.prepare('SELECT state FROM sessions').get()?.['state'],
    started: file.prepare('SELECT started FROM sessions').all(),
    steps: file.prepare('SELECT body FROM steps').all(),
    turns: file.prepare('SELECT record FROM turns').all(),
  });
  return {
    ...{ store, clock, memory, loop, texts, called },
    change: (sql: string) => file.exec(sql),
    async [Symbol.asyncDispose]() {
      file.close();
      store[Symbol.dispose]();
    },
  };
}

/** A turn of `s` that was started, with a kept call. */
async function withTurn({ store }: Awaited<ReturnType<typeof stored>>): Promise<void> {
  const { fence } = await store.claim('s', { owner: 'a', ms: 10 });
  await store.start(started('s', 2), fence);
  await store.keep('s', { turn: 2, seq: 1, body: { a: 1 } }, fence);
  await store.release('s', fence);
}

describe('an open session that cannot be read', () => {
  it.each([
    ['state', `UPDATE sessions SET state = 'x'`],
    ['state of another form', `UPDATE sessions SET state = json_remove(state, '$.spent')`],
    ['status', `UPDATE sessions SET status = 'opne'`],
    ['count of turns', 'UPDATE sessions SET next_turn = 7'],
    ['configuration', `UPDATE sessions SET configuration = '['`],
    ['started turn', `UPDATE sessions SET started = '{'`],
    ['kept call', `UPDATE steps SET body = '{'`],
  ])('is cancelled with a damaged %s: its texts stay, its end is logged once', async (part, sql) => {
    await using kept = await stored();
    await withTurn(kept);
    kept.change(sql);
    const before = kept.texts();
    const problems: string[] = [];
    expect(await kept.called('me').cancel('s', ({ message }) => problems.push(message))).toBe(true);
    expect(problems).toEqual([expect.stringContaining('session "s"')]);
    const after = kept.texts();
    expect({ ...after, state: null }).toEqual({ ...before, state: null });
    if (part.startsWith('state')) expect(after.state).toBe(before.state);
    expect(await kept.store.summary('s')).toMatchObject({
      ...{ status: 'halted', reason: 'ERR_CANCELLED', turns: 1, lease: null, owed: 0, updatedAt: kept.clock.ms },
    });
    expect(kept.memory.entries.slice(1)).toMatchObject([{ SID: 's', turn_index: 2, decision: 'HALT', reason: 'ERR_CANCELLED' }]);
    expect(await kept.called('me').cancel('s')).toBe(false);
  });

  it('still says what is wrong with it, and can then be erased and removed', async () => {
    await using kept = await stored();
    kept.change(`UPDATE sessions SET state = 'x'`);
    expect(await kept.loop.cancel('s')).toBe(true);
    expect((await kept.store.summary('s'))?.damaged).toContain('session "s" in the store cannot be read');
    expect(await kept.store.turns('s')).toHaveLength(1);
    expect(await eraseSession(kept.store, 's')).toEqual(['s']);
    expect(kept.texts().state).toBe('{}');
    expect(await kept.store.prune({ before: kept.clock.ms + 1 })).toMatchObject([{ sid: 's' }]);
  });

  it('has its end in the log of the store, in the same transaction', async () => {
    await using kept = await stored({ own: true });
    kept.change(`UPDATE sessions SET state = 'x'`);
    expect(await kept.loop.cancel('s')).toBe(true);
    const lines: unknown[] = [];
    for await (const { text } of kept.store.log.lines()) lines.push(JSON.parse(text));
    expect(lines).toMatchObject([{ turn_index: 1 }, { turn_index: 2, reason: 'ERR_CANCELLED' }]);
    expect((await kept.store.summary('s'))?.owed).toBe(0);
  });

  it('logs the decisions that it owes before its end', async () => {
    await using kept = await stored();
    const { fence } = await kept.store.claim('s', { owner: 'a', ms: 10 });
    await kept.store.start(started('s', 2), fence);
    const { owner: _, ...commit } = commitOf('s', 2, { unlogged: true, keep: false });
    await kept.store.commit({ ...commit, fence });
    kept.change(`UPDATE sessions SET state = 'x'`);
    expect(await kept.called('me').cancel('s')).toBe(true);
    expect(kept.memory.entries.map(({ turn_index, reason = null }) => [turn_index, reason])).toEqual([
      [1, null],
      [2, 'ERR_INTERRUPTED'],
      [3, 'ERR_CANCELLED'],
    ]);
    expect((await kept.store.summary('s'))?.owed).toBe(0);
  });

  it('keeps a decision owed whose record cannot be read', async () => {
    await using kept = await stored();
    kept.change(`UPDATE turns SET record = 'x', owed = 1; UPDATE sessions SET owed = 1`);
    expect(await kept.called('me').cancel('s')).toBe(true);
    expect(await kept.store.summary('s')).toMatchObject({ status: 'halted', owed: 1, damaged: null });
    expect(await kept.store.prune({ before: Number.MAX_SAFE_INTEGER })).toEqual([]);
  });

  it('has its end logged by the next process when the one that ended it dies before that', async () => {
    await using kept = await stored();
    kept.change(`UPDATE sessions SET state = 'x'`);
    const full = new MemoryLog();
    full.append = () => Promise.reject(new Error('the disk is full'));
    await expect(kept.called('dead', full).cancel('s')).rejects.toThrow('the disk is full');
    expect(await kept.store.summary('s')).toMatchObject({ status: 'halted', owed: 1 });
    kept.clock.ms += 1000;
    const damaged: string[] = [];
    await kept.called('next').tend(undefined, (_, sid) => damaged.push(sid));
    expect(damaged).toEqual(['s']);
    expect(kept.memory.entries.slice(1)).toMatchObject([{ turn_index: 2, reason: 'ERR_CANCELLED' }]);
    expect(await kept.store.summary('s')).toMatchObject({ owed: 0, lease: null });
    expect(await kept.called('next').tend()).toEqual(new Set());
  });

  it('stays with the process that drives it, which is asked to end it', async () => {
    await using kept = await stored();
    const { fence } = await kept.store.claim('s', { owner: 'driver', ms: 1000 });
    kept.change(`UPDATE sessions SET state = 'x'`);
    expect(await kept.called('me').cancel('s')).toBe(true);
    expect(await kept.store.summary('s')).toMatchObject({ status: 'open', lease: { owner: 'driver' } });
    expect(await kept.store.renew([{ sid: 's', fence }], 1000)).toEqual(['cancelled']);
    const end = { reason: 'ERR_CANCELLED', at: 1, log: 'none' } as const;
    await expect(kept.store.endDamaged('s', { owner: 'me', ms: 10 }, end)).rejects.toThrow(SessionLeasedError);
  });

  it('is never ended by recovery alone', async () => {
    await using kept = await stored();
    kept.change(`UPDATE sessions SET state = 'x', end_owed = 1`);
    expect(await kept.called('me').tend()).toEqual(new Set(['s']));
    expect((await kept.store.summary('s'))?.status).toBe('open');
  });
});

it('a session that can be read is not ended as a damaged one', async () => {
  await using kept = await stored();
  const before = kept.texts();
  expect(await kept.store.endDamaged('s', { owner: 'me', ms: 10 }, { reason: 'ERR_CANCELLED', at: 1, log: 'own' })).toBeNull();
  expect(kept.texts()).toEqual(before);
  expect(await kept.store.summary('s')).toMatchObject({ status: 'open', lease: null });
});
