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
    for (const [index, { begin }] of journal.entries()) {
      const before = journal[index - 1];
      expect(begin).toBeGreaterThanOrEqual(before === undefined ? 0 : before.begin + before.ms);
    }
  });
});
