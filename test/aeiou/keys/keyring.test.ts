import { createHmac } from 'node:crypto';
import { Point } from '@noble/ed25519';
import { describe, expect, it } from 'vitest';
import { KeyError, type KeyInit, Keyring, nobleCrypto, resolveLifetimes, verifyToken } from '../../../src/aeiou/index.ts';
import { ConfigError } from '../../../src/wire/errors.ts';
import {
  canonicalText,
  FALLBACK_PUBLIC,
  FALLBACK_SEED,
  goldenKeys,
  goldenTurn,
  HS256_SECRET,
  hex,
  ISSUED,
  PRIMARY,
  PRIMARY_PUBLIC,
  PRIMARY_SEED,
  TEXTS,
  TestClock,
  TOKENS,
  thrownBy,
  tokenOf,
} from '../kit.ts';

const ring = (): Keyring => new Keyring({ clock: new TestClock(), allowHs256: true });
const third = new Uint8Array(32).fill(3);
const publicKey = (bytes: Uint8Array): KeyInit => ({ kid: 'k', role: 'retired', alg: 'Ed25519', publicKey: bytes });

function fault(work: () => unknown): string {
  const error = thrownBy(work);
  return error instanceof KeyError ? error.detail : String(error);
}

/** The canonical encodings of the eight points of small order, known constants of the curve. */
const SMALL_ORDER = [
  '0100000000000000000000000000000000000000000000000000000000000000',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0000000000000000000000000000000000000000000000000000000000000080',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
];

/** Encodings that are not canonical: y is not below the prime, or x is 0 with its sign set. */
const NOT_CANONICAL = [
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
  'ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
  'f0ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '0100000000000000000000000000000000000000000000000000000000000080',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
];

describe('keys: what is admitted', () => {
  it('refuses the eight public keys of small order (threat 30)', () => {
    for (const key of SMALL_ORDER) expect(fault(() => ring().add(publicKey(hex(key))))).toBe('small_order');
  });

  it('refuses encodings that are not canonical, and what is no point', () => {
    for (const key of NOT_CANONICAL) expect(fault(() => ring().add(publicKey(hex(key))))).toBe('not_canonical');
    expect(fault(() => ring().add(publicKey(hex(`02${'00'.repeat(31)}`))))).toBe('not_canonical');
  });

  it('refuses a key with a part of small order: platforms disagree on it', () => {
    const mixed = Point.fromBytes(PRIMARY_PUBLIC)
      .add(Point.fromBytes(hex(SMALL_ORDER[4] ?? '')))
      .toBytes();
    expect(fault(() => ring().add(publicKey(mixed)))).toBe('torsion');
    expect(ring().add(publicKey(PRIMARY_PUBLIC))).toBeUndefined();
  });

  it('says of a key the same each time, whatever else it is asked in between', () => {
    const keys = [...SMALL_ORDER, ...NOT_CANONICAL].map(hex);
    const wanted = keys.map((_, index) => (index < SMALL_ORDER.length ? 'small_order' : 'not_canonical'));
    for (const _ of [1, 2]) {
      expect(keys.map((key) => fault(() => ring().add(publicKey(key))))).toEqual(wanted);
      expect(ring().add(publicKey(PRIMARY_PUBLIC))).toBeUndefined();
    }
  });

  it('refuses material of the wrong length or type', () => {
    const bad: readonly KeyInit[] = [
      publicKey(new Uint8Array(31)),
      publicKey(new Uint8Array(33)),
      { kid: 'k', role: 'primary', alg: 'Ed25519', seed: new Uint8Array(64) },
      { kid: 'k', role: 'primary', alg: 'HS256', secret: new Uint8Array(31) },
      JSON.parse('{"kid":"k","role":"primary","alg":"HS256","secret":"x"}'),
      JSON.parse('{"kid":"k","role":"primary","alg":"Ed25519","seed":[1]}'),
    ];
    expect(bad.map((key) => fault(() => ring().add(key)))).toEqual(bad.map(() => 'material'));
  });

  it('a kid has 1 to 64 letters, digits, dots, underscores or dashes', () => {
    for (const kid of ['', 'x'.repeat(65), 'a b', 'ä', 'a/b', 'a\n', '"'])
      expect(fault(() => ring().add({ ...publicKey(PRIMARY_PUBLIC), kid }))).toBe('kid');
    for (const kid of ['x'.repeat(64), 'A.b_c-9', '__proto__'])
      expect(ring().add({ ...publicKey(PRIMARY_PUBLIC), kid })).toBeUndefined();
  });

  it('HS256 must be switched on', () => {
    const key: KeyInit = { kid: 'k', role: 'primary', alg: 'HS256', secret: HS256_SECRET };
    expect(fault(() => new Keyring({ clock: new TestClock() }).add(key))).toBe('alg');
    const keys = ring();
    keys.add(key);
    const message = new TextEncoder().encode('m');
    expect(keys.lookup('k')?.verify(message, createHmac('sha256', HS256_SECRET).update(message).digest())).toBe(true);
    expect(keys.lookup('k')?.verify(message, new Uint8Array(31))).toBe(false);
  });

  it('a kid never changes its meaning; the same key again changes nothing (threat 28)', () => {
    const keys = goldenKeys();
    keys.add({ kid: PRIMARY, role: 'primary', alg: 'Ed25519', seed: PRIMARY_SEED });
    expect(fault(() => keys.add({ kid: PRIMARY, role: 'primary', alg: 'Ed25519', seed: third }))).toBe('duplicate');
    expect(fault(() => keys.add({ kid: PRIMARY, role: 'retired', alg: 'Ed25519', seed: PRIMARY_SEED }))).toBe('duplicate');
    expect(fault(() => keys.add({ kid: PRIMARY, role: 'primary', alg: 'HS256', secret: HS256_SECRET }))).toBe('duplicate');
    expect(fault(() => keys.rotate({ kid: PRIMARY, role: 'primary', alg: 'Ed25519', seed: third }))).toBe('duplicate');
    expect(fault(() => keys.add({ kid: 'second', role: 'primary', alg: 'Ed25519', seed: third }))).toBe('role');
  });

  it('AL3-10-3: the fallback key is held in memory: a signer elsewhere is refused for it', () => {
    const sign = (): Uint8Array => new Uint8Array(64);
    expect(
      fault(() => ring().add({ kid: 'k', role: 'fallback', alg: 'Ed25519', publicKey: FALLBACK_PUBLIC, signer: sign })),
    ).toBe('role');
    expect(fault(() => ring().add({ kid: 'k', role: 'fallback', alg: 'Ed25519', publicKey: FALLBACK_PUBLIC }))).toBe('role');
  });

  it('shows keys without their private halves', () => {
    expect(
      goldenKeys()
        .list()
        .map(({ kid, role, alg, canSign }) => `${kid} ${role} ${alg} ${canSign}`),
    ).toEqual([
      'ed25519-test-1 primary Ed25519 true',
      'ed25519-fallback-1 fallback Ed25519 true',
      'hs256-test-1 retired HS256 false',
    ]);
    const shown = JSON.stringify(
      goldenKeys()
        .list()
        .map((key) => ({ ...key, publicKey: Buffer.from(key.publicKey ?? []).toString('hex') })),
    );
    expect(shown).not.toContain('9d61b19d');
    expect(shown).not.toContain('0b0b0b');
  });

  it('works the same on noble', () => {
    expect(verifyToken(TOKENS.T1, goldenTurn({ keys: goldenKeys({ crypto: nobleCrypto }) })).ok).toBe(true);
  });
});

describe('keys: signers elsewhere', () => {
  const message = new TextEncoder().encode(TEXTS.T1);
  const never = new AbortController().signal;
  const withSigner = (signer: () => Promise<Uint8Array>): Keyring => {
    const keys = ring();
    keys.add({ kid: 'kms', role: 'primary', alg: 'Ed25519', publicKey: PRIMARY_PUBLIC, signer });
    return keys;
  };

  it('their tags are verified before anyone relies on them', async () => {
    const good = nobleCrypto.ed25519Signer(PRIMARY_SEED)(message);
    expect(
      await withSigner(async () => good)
        .signer('primary')
        ?.sign(message, never),
    ).toEqual(good);
    for (const tag of [nobleCrypto.ed25519Signer(FALLBACK_SEED)(message), new Uint8Array(64), new Uint8Array(0)])
      await expect(
        withSigner(async () => tag)
          .signer('primary')
          ?.sign(message, never),
      ).rejects.toMatchObject({ code: 'ERR_KEY' });
  });

  it('a public key alone verifies and does not sign', () => {
    const keys = ring();
    keys.add({ kid: PRIMARY, role: 'primary', alg: 'Ed25519', publicKey: PRIMARY_PUBLIC });
    expect(keys.signer('primary')).toBeNull();
    expect(verifyToken(TOKENS.T1, goldenTurn({ keys })).ok).toBe(true);
  });
});

describe('keys: rotation', () => {
  const next: KeyInit & { readonly role: 'primary' } = { kid: 'next', role: 'primary', alg: 'Ed25519', seed: third };

  it('A3-11.5-1: a replaced key verifies through the longest ttl and the buffer, then it is gone (threat 27)', () => {
    const clock = new TestClock();
    const keys = goldenKeys({ clock });
    const longest = tokenOf(canonicalText({ ttl: 300 }));
    const noTtl = TOKENS.T6;
    clock.seconds = ISSUED + 1;
    keys.rotate(next);
    const at = (second: number, line: string): string => {
      clock.seconds = second;
      const result = verifyToken(line, goldenTurn({ keys, now: second }));
      return result.ok ? 'ok' : `${result.code}/${result.detail}`;
    };
    expect(at(ISSUED + 300, longest)).toBe('ok');
    expect(at(ISSUED + 301, longest)).toBe('ERR_TOKEN_TTL/expired');
    expect(at(ISSUED + 1 + 360, noTtl)).toBe('ok');
    expect(keys.list().find(({ kid }) => kid === PRIMARY)).toMatchObject({
      role: 'retired',
      canSign: false,
      verifyUntil: ISSUED + 361,
    });
    expect(at(ISSUED + 1 + 361, noTtl)).toBe('ERR_TOKEN_VERIFY/unknown_kid');
    expect(keys.list().map(({ kid }) => kid)).not.toContain(PRIMARY);
  });

  it('AL3-10-2: the time of grace is the longest ttl and the buffer of the configuration', () => {
    const clock = new TestClock();
    const keys = goldenKeys({ clock, lifetimes: { maxTtl: 10, rotationBuffer: 5 } });
    keys.rotate(next);
    clock.seconds = ISSUED + 15;
    expect(keys.lookup(PRIMARY)).not.toBeNull();
    clock.seconds = ISSUED + 16;
    expect(keys.lookup(PRIMARY)).toBeNull();
  });

  it.each([0, 120])('A3-11.5-2: with a buffer of %d s the key is dropped that much after the longest ttl', (rotationBuffer) => {
    const clock = new TestClock();
    const keys = goldenKeys({ clock, lifetimes: { rotationBuffer } });
    keys.rotate(next);
    clock.seconds = ISSUED + 300 + rotationBuffer;
    expect(keys.lookup(PRIMARY)).not.toBeNull();
    clock.seconds += 1;
    expect(keys.lookup(PRIMARY)).toBeNull();
  });

  it('a replaced key verifies again when a clock that was a year ahead is set back', () => {
    const clock = new TestClock();
    const keys = goldenKeys({ clock });
    keys.rotate(next);
    clock.seconds = ISSUED + 365 * 86_400;
    expect(keys.lookup(PRIMARY)).toBeNull();
    expect(keys.list().map(({ kid }) => kid)).not.toContain(PRIMARY);
    clock.seconds = ISSUED + 1;
    expect(keys.lookup(PRIMARY)).not.toBeNull();
    expect(keys.list().map(({ kid }) => kid)).toContain(PRIMARY);
  });

  it('the new key signs at once, the old one never again', () => {
    const keys = goldenKeys();
    keys.rotate(next);
    expect(keys.signer('primary')?.kid).toBe('next');
    keys.rotate({ kid: 'next-fallback', role: 'fallback', alg: 'Ed25519', seed: new Uint8Array(32).fill(4) });
    expect(keys.signer('fallback')?.kid).toBe('next-fallback');
    expect(
      keys
        .list()
        .filter(({ canSign }) => canSign)
        .map(({ kid }) => kid),
    ).toEqual(['next', 'next-fallback']);
  });

  it('a retired key can be removed at once, a key in use cannot', () => {
    const keys = goldenKeys();
    expect(fault(() => keys.remove(PRIMARY))).toBe('role');
    keys.rotate(next);
    expect([keys.remove(PRIMARY), keys.remove(PRIMARY), keys.lookup(PRIMARY)]).toEqual([true, false, null]);
  });

  it('only a retired key has an end', () => {
    expect(fault(() => ring().add({ kid: 'k', role: 'primary', alg: 'Ed25519', seed: third, verifyUntil: 1 }))).toBe('role');
    const keys = ring();
    keys.add({ kid: 'k', role: 'retired', alg: 'Ed25519', seed: third, verifyUntil: ISSUED - 1 });
    expect(keys.lookup('k')).toBeNull();
  });
});

describe('lifetimes', () => {
  it('are the seeds\u2019 by default', () => {
    expect(resolveLifetimes()).toEqual({ defaultTtl: 120, maxTtl: 300, replayTtl: 300, rotationBuffer: 60, clockSkew: 60 });
    expect(resolveLifetimes({ maxTtl: 60 }).defaultTtl).toBe(60);
  });

  it('that do not fit together are refused: the replay memory must outlive every token', () => {
    const bad = [
      { replayTtl: 299 },
      { maxTtl: 301 },
      { defaultTtl: 301 },
      { defaultTtl: 0 },
      { clockSkew: -1 },
      { rotationBuffer: 0.5 },
      { maxTtl: Number.NaN },
    ];
    for (const options of bad) expect(thrownBy(() => resolveLifetimes(options))).toBeInstanceOf(ConfigError);
  });
});
