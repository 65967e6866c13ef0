import { describe, expect, it } from 'vitest';
import { KeyedMutex } from '../../src/context/mutex.ts';

describe('the per-session mutex', () => {
  it('AL3-3-1: two turns of one session never overlap, and the second waits its turn (AMB-35)', async () => {
    const mutex = new KeyedMutex();
    const seen: string[] = [];
    const turn = (name: string) =>
      mutex.run('sid', async () => {
        seen.push(`${name} starts`);
        await new Promise((done) => setTimeout(done, 2));
        seen.push(`${name} ends`);
        return name;
      });
    expect(await Promise.all([turn('a'), turn('b'), turn('c')])).toEqual(['a', 'b', 'c']);
    expect(seen).toEqual(['a starts', 'a ends', 'b starts', 'b ends', 'c starts', 'c ends']);
  });

  it('AL3-3-1: the lock is released when a turn throws', async () => {
    const mutex = new KeyedMutex();
    const failed = mutex.run('sid', () => Promise.reject(new Error('broken')));
    const next = mutex.run('sid', async () => 'ran');
    await expect(failed).rejects.toThrow('broken');
    expect(await next).toBe('ran');
  });

  it('AL3-3-2: different sessions run at the same time', async () => {
    const mutex = new KeyedMutex();
    const barrier = Promise.withResolvers<void>();
    const first = mutex.run('a', () => barrier.promise);
    await mutex.run('b', async () => barrier.resolve());
    await first;
  });

  it('forgets a session that nobody holds or waits for', async () => {
    const mutex = new KeyedMutex();
    const both = [mutex.run('a', async () => 1), mutex.run('a', async () => 2), mutex.run('b', async () => 3)];
    expect(mutex.size).toBe(2);
    await Promise.all(both);
    expect(mutex.size).toBe(0);
  });
});
