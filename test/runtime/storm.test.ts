// @module-tag slow
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { type FakeProgram, fakeRuntime } from './fake.ts';

setFlagsFromString('--expose-gc');
const gc: unknown = runInNewContext('gc');

function heap(): number {
  for (let n = 0; n < 3; n++) if (typeof gc === 'function') gc();
  return process.memoryUsage().heapUsed;
}

const MB = 1024 * 1024;

describe('a storm of forks', () => {
  it('leaks nothing: after 10,000 forks with turns, events and handles the heap is what it was', {
    timeout: 300_000,
  }, async () => {
    const program: FakeProgram = async (guest) => {
      guest.emit('x');
      guest.whisper('default_self_buffer', 'x');
      await guest.tool('tool.t.nothing');
      return undefined;
    };
    const { runtime, sandbox } = fakeRuntime(program, { policy: { allow: ['*'] } });
    const root = runtime.interpreter();
    await root.load('func a\n');
    const ids = new Set<string>();
    const storm = async (forks: number): Promise<void> => {
      for (let n = 0; n < forks; n++) {
        using turn = runtime.turn({ sessionId: `s${n % 7}`, turnIndex: 1, deadline: Date.now() + 60_000 });
        const fork = root.fork({ turn });
        ids.add(fork.id);
        await fork.execute('x');
        sandbox.inputs.length = 0;
        sandbox.nested.length = 0;
        if (n % 10 === 0) await fork.emitEvent('e', 'test', n, { id: `e${n % 100}` });
      }
    };
    // The first ones fill what is bounded: code caches, remembered events.
    await storm(2_000);
    ids.clear();
    root.buffers.take();
    const before = heap();
    await storm(10_000);
    expect(ids.size).toBe(10_000);
    ids.clear();
    root.buffers.take();
    const grown = heap() - before;
    expect(grown).toBeLessThan(2 * MB);
    await runtime.close();
  });
});
