import { describe, expect, it } from 'vitest';
import { fixedClock } from '../../src/loop/clock.ts';
import { randomIds, seededIds, withNonce } from '../../src/loop/ids.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('ids', () => {
  it.each([
    ['random', randomIds],
    ['seeded', seededIds('seed')],
  ])('A3-8-7: %s nonces are 16 bytes in base64url and differ from turn to turn', (_, ids) => {
    const nonces = Array.from({ length: 100 }, (_unused, turn) => ids.nonce('s', turn));
    expect(new Set(nonces).size).toBe(100);
    for (const nonce of nonces) {
      expect(nonce).toMatch(/^[A-Za-z0-9_-]{22}$/);
      expect(Buffer.from(nonce, 'base64url')).toHaveLength(16);
    }
  });

  it.each([
    ['random', randomIds],
    ['seeded', seededIds('seed')],
  ])('%s token and session ids are distinct UUIDs', (_, ids) => {
    const jtis = Array.from({ length: 100 }, (_unused, mint) => ids.jti('s', 1, mint));
    const all = [...jtis, ids.session(), ids.session()];
    expect(new Set(all).size).toBe(102);
    for (const id of all) expect(id).toMatch(UUID);
  });

  it('a seed gives the same ids again, another seed, session or turn gives others', () => {
    const one = seededIds('a');
    const again = seededIds('a');
    expect(again.session()).toBe(one.session());
    expect(again.nonce('s', 1)).toBe(one.nonce('s', 1));
    expect(again.jti('s', 1, 0)).toBe(one.jti('s', 1, 0));
    const jtis = [seededIds('b').jti('s', 1, 0), one.jti('t', 1, 0), one.jti('s', 2, 0), one.jti('s', 1, 1), one.jti('s', 1, 0)];
    expect(new Set(jtis).size).toBe(5);
  });

  it('a given nonce replaces the turn’s own', () => {
    const ids = withNonce(seededIds('a'), 'AAECAwQFBgcICQoLDA0ODw');
    expect(ids.nonce('s', 1)).toBe('AAECAwQFBgcICQoLDA0ODw');
    expect(ids.jti('s', 1, 0)).toBe(seededIds('a').jti('s', 1, 0));
  });
});

it('a fixed clock stands still at its Unix second', () => {
  expect(fixedClock(1_725_012_345).now()).toBe(1_725_012_345_000);
});
