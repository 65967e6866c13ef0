import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NO_PROGRESS_YET, ReplayCache } from '../../../src/aeiou/index.ts';
import {
  type CallErrorCode,
  MemoryStore,
  readReply,
  runTurn,
  runtimeExecutor,
  SqliteStore,
  SuspendedError,
  seededIds,
} from '../../../src/loop/index.ts';
import { replayTurn } from '../../../src/loop/replay/turn.ts';
import { defineTool } from '../../../src/tools/index.ts';
import { tempFolder } from '../../folder.ts';
import { SLOW } from '../../groups.ts';
import { newKeyring, reply, TestClock, USERDATA } from '../fake.ts';
import { agentOf, approval, counter, openHost, SESSION, TURN } from './stage.ts';

const folder = tempFolder();

const agent = agentOf(TURN);

describe('a turn that waits', () => {
  it('stops at the call, is shown in the list, and goes on in another process with the same output and fuel', async () => {
    const path = join(folder, 'one.db');
    const clock = new TestClock();
    const world = counter();
    // What the same turn does when its tool answers at once.
    await using atOnce = await openHost(
      [
        counter().tool,
        defineTool({ name: 'tool.human.Approve', args: [{ name: 'what', type: 'string' }], returns: 'bool', run: () => true }),
      ],
      { clock },
    );
    const straight = (await atOnce.loop.runLoop({ ...SESSION, agent })).turns[0];
    {
      using store = await SqliteStore.open(path, { clock });
      await using first = await openHost([world.tool, approval()], { store, clock });
      const events: string[] = [];
      const waits = await first.loop.runLoop({ ...SESSION, agent, onEvent: ({ type }) => events.push(type) });
      expect(waits).toMatchObject({ decision: 'SUSPENDED', reason: null, error: null, turns: [] });
      expect(waits.waiting).toEqual({
        call: '1.2',
        turn: 1,
        tool: 'tool.human.approve',
        args: ['go on'],
        reason: 'may I go on?',
        since: clock.ms,
        expiresAt: clock.ms + 7 * 86_400_000,
        completed: false,
        answer: 'truth',
      });
      expect(events.at(-1)).toBe('suspended');
      expect(await first.loop.list()).toMatchObject([
        { sid: 's', status: 'open', started: 1, lease: null, waits: waits.waiting },
      ]);
      expect(await first.loop.recover()).toEqual([]);
      expect(world.calls).toBe(1);
    }
    using store = await SqliteStore.open(path, { clock });
    await using second = await openHost([world.tool, approval()], { store, clock });
    expect(await second.loop.resume('s', { agent })).toMatchObject({ decision: 'SUSPENDED' });
    expect(await second.loop.complete('s', '1.2', { result: true })).toMatchObject({ completed: true });
    expect(await second.loop.recover()).toEqual(['s']);
    const done = await second.loop.resume('s', { agent, keepTurns: true });
    expect(done).toMatchObject({ decision: 'DONE', turns: [{ turn: 1 }] });
    const [record] = done.turns;
    // The first effect is not had again, and the nonce is the turn's own: its token verified.
    expect(world.calls).toBe(2);
    expect(record?.output.split('\n').slice(0, 3)).toEqual(['before 1', 'approved: true', '2']);
    expect(record?.output).toBe(straight?.output);
    expect(record?.usage.fuel).toBe(straight?.usage.fuel);
    expect(record?.journal.map(({ outcome }) => outcome)).toEqual(straight?.journal.map(({ outcome }) => outcome));
    if (record === undefined) throw new Error('no record');
    expect(await replayTurn(second.runtime, record)).toMatchObject({ verdict: 'same', faults: [] });
  });

  it('may wait several times, and may ask for variables before', async () => {
    const tool = defineTool({
      name: 'tool.human.Ask',
      run: async (_, runtime) => {
        await runtime.setVar('asked', (Number(await runtime.getVar('asked')) || 0) + 1);
        return runtime.pending({ reason: 'what now?' });
      },
    });
    await using host = await openHost([tool]);
    const program = agentOf(
      'command\n set asked = 0\n emit tool.human.Ask()\n emit tool.human.Ask()\n emit asked\n emit tool.aeiou.magic("LOOP", {"action": "done"})\nendcommand',
    );
    expect(await host.loop.runLoop({ ...SESSION, agent: program })).toMatchObject({ waiting: { call: '1.1' } });
    await host.loop.complete('s', '1.1', { result: 'left' });
    expect(await host.loop.resume('s', { agent: program })).toMatchObject({ waiting: { call: '1.2' } });
    await host.loop.complete('s', '1.2', { result: 'right' });
    const done = await host.loop.resume('s', { agent: program });
    expect(done.turns[0]?.output).toMatch(/^left\nright\n2\n/);
    if (done.turns[0] === undefined) throw new Error('no record');
    expect(await replayTurn(host.runtime, done.turns[0])).toMatchObject({ verdict: 'same' });
  });

  it('goes on with an error that the program can catch', async () => {
    await using host = await openHost([counter().tool, approval()]);
    await host.loop.runLoop({
      ...SESSION,
      agent: agentOf(TURN.replace('set ok', 'on error do\n emit "caught"\n clear_error\n endon\n set ok = false\n set ok')),
    });
    await host.loop.complete('s', '1.2', { error: { message: 'nobody is here' } });
    const done = await host.loop.resume('s', { agent });
    expect(done.turns[0]?.output).toContain('caught');
    expect(done.turns[0]?.journal[1]?.outcome).toEqual({ ok: false, code: 21, message: 'nobody is here' });
  });

  it('a tool makes its result of the answer: the place for a gate', async () => {
    const seen: unknown[] = [];
    const gated = defineTool({
      name: 'tool.human.Approve',
      args: [{ name: 'what', type: 'string' }],
      returns: 'string',
      run: ({ what }, runtime) => runtime.pending({ reason: what }),
      complete: (answer, { what }) => {
        seen.push(answer);
        return `${what} under ${String(answer)}`;
      },
    });
    await using host = await openHost([counter().tool, gated]);
    await host.loop.runLoop({ ...SESSION, agent });
    await host.loop.complete('s', '1.2', { result: 'order 66' });
    const done = await host.loop.resume('s', { agent });
    expect(done.turns[0]?.output).toContain('approved: go on under order 66');
    expect(seen).toEqual(['order 66']);
  });

  it('step rejects with SuspendedError, and takes the turn once it can', async () => {
    await using host = await openHost([counter().tool, approval()]);
    await host.loop.open(USERDATA, 's');
    await expect(host.loop.step('s', { agent })).rejects.toThrow(SuspendedError);
    await expect(host.loop.step('s', { agent })).rejects.toMatchObject({ code: 'ERR_SUSPENDED', waiting: { call: '1.2' } });
    await host.loop.complete('s', '1.2', { result: false });
    expect(await host.loop.step('s', { agent })).toMatchObject({ turn: 1, decision: 'DONE' });
  });

  it('where nobody keeps the run, the call fails with code 19', async () => {
    await using host = await openHost([counter().tool, approval()]);
    const plain = await host.runtime.run('command\n emit tool.human.Approve("x")\nendcommand');
    expect(plain).toMatchObject({ ok: false, error: { code: 'NS19' } });
    expect(plain.error?.message).toContain('will answer later');
    const clock = new TestClock();
    const turnHost = {
      executor: runtimeExecutor(host.runtime),
      keyring: newKeyring('test', clock),
      clock,
      ids: seededIds('x'),
      replay: new ReplayCache({ clock }),
    };
    const input = readReply({ userdata: JSON.stringify(USERDATA), output: null, scratchpad: null }, reply(TURN));
    const { record } = await runTurn(turnHost, { sid: 's', turn: 1, input, progress: NO_PROGRESS_YET });
    expect(record).toMatchObject({ decision: 'HALT', reason: 'ERR_EXEC', error: { code: 'NS19' } });
  });

  it('a controller may forbid it', async () => {
    await using host = await openHost([counter().tool, approval()], { mayWait: false });
    expect(await host.loop.runLoop({ ...SESSION, agent })).toMatchObject({ decision: 'HALT', error: { code: 'NS19' } });
  });

  it('time limits count what it computes and what its tools took, not what it waited', SLOW, async () => {
    const slow = defineTool({ name: 'tool.world.Effect', run: () => new Promise((done) => setTimeout(done, 600, 1)) });
    await using host = await openHost([slow, approval()], { limits: { wallMs: 5_000 } });
    await host.loop.runLoop({ ...SESSION, agent });
    host.clock.ms += 3_600_000;
    await host.loop.complete('s', '1.2', { result: true });
    const done = await host.loop.resume('s', { agent });
    expect(done.decision).toBe('DONE');
    await using tight = await openHost([slow, approval()], { limits: { wallMs: 1100 }, clock: host.clock });
    await tight.loop.runLoop({ ...SESSION, agent });
    await tight.loop.complete('s', '1.2', { result: true });
    // 600 ms of the first call and 600 of the second are more than 1,100.
    expect(await tight.loop.resume('s', { agent })).toMatchObject({ decision: 'HALT', reason: 'ERR_TIMEOUT' });
  });

  it('a process that dies while it goes on leaves it to others, with the answer it has', SLOW, async () => {
    const clock = new TestClock();
    const store = new MemoryStore({ clock });
    let calls = 0;
    const hung = Promise.withResolvers<void>();
    // The second call never ends in the process that dies.
    const effect = (dies: boolean) =>
      defineTool({
        name: 'tool.world.Effect',
        run: () => {
          calls += 1;
          if (!dies || calls < 2) return calls;
          hung.resolve();
          return new Promise<number>(() => {});
        },
      });
    const dying = await openHost([effect(true), approval()], { store, clock });
    await dying.loop.runLoop({ ...SESSION, agent });
    await dying.loop.complete('s', '1.2', { result: true });
    const lost = dying.loop.resume('s', { agent }).catch((error: unknown) => error);
    await hung.promise;
    // It holds the lease until it has been silent for too long.
    await using other = await openHost([effect(false), approval()], { store, clock });
    await expect(other.loop.resume('s', { agent })).rejects.toMatchObject({ code: 'ERR_SESSION_LEASED' });
    clock.ms += 60_000;
    expect(await other.loop.list()).toMatchObject([{ started: 1, waits: { call: '1.2', completed: true } }]);
    const done = await other.loop.resume('s', { agent });
    expect(done).toMatchObject({ decision: 'DONE' });
    expect(done.turns[0]?.output).toMatch(/^before 1\napproved: true\n3\n/);
    await dying.runtime.close();
    expect(await lost).toBeInstanceOf(Error);
    expect(await store.turns('s')).toHaveLength(1);
  });

  it('a token minted before the wait is as old as it is', async () => {
    await using host = await openHost([approval()]);
    const early = agentOf(
      'command\n set t = tool.aeiou.magic("LOOP", {"action": "done"})\n set ok = tool.human.Approve("x")\n emit t\nendcommand',
    );
    await host.loop.runLoop({ ...SESSION, agent: early });
    host.clock.ms += 3_600_000;
    await host.loop.complete('s', '1.2', { result: true });
    expect(await host.loop.resume('s', { agent: early })).toMatchObject({ decision: 'HALT', reason: 'ERR_TOKEN_TTL' });
  });
});

describe('a call that cannot be completed', () => {
  const refusal = async (work: Promise<unknown>): Promise<CallErrorCode> => {
    const error: unknown = await work.then(
      () => null,
      (cause: unknown) => cause,
    );
    if (error instanceof Error && 'code' in error) return error.code as CallErrorCode;
    throw new Error('it was completed');
  };

  it('is unknown, completed before, of a wrong type, cancelled, expired, or of a tool that changed', async () => {
    await using host = await openHost([counter().tool, approval()]);
    const { loop } = host;
    await loop.runLoop({ ...SESSION, agent });
    for (const id of ['1.1', '1.3', '2.1', '', '1.2.3', 'x'])
      expect(await refusal(loop.complete('s', id, { result: true }))).toBe(
        id === '1.1' ? 'ERR_CALL_COMPLETED' : 'ERR_CALL_UNKNOWN',
      );
    expect(await refusal(loop.complete('s', '1.2', { result: { no: 'bool' } }))).toBe('ERR_CALL_TYPE');
    // Finding 9: JSON would make an empty map, an empty map, nil and 0 of these.
    for (const result of [new Map([['a', true]]), new Error('x'), Number.NaN, -0])
      expect(await refusal(loop.complete('s', '1.2', Object.assign({ result: null }, { result })))).toBe('ERR_CALL_TYPE');
    expect(await refusal(loop.complete('other', '1.2', { result: true }))).toBe('ERR_SESSION_STATE');
    await loop.complete('s', '1.2', { result: true });
    expect(await refusal(loop.complete('s', '1.2', { result: false }))).toBe('ERR_CALL_COMPLETED');
    const done = await loop.resume('s', { agent });
    expect(done.turns[0]?.output).toContain('approved: true');
    expect(await refusal(loop.complete('s', '1.2', { result: false }))).toBe('ERR_CALL_COMPLETED');
  });

  it('cancelled: the session ends with ERR_CANCELLED, and keeps what was called', async () => {
    await using host = await openHost([counter().tool, approval()]);
    await host.loop.runLoop({ ...SESSION, agent });
    expect(await host.loop.cancel('s')).toBe(true);
    expect(await refusal(host.loop.complete('s', '1.2', { result: true }))).toBe('ERR_CALL_CANCELLED');
    expect(await host.loop.list()).toMatchObject([{ status: 'halted', reason: 'ERR_CANCELLED', waits: null, started: null }]);
  });

  it('cancelled in the moment in which it begins to wait: the session ends, and the result says so', async () => {
    await using host = await openHost([counter().tool, approval()]);
    let cancelled: Promise<boolean> | null = null;
    const end = await host.loop.runLoop({
      ...SESSION,
      agent,
      onEvent({ type }) {
        if (type === 'suspended') cancelled = host.loop.cancel('s');
      },
    });
    expect(await cancelled).toBe(true);
    expect(end).toMatchObject({ decision: 'HALT', reason: 'ERR_CANCELLED', error: { code: 'ERR_CANCELLED' } });
    expect(end).not.toHaveProperty('waiting');
    expect(await host.loop.list()).toMatchObject([{ status: 'halted', reason: 'ERR_CANCELLED', waits: null, started: null }]);
  });

  it.each(['consult', 'resume'] as const)('cancelled while %s finds that it still waits: the session ends', async (method) => {
    const store = new MemoryStore({ clock: new TestClock() });
    await using host = await openHost([counter().tool, approval()], { store });
    await host.loop.runLoop({ ...SESSION, agent });
    const release = store.release.bind(store);
    let cancelled: Promise<boolean> | null = null;
    store.release = (sid, fence) => {
      store.release = release;
      cancelled = host.loop.cancel('s');
      return release(sid, fence);
    };
    await host.loop[method]('s', { agent });
    expect(await cancelled).toBe(true);
    expect(await host.loop.list()).toMatchObject([{ status: 'halted', reason: 'ERR_CANCELLED', waits: null, started: null }]);
  });

  it.each(['halt', 'error'] as const)('expired, policy %s', async (onExpired) => {
    await using host = await openHost([counter().tool, approval({ expiresIn: 1000 })], { onExpired });
    await host.loop.runLoop({ ...SESSION, agent });
    host.clock.ms += 1000;
    expect(await refusal(host.loop.complete('s', '1.2', { result: true }))).toBe('ERR_CALL_EXPIRED');
    expect(await host.loop.recover()).toEqual(['s']);
    const end = await host.loop.resume('s', { agent, maxReasks: 0 });
    const { decision, reason, error } = end;
    if (onExpired === 'halt') {
      expect({ decision, reason }).toEqual({ decision: 'HALT', reason: 'ERR_CALL_EXPIRED' });
      expect(error?.message).toMatch(/turn 1 was started and not decided: it waited for call 1\.2 of tool\.\S+$/);
    } else expect({ decision, reason, code: error?.code }).toEqual({ decision: 'HALT', reason: 'ERR_EXEC', code: 'NS37' });
    expect(await refusal(host.loop.complete('s', '1.2', { result: true }))).toBe(
      onExpired === 'halt' ? 'ERR_CALL_EXPIRED' : 'ERR_CALL_COMPLETED',
    );
  });

  it('changed: nothing runs with the new tool, unless that was accepted', async () => {
    const clock = new TestClock();
    const store = new MemoryStore({ clock });
    const world = counter();
    {
      await using old = await openHost([world.tool, approval()], { store, clock });
      await old.loop.runLoop({ ...SESSION, agent });
    }
    for (const tools of [[world.tool], [world.tool, approval({ returns: 'string' })]]) {
      await using other = await openHost(tools, { store, clock });
      expect(await refusal(other.loop.complete('s', '1.2', { result: true }))).toBe('ERR_CALL_CHANGED');
    }
    {
      await using same = await openHost([world.tool, approval()], { store, clock });
      await same.loop.complete('s', '1.2', { result: true });
    }
    await using other = await openHost([world.tool, approval({ returns: 'any' })], { store, clock });
    expect(await refusal(other.loop.resume('s', { agent }))).toBe('ERR_CALL_CHANGED');
    expect(world.calls).toBe(1);
    expect(await other.loop.list()).toMatchObject([{ status: 'open', lease: null, waits: { completed: true } }]);
  });

  it('changed and accepted: the session goes on', async () => {
    const clock = new TestClock();
    const store = new MemoryStore({ clock });
    const world = counter();
    {
      await using old = await openHost([world.tool, approval()], { store, clock });
      await old.loop.runLoop({ ...SESSION, agent });
    }
    await using other = await openHost([world.tool, approval({ returns: 'string' })], { store, clock });
    await other.loop.complete('s', '1.2', { result: 'yes' }, { acceptChanged: true });
    expect((await other.loop.resume('s', { agent })).turns[0]?.output).toContain('approved: yes');
  });
});

describe('200 turns that wait', () => {
  it('hold no worker and no isolate, and under 64 KiB of the store each', { ...SLOW, timeout: 60_000 }, async () => {
    const path = join(folder, 'many.db');
    using store = await SqliteStore.open(path);
    await using host = await openHost([counter().tool, approval()], { store });
    for (let i = 0; i < 200; i += 1) {
      const result = await host.loop.runLoop({ ...SESSION, sid: `s${i}`, agent });
      expect(result.decision).toBe('SUSPENDED');
    }
    expect((await host.loop.list()).filter(({ waits, lease }) => waits !== null && lease === null)).toHaveLength(200);
    const { DatabaseSync } = await import('node:sqlite');
    using database = new DatabaseSync(path, { readOnly: true });
    const [{ most, pages, size } = { most: 0, pages: 0, size: 0 }] = database
      .prepare(
        'SELECT (SELECT max(length(started) + length(waits)) FROM sessions) AS most, page_count AS pages, page_size AS size FROM pragma_page_count, pragma_page_size',
      )
      .all();
    expect(Number(most)).toBeLessThan(64 * 1024);
    expect((Number(pages) * Number(size)) / 200).toBeLessThan(64 * 1024);
    if (process.env['NEUROSCRIPT_FIGURES'] !== undefined)
      process.stdout.write(`${String(most)} bytes each; ${(Number(pages) * Number(size)) / 200} of the file\n`);
    // The one worker is free for others.
    expect((await host.runtime.run('command\n emit 1\nendcommand')).emits).toEqual(['1']);
  });
});
