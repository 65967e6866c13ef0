import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/loop/clock.ts';
import { PhaseTimer } from '../../src/loop/turn/phases.ts';
import { defineTool } from '../../src/tools/index.ts';
import { agentOf, approval, openHost, SESSION } from './suspend/stage.ts';

const clockOf = (...readings: number[]) => ({ monotonic: () => readings.shift() ?? 0 });

describe('issue 49: where the time of a turn went', () => {
  it('divides it into phases without gaps, and finds the run by what the program used', () => {
    const timer = new PhaseTimer(clockOf(100, 101, 103, 150, 152), 0);
    timer.end('store');
    timer.end('prepare');
    timer.endRun({ queueMs: 7, wallMs: 30 });
    expect(timer.end('verify')).toBe(52);
    expect(timer.phases).toEqual([
      { name: 'store', begin: 0, ms: 1 },
      { name: 'prepare', begin: 1, ms: 2 },
      { name: 'queue', begin: 3, ms: 7 },
      { name: 'load', begin: 10, ms: 10 },
      { name: 'run', begin: 20, ms: 30 },
      { name: 'verify', begin: 50, ms: 2 },
    ]);
  });

  it('begins the run no later than the program is known to have started, however late the host reads its end', () => {
    const timer = new PhaseTimer(clockOf(0, 1, 4, 50), 0);
    timer.end('prepare');
    timer.start();
    timer.endRun({ queueMs: 2, wallMs: 10 });
    expect(timer.phases.map(({ name, begin, ms }) => [name, begin, ms])).toEqual([
      ['prepare', 0, 1],
      ['queue', 1, 2],
      ['load', 3, 1],
      ['run', 4, 46],
    ]);
  });

  it('goes on behind the time that the turn took before, and never before the last phase', () => {
    const timer = new PhaseTimer(clockOf(0, 1, 5), 1000);
    timer.end('prepare');
    timer.endRun({ queueMs: 90, wallMs: 90 });
    expect(timer.phases.map(({ begin, ms }) => [begin, ms])).toEqual([
      [1000, 1],
      [1001, 0],
      [1001, 0],
      [1001, 4],
    ]);
  });

  it('has no call before its run, when the host is busy as the program begins and when it ends', async () => {
    const cell = new Int32Array(new SharedArrayBuffer(4));
    const busy = (): void => void Atomics.wait(cell, 0, 0, 20);
    const work = defineTool({ name: 'tool.world.Work', run: busy });
    await using host = await openHost([work], { clock: systemClock });
    const agent = agentOf(
      'command\n emit tool.world.Work()\n emit tool.world.Work()\n emit tool.aeiou.magic("LOOP", {"action": "done"})\nendcommand',
    );
    const onEvent = ({ type }: { readonly type: string }): void => {
      if (type === 'called') setImmediate(busy);
    };
    const [record] = (await host.loop.runLoop({ ...SESSION, agent, onEvent, keepTurns: true })).turns;
    const run = record?.phases.find(({ name }) => name === 'run')?.begin ?? Number.POSITIVE_INFINITY;
    expect(record?.journal).toHaveLength(3);
    expect(record?.journal[0]?.begin).toBeGreaterThanOrEqual(run);
  });

  it('is in the record of a turn, as is the beginning of each call, and what a turn took before it waited counts', async () => {
    const slow = defineTool({ name: 'tool.world.Slow', run: () => sleep(30, null) });
    await using host = await openHost([slow, approval()], { clock: systemClock });
    const agent = agentOf(
      'command\n emit tool.world.Slow()\n emit tool.human.Approve("go")\n emit tool.world.Slow()\n emit tool.aeiou.magic("LOOP", {"action": "done"})\nendcommand',
    );
    await host.loop.runLoop({ ...SESSION, agent });
    await host.loop.complete('s', '1.2', { result: true });
    const [record] = (await host.loop.resume('s', { agent, keepTurns: true })).turns;
    if (record === undefined) throw new Error('no record');
    const { phases, latencyMs, journal } = record;
    expect(phases.map(({ name }) => name)).toEqual(['store', 'prepare', 'queue', 'load', 'run', 'verify']);
    const last = phases.at(-1);
    expect((last?.begin ?? 0) + (last?.ms ?? 0)).toBeCloseTo(latencyMs, 2);
    expect(phases[0]?.begin).toBeGreaterThan(25);
    const [before, ...made] = journal;
    expect((before?.begin ?? 0) + (before?.ms ?? 0)).toBeLessThanOrEqual(phases[0]?.begin ?? 0);
    const run = phases.find(({ name }) => name === 'run')?.begin ?? Number.POSITIVE_INFINITY;
    expect(Math.min(...made.map(({ begin }) => begin))).toBeGreaterThanOrEqual(run);
    for (const [index, { begin }] of journal.entries()) {
      const before = journal[index - 1];
      expect(begin).toBeGreaterThanOrEqual(before === undefined ? 0 : before.begin + before.ms);
    }
  });
});
