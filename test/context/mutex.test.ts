import { describe, expect, it } from 'vitest';
import { KeyedMutex } from '../../src/context/mutex.ts';

describe('the per-session mutex', () => {
  it('AL3-3-1: two turns of one session never overlap, and the second waits its turn (AMB-35)', async () => {
    const mutex = new KeyedMutex();
    const seen: string[] = [];
    const turn = async (name: string) => {
      using _lock = await mutex.hold('sid');
      seen.push(`${name} starts`);
      await new Promise((done) => setTimeout(done, 2));
      seen.push(`${name} ends`);
      return name;
    };
    expect(await Promise.all([turn('a'), turn('b'), turn('c')])).toEqual(['a', 'b', 'c']);
    expect(seen).toEqual(['a starts', 'a ends', 'b starts', 'b ends', 'c starts', 'c ends']);
  });

  it('AL3-3-1: the lock is released when a turn throws', async () => {
    const mutex = new KeyedMutex();
    const turn = async (error: Error | null) => {
      using _lock = await mutex.hold('sid');
      if (error !== null) throw error;
      return 'ran';
    };
    const failed = turn(new Error('broken'));
    const next = turn(null);
    await expect(failed).rejects.toThrow('broken');
    expect(await next).toBe('ran');
  });

  it('AL3-3-2: different sessions run at the same time', async () => {
    const mutex = new KeyedMutex();
    using _first = await mutex.hold('a');
    using _second = await mutex.hold('b');
    expect(mutex.size).toBe(2);
  });

  it('forgets a session that nobody holds or waits for', async () => {
    const mutex = new KeyedMutex();
    const both = ['a', 'a', 'b'].map(async (sid) => {
      using _lock = await mutex.hold(sid);
    });
    expect(mutex.size).toBe(2);
    await Promise.all(both);
    expect(mutex.size).toBe(0);
  });
});
