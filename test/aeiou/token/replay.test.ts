import { describe, expect, it } from 'vitest';
import { ReplayCache } from '../../../src/aeiou/index.ts';
import { ConfigError } from '../../../src/wire/errors.ts';
import { TestClock, thrownBy } from '../kit.ts';

describe('replay cache', () => {
  it('A3-6.5-6: ids of one session do not collide with those of another', () => {
    const cache = new ReplayCache({ clock: new TestClock() });
    expect([cache.add('a', 'x'), cache.add('b', 'x'), cache.add('a', 'x'), cache.add('b', 'x')]).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(cache.add('__proto__', 'constructor')).toBe(true);
    expect(cache.add('__proto__', 'constructor')).toBe(false);
  });

  it('A3-11.3-1: an id is forgotten when its time is over, also from memory', () => {
    const clock = new TestClock(1000);
    const cache = new ReplayCache({ clock, ttl: 10 });
    cache.add('a', 'x');
    clock.seconds = 1010.9;
    expect(cache.size()).toEqual({ sessions: 1, ids: 1 });
    clock.seconds = 1011;
    expect(cache.size()).toEqual({ sessions: 0, ids: 0 });
    expect(cache.add('a', 'x')).toBe(true);
  });

  it('A3-11.3-1: ids that a store kept are remembered again, from when they were used, and only those still due', () => {
    const clock = new TestClock(100);
    const cache = new ReplayCache({ clock, ttl: 10, capacity: 3 });
    cache.add('a', 'mine');
    cache.restore('a', [
      { jti: 'too-old', second: 89 },
      { jti: 'old', second: 90 },
      { jti: 'mine', second: 91 },
      { jti: 'recent', second: 98 },
    ]);
    expect(cache.size()).toEqual({ sessions: 1, ids: 3 });
    clock.seconds = 101;
    expect(cache.add('a', 'recent')).toBe(false);
    expect(cache.add('a', 'old')).toBe(true);
    clock.seconds = 110;
    // The cache saw it at 100; the store's time, 91, is older.
    expect(cache.add('a', 'mine')).toBe(false);
    cache.restore('b', []);
    expect(cache.size().sessions).toBe(1);
  });

  it('A3-11.3-2: of more ids than the capacity, those that were seen last are restored, in whatever order a store gives them', () => {
    const cache = new ReplayCache({ clock: new TestClock(100), ttl: 50, capacity: 3 });
    cache.add('s', 'now');
    cache.restore(
      's',
      [96, 98, 95, 99, 97].map((second) => ({ jti: `at ${second}`, second })),
    );
    expect(cache.size().ids).toBe(3);
    // Known ids first: adding an unknown id pushes out a known one.
    expect(['now', 'at 99', 'at 98'].map((jti) => cache.add('s', jti))).toEqual([false, false, false]);
    expect(['at 97', 'at 96', 'at 95'].map((jti) => cache.add('s', jti))).toEqual([true, true, true]);
  });

  it('AL3-5.2-8: a restored session counts as used, and makes room like any other', () => {
    const cache = new ReplayCache({ clock: new TestClock(100), maxSessions: 2 });
    cache.add('a', 'x');
    cache.add('b', 'x');
    cache.restore('a', [{ jti: 'y', second: 90 }]);
    cache.restore('c', [{ jti: 'x', second: 90 }]);
    expect(cache.size()).toEqual({ sessions: 2, ids: 3 });
    expect([cache.add('a', 'y'), cache.add('c', 'x')]).toEqual([false, false]);
  });

  it('a session in use loses its old ids, and one that is not is dropped whole', () => {
    const clock = new TestClock(0);
    const cache = new ReplayCache({ clock, ttl: 10 });
    cache.add('idle', 'i');
    cache.add('busy', 'old');
    clock.seconds = 6;
    cache.add('busy', 'new');
    clock.seconds = 12;
    expect(cache.size()).toEqual({ sessions: 1, ids: 1 });
    expect([cache.add('busy', 'new'), cache.add('busy', 'old')]).toEqual([false, true]);
  });

  it('an id that comes again counts as seen anew', () => {
    const clock = new TestClock(0);
    const cache = new ReplayCache({ clock, ttl: 10 });
    cache.add('a', 'x');
    clock.seconds = 8;
    expect(cache.add('a', 'x')).toBe(false);
    clock.seconds = 18;
    expect(cache.add('a', 'x')).toBe(false);
    clock.seconds = 29;
    expect(cache.add('a', 'x')).toBe(true);
  });

  it('A3-11.3-2: with capacity 3 the fourth id puts out the one seen longest ago, and there are never more', () => {
    const cache = new ReplayCache({ clock: new TestClock(), capacity: 3 });
    for (const jti of ['a', 'b', 'c']) cache.add('s', jti);
    expect(cache.add('s', 'a')).toBe(false);
    cache.add('s', 'd');
    expect(cache.size().ids).toBe(3);
    expect(['a', 'c', 'd'].map((jti) => cache.add('s', jti))).toEqual([false, false, false]);
    expect(cache.add('s', 'b')).toBe(true);
    for (let i = 0; i < 1000; i++) cache.add('s', `n${i}`);
    expect(cache.size().ids).toBe(3);
  });

  it('A3-11.3-3: by default 4096 ids of a session for 5 minutes', () => {
    const clock = new TestClock(0);
    const cache = new ReplayCache({ clock });
    for (let i = 0; i < 4097; i++) cache.add('s', `${i}`);
    expect(cache.size()).toEqual({ sessions: 1, ids: 4096 });
    expect([cache.add('s', '1'), cache.ttl]).toEqual([false, 300]);
    clock.seconds = 300;
    expect(cache.add('s', '4096')).toBe(false);
    clock.seconds = 601;
    expect(cache.add('s', '4096')).toBe(true);
  });

  it('AL3-5.2-8: sessions are bounded too: the one used longest ago makes room, and an ended one can be dropped (threat 47)', () => {
    const cache = new ReplayCache({ clock: new TestClock(), maxSessions: 2 });
    cache.add('a', 'x');
    cache.add('b', 'x');
    cache.add('a', 'y');
    cache.add('c', 'x');
    expect(cache.size()).toEqual({ sessions: 2, ids: 3 });
    expect(cache.add('a', 'x')).toBe(false);
    cache.dispose('a');
    expect(cache.add('a', 'x')).toBe(true);
  });

  it('refuses bounds that cannot be enforced', () => {
    for (const bad of [{ ttl: 0 }, { capacity: 0 }, { maxSessions: -1 }, { ttl: 1.5 }, { capacity: Number.NaN }])
      expect(thrownBy(() => new ReplayCache({ clock: new TestClock(), ...bad }))).toBeInstanceOf(ConfigError);
  });
});
