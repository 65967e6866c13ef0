import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { MintLedger } from '../../src/aeiou/index.ts';
import { LoopController, runtimeExecutor, SqliteStore } from '../../src/loop/index.ts';
import { createRuntime, type Runtime } from '../../src/runtime/index.ts';
import { StoreError } from '../../src/sqlite/error.ts';
import { defineTool } from '../../src/tools/index.ts';
import { tempFolder } from '../folder.ts';
import { newKeyring, TestClock, USERDATA } from './fake.ts';
import { agentOf, approval } from './suspend/stage.ts';

/*
 * A host reads its own store after others have written to it: sessions that wait, or whose turn was interrupted, are refused in words
 * that name them, and the other sessions stay readable.
 */

const PROGRAM = `command
  set n = tool.world.Effect()
  set ok = tool.human.Approve("go on")
  emit tool.aeiou.magic("LOOP", {"action": "done"})
endcommand`;
const agent = agentOf(PROGRAM);

const folder = tempFolder();
let runtime: Runtime;
beforeAll(async () => {
  const effect = defineTool({ name: 'tool.world.Effect', run: () => 1 });
  runtime = await createRuntime({ tools: [effect, approval()], policy: { allow: ['*'] }, concurrency: 1 });
});
afterAll(() => runtime.close());

/** A store with the session `s` and another one, which both wait for their second call; `sql` has changed it. */
async function changed(sql: string, ...values: readonly (string | bigint)[]) {
  const path = join(folder, `${randomUUID()}.db`);
  const clock = new TestClock();
  const loopOn = (store: SqliteStore) =>
    new LoopController({ executor: runtimeExecutor(runtime), keyring: newKeyring('h', clock), clock, store, durable: 'call' });
  {
    using store = await SqliteStore.open(path, { clock });
    for (const sid of ['other', 's']) await loopOn(store).runLoop({ userdata: USERDATA, sid, agent });
  }
  const change = (sql: string, ...values: readonly (string | bigint)[]): void => {
    const file = new DatabaseSync(path);
    file.prepare(sql).run(...values);
    file.close();
  };
  change(sql, ...values);
  const store = await SqliteStore.open(path, { clock });
  return { loop: loopOn(store), change, [Symbol.dispose]: () => store[Symbol.dispose]() };
}

const inBody = (path: string, json: string): readonly [string, string] => [
  `UPDATE sessions SET started = json_set(started, '${path}', json(?)) WHERE sid = 's'`,
  json,
];

const DIED = `UPDATE sessions SET started = json_set(started, '$.suspended', null, '$.attempt', 1), waits = NULL WHERE sid = 's'`;

describe('a store to which others have written', () => {
  it.each<readonly [string, string, string]>([
    ['no place of the waiting call', ...inBody('$.suspended.waiting.at', 'null')],
    ['no answer and no lack of one', ...inBody('$.suspended.completion', '"x"')],
    ['no list of further calls', ...inBody('$.suspended.alsoWaiting', '{}')],
    ['a call that is none', ...inBody('$.suspended.earlier.journal[0]', 'null')],
    ['the turn of another session', ...inBody('$.sid', '"other"')],
    ['another turn', ...inBody('$.turn', '2')],
    ['a start at no date', ...inBody('$.startedAt', '1e300')],
  ])('has a turn that waits with %s', async (_, sql, json) => {
    using host = await changed(sql, json);
    const refusal = /started turn of session "s" in the store cannot be read/;
    await expect(host.loop.complete('s', '1.2', { result: true })).rejects.toThrow(refusal);
    await expect(host.loop.resume('s', { agent })).rejects.toThrow(StoreError);
    expect(await host.loop.cancel('s')).toBe(true);
    expect((await host.loop.list()).map(({ status }) => status)).toEqual(['open', 'halted']);
    await host.loop.complete('other', '1.2', { result: true });
    expect(await host.loop.resume('other', { agent })).toMatchObject({ decision: 'DONE' });
  });

  it.each([
    ['the state of another session', `json_set(state, '$.sid', 'other')`, 'it is of session "other", not "s"'],
    ['another turn', `json_set(state, '$.nextTurn', 7)`, 'its row and its state differ in the next turn'],
    ['another status', `json_set(state, '$.status', 'done')`, 'its row and its state differ in the status'],
  ])('has a session with %s: it writes to no session', async (_, state, problem) => {
    using host = await changed(`UPDATE sessions SET state = ${state} WHERE sid = 's'`);
    await expect(host.loop.complete('s', '1.2', { result: true })).rejects.toThrow(problem);
    const [other, own] = await host.loop.list();
    expect([other?.damaged, other?.waits?.completed]).toEqual([null, false]);
    expect(own?.damaged).toContain(`session "s" in the store cannot be read: ${problem}`);
    expect(await host.loop.cancel('s')).toBe(true);
    expect((await host.loop.list()).map(({ status, reason }) => [status, reason])).toEqual([
      ['open', null],
      ['halted', 'ERR_CANCELLED'],
    ]);
  });

  it('has a turn that minted many tokens: it goes on without counting each again', async () => {
    using host = await changed(...inBody('$.suspended.earlier.mints', '100000'));
    await host.loop.complete('s', '1.2', { result: true });
    const counted = vi.spyOn(MintLedger.prototype, 'countMint');
    expect(await host.loop.resume('s', { agent, maxReasks: 0 })).toMatchObject({ decision: 'HALT' });
    expect(counted.mock.calls.length).toBeLessThanOrEqual(1);
    counted.mockRestore();
  });

  it('has a step of a turn that died, which cannot be read', async () => {
    using host = await changed(DIED);
    expect(await host.loop.resume('s', { agent })).toMatchObject({ decision: 'SUSPENDED' });
    using broken = await changed(DIED);
    broken.change(`UPDATE steps SET body = json_set(body, '$.entry.at', null) WHERE sid = 's' AND seq = 1`);
    await expect(broken.loop.resume('s', { agent })).rejects.toThrow(
      /the steps of the started turn of session "s" cannot be read: entry\.at/,
    );
  });

  it.each([
    ['created_at', 9223372036854775807n],
    ['updated_at', 9223372036854775807n],
    ['lease_until', 9223372036854775807n],
    ['cancelled', -9223372036854775808n],
  ])('has a number in %s that JavaScript lacks: every session is listed', async (column, value) => {
    using host = await changed(`UPDATE sessions SET ${column} = ? WHERE sid = 's'`, value);
    expect((await host.loop.list()).map(({ sid }) => sid)).toEqual(['other', 's']);
  });

  it('has a turn count that JavaScript lacks: the session is damaged, not the store', async () => {
    using host = await changed(`UPDATE sessions SET next_turn = ? WHERE sid = 's'`, 9223372036854775807n);
    expect((await host.loop.list()).map(({ damaged }) => damaged === null)).toEqual([true, false]);
    await expect(host.loop.resume('s', { agent })).rejects.toThrow();
    expect(await host.loop.cancel('s')).toBe(true);
    expect((await host.loop.list()).map(({ status, turns }) => [status, turns])).toEqual([
      ['open', 0],
      ['halted', 0],
    ]);
  });

  it('has a lease until no date: the refusal names the holder', async () => {
    using host = await changed(`UPDATE sessions SET lease_owner = 'x', lease_until = 9000000000000000 WHERE sid = 's'`);
    await expect(host.loop.complete('s', '1.2', { result: true })).rejects.toThrow('it is held by x until 9000000000000000');
  });

  it('owes an end at no date to the log', async () => {
    using host = await changed(`UPDATE sessions SET end_owed = 1, updated_at = 9000000000000000 WHERE sid = 's'`);
    await expect(host.loop.complete('s', '1.2', { result: true })).rejects.toThrow(
      'session "s" in the store cannot be read: it ended at no date, 9000000000000000',
    );
  });
});
