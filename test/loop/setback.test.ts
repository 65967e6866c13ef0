import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { LoopController } from '../../src/loop/controller.ts';
import { verifyChain } from '../../src/loop/log/chain.ts';
import { FileLog } from '../../src/loop/log/filelog.ts';
import type { LogEntry } from '../../src/loop/log/log.ts';
import { SqliteStore } from '../../src/loop/sessions/sqlite.ts';
import { tempFolder } from '../folder.ts';
import { fakeExecutor, newKeyring, type Program, programAgent, TestClock, USERDATA } from './fake.ts';

const on: Program = async ({ emit, magic, context }) => {
  emit(`turn ${context.turnIndex}`);
  emit(await magic('continue'));
};

it('finding 15: a store that was set back decides no turn a second time, and its sessions can be cancelled', async () => {
  const folder = tempFolder();
  const [path, backup, logPath] = ['store.db', 'backup.db', 'log.jsonl'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const clock = new TestClock();
  const agent = programAgent('on', 'on', 'on');
  /** Runs a new host over the store, as after a restart. */
  const host = async (work: (loop: LoopController, calls: () => number) => Promise<void>): Promise<void> => {
    using store = await SqliteStore.open(path);
    const executor = fakeExecutor({ on });
    await work(
      new LoopController({ executor, keyring: newKeyring('test', clock), clock, store, log: new FileLog(logPath) }),
      () => executor.spy.calls.length,
    );
  };
  await host(async (loop) => {
    await loop.open(USERDATA, 's');
    await loop.step('s', { agent });
  });
  await copyFile(path, backup);
  await host(async (loop) => {
    expect(await loop.step('s', { agent })).toMatchObject({ turn: 2, decision: 'CONTINUE' });
  });
  await copyFile(backup, path);
  await host(async (loop, calls) => {
    const refused = { code: 'ERR_STORE', detail: 'order', message: expect.stringMatching(/turn 2 of session "s".*set back/) };
    await expect(loop.step('s', { agent })).rejects.toMatchObject(refused);
    await expect(loop.resume('s', { agent })).rejects.toMatchObject(refused);
    expect(calls()).toBe(0);
    expect(await loop.cancel('s')).toBe(true);
    expect((await loop.list())[0]).toMatchObject({ status: 'halted', reason: 'ERR_CANCELLED', lease: null, owed: 0 });
  });
  expect(await verifyChain([logPath])).toMatchObject({ ok: true, lines: 2 });
});

it('finding 15: a store that was set back to before a session was opened opens no other one in its place', async () => {
  const folder = tempFolder();
  const [path, logPath] = [join(folder, 'store.db'), join(folder, 'log.jsonl')];
  const clock = new TestClock();
  const done: Program = async ({ emit, magic }) => emit(await magic('done'));
  const host = async (file: string, work: (loop: LoopController) => Promise<void>): Promise<void> => {
    using store = await SqliteStore.open(file);
    const executor = fakeExecutor({ on, done });
    await work(new LoopController({ executor, keyring: newKeyring('test', clock), clock, store, log: new FileLog(logPath) }));
  };
  await host(path, async (loop) => {
    for (const [sid, program] of [
      ['goes on', 'on'],
      ['ended', 'done'],
    ] as const) {
      await loop.open(USERDATA, sid.replace(' ', '-'));
      await loop.step(sid.replace(' ', '-'), { agent: programAgent(program) });
    }
  });
  await host(join(folder, 'earlier.db'), async (loop) => {
    const refused = {
      code: 'ERR_STORE',
      detail: 'order',
      message: expect.stringMatching(/"goes-on" goes on after turn 1.*set back/),
    };
    await expect(loop.open(USERDATA, 'goes-on')).rejects.toMatchObject(refused);
    await expect(loop.runLoop({ userdata: USERDATA, sid: 'goes-on', agent: programAgent('on') })).rejects.toMatchObject(refused);
    expect(await loop.list()).toEqual([]);
    // An id may be used again after its session, and new ids need no look at the log.
    expect(await loop.open(USERDATA, 'ended')).toBe('ended');
    expect(await loop.runLoop({ userdata: USERDATA, agent: programAgent('done') })).toMatchObject({ decision: 'DONE' });
  });
  await host(path, async (loop) => {
    await expect(loop.open(USERDATA, 'goes-on')).rejects.toMatchObject({ code: 'ERR_SESSION_EXISTS' });
  });
});

it('finding 15: a log says where a turn is decided a second time; an id may be used again after its session', async () => {
  const entry = (turn: number, decision: LogEntry['decision']): LogEntry => ({
    ...{ ts: '2024-08-30T10:05:45.000Z', SID: 's', turn_index: turn, decision },
    ...{ latency_ms: 0, output_bytes: 0, scratch_bytes: 0 },
  });
  const verified = async (...entries: readonly LogEntry[]) => {
    const path = join(tempFolder(), 'log.jsonl');
    const log = new FileLog(path);
    for (const each of entries) await log.append(each);
    return verifyChain([path]);
  };
  const why = expect.stringMatching(/^turn 1 of session "s" was decided before/);
  expect(await verified(entry(1, 'CONTINUE'), entry(2, 'CONTINUE'), entry(1, 'DONE'))).toMatchObject({
    ok: true,
    repeated: { line: 3, why },
  });
  expect(await verified(entry(1, 'CONTINUE'), entry(2, 'DONE'), entry(2, 'DONE'))).toMatchObject({ repeated: { line: 3 } });
  const whole = { ok: true, lines: 3, head: expect.stringMatching(/^[0-9a-f]{64}$/) };
  expect(await verified(entry(1, 'CONTINUE'), entry(2, 'DONE'), entry(1, 'DONE'))).toEqual(whole);
  expect(await verified(entry(0, 'HALT'), entry(0, 'HALT'), entry(1, 'DONE'))).toEqual(whole);
});
