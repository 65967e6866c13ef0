import { describe, expect, it } from 'vitest';
import { type DecisionLog, MemoryLog } from '../../src/loop/log/log.ts';
import { MemoryStore } from '../../src/loop/sessions/sqlite.ts';
import { programAgent, TestClock, USERDATA } from './fake.ts';
import { controller, run } from './host.ts';

const silent = { reply: () => Promise.reject(new Error('no model')) };

describe('a session that ends between two turns', () => {
  it.each([
    ['ERR_MAX_TURNS', programAgent('continue'), { maxTurns: 2 }, 3],
    ['ERR_AGENT', silent, {}, 1],
    ['ERR_TIMEOUT', { reply: () => new Promise<string>(() => {}) }, { wallMs: 10 }, 1],
    ['ERR_QUOTA', programAgent('continue'), { maxFuel: 12 }, 2],
    ['ERR_CANCELLED', programAgent('continue'), { signal: AbortSignal.abort() }, 1],
  ])('AL3-9-1: has a line in the log with its reason: %s', async (reason, agent, options, turn) => {
    const { loop, log, store } = controller();
    expect(await loop.runLoop(run(agent, options))).toMatchObject({ decision: 'HALT', reason });
    expect(log.entries.at(-1)).toEqual({
      message: expect.stringMatching(/./),
      ts: '2024-08-30T10:05:45.000Z',
      SID: 's',
      turn_index: turn,
      decision: 'HALT',
      reason,
      latency_ms: 0,
      output_bytes: 0,
      scratch_bytes: 0,
    });
    expect(log.entries).toHaveLength(turn);
    expect((await store.list())[0]).toMatchObject({ status: 'halted', turns: turn - 1, owed: 0 });
    expect(loop.metrics.snapshot().halts_total).toEqual({ [reason]: 1 });
  });

  it('AL3-9-1: so has one that somebody cancels who does not drive it', async () => {
    const { loop, log } = controller();
    await loop.open(USERDATA, 's');
    expect(await loop.cancel('s')).toBe(true);
    expect(log.entries).toMatchObject([{ SID: 's', turn_index: 1, decision: 'HALT', reason: 'ERR_CANCELLED' }]);
  });

  it.each([true, false])(
    'AL3-9-1: a line that was owed when its process died is written once (was written: %s)',
    async (written) => {
      const [clock, log] = [new TestClock(), new MemoryLog()];
      const store = new MemoryStore({ clock });
      const dying: DecisionLog = {
        async append(entry) {
          if (written) await log.append(entry);
          throw new Error('killed');
        },
        has: (sid, turn) => log.has(sid, turn),
      };
      const first = controller({ store, clock, log: dying, owner: 'first', leaseMs: 1000 });
      await expect(first.loop.runLoop(run(silent))).rejects.toThrow('killed');
      clock.ms += 2000;
      const { loop } = controller({ store, clock, log, owner: 'second' });
      expect(await loop.list()).toMatchObject([{ status: 'halted', owed: 1 }]);
      expect(await loop.recover()).toEqual([]);
      await loop.recover();
      expect(log.entries).toMatchObject([{ turn_index: 1, reason: 'ERR_AGENT' }]);
      expect(await loop.list()).toMatchObject([{ owed: 0, lease: null }]);
    },
  );
});
