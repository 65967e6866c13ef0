import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SqliteStore } from '../../../src/loop/index.ts';
import { sessionLine } from '../../../src/report/index.ts';
import { defineTool } from '../../../src/tools/index.ts';
import { tempFolder } from '../../folder.ts';
import { TestClock } from '../fake.ts';
import { agentOf, approval, counter, openHost, SESSION } from './stage.ts';

const folder = tempFolder();

const TURN = `command
  together
    set first = tool.human.Approve("one")
    set n = tool.world.Effect()
    set second = tool.human.Approve("two")
    set m = tool.world.Effect()
    set third = tool.human.Approve("three")
  endtogether
  emit [first, second, third, n, m]
  emit tool.world.Effect()
  emit tool.aeiou.magic("LOOP", {"action": "done"})
endcommand`;
const agent = agentOf(TURN);

describe('several calls of a turn that wait', () => {
  it('are listed, completed one by one in any order, and go on in another process without a call made twice', async () => {
    const path = join(folder, 'three.db');
    const clock = new TestClock();
    const world = counter();
    const atOnce = defineTool({
      name: 'tool.human.Approve',
      args: [{ name: 'what', type: 'string' }],
      returns: 'bool',
      run: ({ what }) => what !== 'two',
    });
    await using straight = await openHost([counter().tool, atOnce], { clock });
    const [expected] = (await straight.loop.runLoop({ ...SESSION, agent, keepTurns: true })).turns;
    {
      using store = await SqliteStore.open(path, { clock });
      await using host = await openHost([world.tool, approval()], { store, clock });
      const { decision, waiting } = await host.loop.runLoop({ ...SESSION, agent });
      expect(decision).toBe('SUSPENDED');
      expect([waiting, ...(waiting?.also ?? [])].map((call) => [call?.call, call?.args[0], call?.completed])).toEqual([
        ['1.1', 'one', false],
        ['1.3', 'two', false],
        ['1.5', 'three', false],
      ]);
      const [summary] = await host.loop.list();
      expect(summary?.waits).toEqual(waiting);
      if (summary === undefined) throw new Error('no session');
      const line = sessionLine(summary);
      for (const call of ['1.1', '1.3', '1.5']) expect(line).toContain(`waits for call ${call} of tool.human.approve`);
      expect(world.calls).toBe(2);
    }
    for (const [call, result] of [
      ['1.5', true],
      ['1.1', true],
      ['1.3', false],
    ] as const) {
      using store = await SqliteStore.open(path, { clock });
      await using host = await openHost([world.tool, approval()], { store, clock });
      expect(await host.loop.recover()).toEqual([]);
      expect(await host.loop.resume('s', { agent })).toMatchObject({ decision: 'SUSPENDED' });
      expect(await host.loop.complete('s', call, { result })).toMatchObject({ call, completed: true });
      await expect(host.loop.complete('s', call, { result })).rejects.toMatchObject({ code: 'ERR_CALL_COMPLETED' });
    }
    using store = await SqliteStore.open(path, { clock });
    await using host = await openHost([world.tool, approval()], { store, clock });
    expect(await host.loop.recover()).toEqual(['s']);
    const done = await host.loop.resume('s', { agent, keepTurns: true });
    expect(done.decision).toBe('DONE');
    const [record] = done.turns;
    expect(world.calls).toBe(3);
    expect(record?.output.split('\n').slice(0, 2)).toEqual(['[true, false, true, 1, 2]', '3']);
    expect(record?.output.split('\n')[0]).toBe(expected?.output.split('\n')[0]);
    expect(record?.usage.fuel).toBe(expected?.usage.fuel);
    expect(record?.journal.map(({ seq, outcome }) => [seq, outcome])).toEqual(
      expected?.journal.map(({ seq, outcome }) => [seq, outcome]),
    );
    expect(record?.repeats).toBeUndefined();
  });

  it('fail one by one when they expire, while the others wait on', async () => {
    const clock = new TestClock();
    const source = `command
  on error do
    emit system_error.message
    clear_error
  endon
  together
    set a = tool.human.Soon("a")
    set b = tool.human.Approve("b")
  endtogether
  emit b
  emit tool.aeiou.magic("LOOP", {"action": "done"})
endcommand`;
    const soon = defineTool({
      name: 'tool.human.Soon',
      args: [{ name: 'what', type: 'string' }],
      run: (_, runtime) => runtime.pending({ reason: 'soon', expiresIn: 1000 }),
    });
    await using host = await openHost([soon, approval()], { clock, onExpired: 'error' });
    const one = agentOf(source);
    const begun = await host.loop.runLoop({ ...SESSION, agent: one });
    expect(begun.waiting?.also).toHaveLength(1);
    const until = begun.waiting?.also?.[0]?.expiresAt;
    clock.ms += 1001;
    const later = await host.loop.resume('s', { agent: one });
    expect(later).toMatchObject({ decision: 'SUSPENDED', waiting: { call: '1.2', expiresAt: until } });
    expect(later.waiting?.also).toBeUndefined();
    await host.loop.complete('s', '1.2', { result: true });
    const done = await host.loop.resume('s', { agent: one, keepTurns: true });
    expect(done.turns[0]?.output.split('\n').slice(0, 2)).toEqual([
      'call 1.1 of tool.human.soon was not completed in time',
      'true',
    ]);
  });

  it('end the session together when one of them expires', async () => {
    const clock = new TestClock();
    await using host = await openHost([counter().tool, approval({ expiresIn: 1000 })], { clock });
    await host.loop.runLoop({ ...SESSION, agent });
    await host.loop.complete('s', '1.1', { result: true });
    clock.ms += 1001;
    const halted = await host.loop.resume('s', { agent, keepTurns: true });
    expect(halted).toMatchObject({ decision: 'HALT', reason: 'ERR_CALL_EXPIRED' });
    expect(halted.error?.message).toContain('1.3');
    await expect(host.loop.complete('s', '1.5', { result: true })).rejects.toMatchObject({ code: 'ERR_CALL_EXPIRED' });
  });

  it('may wait again, one of them thirty times: every time the others keep their answers', async () => {
    const clock = new TestClock();
    const world = counter();
    const again = defineTool({
      name: 'tool.human.Approve',
      args: [{ name: 'what', type: 'string' }],
      returns: 'any',
      run: ({ what }, runtime) => runtime.pending({ reason: `0 ${what}` }),
      complete: (answer, { what }, runtime) => {
        const round = Number(runtime.waitedFor?.split(' ')[0]) + 1;
        return what === 'two' && round < 30 ? runtime.pending({ reason: `${round} ${what}` }) : `${answer} ${round}`;
      },
    });
    await using host = await openHost([world.tool, again], { clock });
    let ended = await host.loop.runLoop({ ...SESSION, agent });
    for (let round = 0; ended.waiting !== undefined; round++) {
      expect(round).toBeLessThan(31);
      const { waiting } = ended;
      for (const { call, completed } of [waiting, ...(waiting.also ?? [])])
        if (!completed) await host.loop.complete('s', call, { result: call });
      ended = await host.loop.resume('s', { agent, keepTurns: true });
    }
    const [record] = ended.turns;
    expect(record?.output.split('\n')[0]).toBe('["1.1 1", "1.3 30", "1.5 1", 1, 2]');
    expect(world.calls).toBe(3);
  });
});
