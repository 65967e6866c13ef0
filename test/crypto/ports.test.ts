import { createHash, randomBytes } from 'node:crypto';
import { Point, utils, verify } from '@noble/ed25519';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CryptoPort, nativeCrypto, nobleCrypto } from '../../src/aeiou/index.ts';
import { publicKeyFault } from '../../src/crypto/index.ts';
import { FALLBACK_PUBLIC, FALLBACK_SEED, HS256_SECRET, hex, PRIMARY_PUBLIC, PRIMARY_SEED } from '../aeiou/kit.ts';

const native = nativeCrypto();
if (native === null) throw new Error('node:crypto is missing');
const PORTS: readonly CryptoPort[] = [native, nobleCrypto];
const sha512 = (data: Uint8Array): Uint8Array => createHash('sha512').update(data).digest();
const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;
const seed32 = fc.uint8Array({ minLength: 32, maxLength: 32 });

describe.each(PORTS)('crypto port $name', (port) => {
  it('gives the vectors of RFC 8032 7.1', () => {
    expect(port.ed25519PublicKey(PRIMARY_SEED)).toEqual(PRIMARY_PUBLIC);
    expect(port.ed25519PublicKey(FALLBACK_SEED)).toEqual(FALLBACK_PUBLIC);
    const empty = hex(
      'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
    );
    const one = hex(
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
    );
    expect(port.ed25519Signer(PRIMARY_SEED)(hex(''))).toEqual(empty);
    expect(port.ed25519Signer(FALLBACK_SEED)(hex('72'))).toEqual(one);
    expect(port.ed25519Verifier(PRIMARY_PUBLIC)(hex(''), empty)).toBe(true);
    expect(port.ed25519Verifier(PRIMARY_PUBLIC)(hex('00'), empty)).toBe(false);
  });

  it('gives the vectors of RFC 4231 and FIPS 180', () => {
    const mac = port.hmacSha256(new Uint8Array(20).fill(0x0b))(new TextEncoder().encode('Hi There'));
    expect(Buffer.from(mac).toString('hex')).toBe('b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7');
    expect(Buffer.from(port.sha256(new TextEncoder().encode('abc'))).toString('hex')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
  });

  it('refuses tags of any other length, and bad points, without a throw', () => {
    const verify = port.ed25519Verifier(PRIMARY_PUBLIC);
    for (const length of [0, 32, 63, 65, 128]) expect(verify(hex('00'), new Uint8Array(length))).toBe(false);
    expect(verify(hex('00'), new Uint8Array(64).fill(0xff))).toBe(false);
  });

  it('compares', () => {
    expect(port.equal(hex('0102'), hex('0102'))).toBe(true);
    expect([hex('0103'), hex('01'), hex('010200'), hex('')].map((other) => port.equal(hex('0102'), other))).toEqual(
      Array(4).fill(false),
    );
  });
});

describe('both crypto ports', () => {
  it('give the same keys, signatures, macs and digests', () => {
    fc.assert(
      fc.property(seed32, fc.uint8Array({ maxLength: 300 }), (seed, message) => {
        expect(nobleCrypto.ed25519PublicKey(seed)).toEqual(native.ed25519PublicKey(seed));
        expect(nobleCrypto.ed25519Signer(seed)(message)).toEqual(native.ed25519Signer(seed)(message));
        expect(nobleCrypto.hmacSha256(seed)(message)).toEqual(native.hmacSha256(seed)(message));
        expect(nobleCrypto.sha256(message)).toEqual(native.sha256(message));
      }),
      { numRuns: 60 },
    );
  });

  it('give keys of seeds without a fault, which a keyring does not look for', () => {
    const bounds = [new Uint8Array(32), new Uint8Array(32).fill(0xff)];
    const property = fc.property(seed32, (seed) => {
      for (const port of PORTS) expect(publicKeyFault(port.ed25519PublicKey(seed))).toBeNull();
    });
    fc.assert(property, { numRuns: 25, examples: bounds.map((seed) => [seed]) });
  });

  it('give the same verdict on good, changed and random signatures', () => {
    const tag = fc.oneof(
      fc.record({ at: fc.nat(63), xor: fc.integer({ min: 0, max: 255 }) }),
      fc.uint8Array({ minLength: 64, maxLength: 64 }),
    );
    fc.assert(
      fc.property(seed32, fc.uint8Array({ maxLength: 40 }), tag, (seed, message, change) => {
        const key = native.ed25519PublicKey(seed);
        let changed: Uint8Array;
        if (change instanceof Uint8Array) changed = change;
        else {
          changed = native.ed25519Signer(seed)(message);
          changed[change.at] = (changed[change.at] ?? 0) ^ change.xor;
        }
        const verdicts = PORTS.map((port) => port.ed25519Verifier(key)(message, changed));
        expect(verdicts[1]).toBe(verdicts[0]);
      }),
      { numRuns: 80 },
    );
  });

  it('refuse S plus the group order', () => {
    const message = randomBytes(20);
    const tag = Buffer.from(native.ed25519Signer(PRIMARY_SEED)(message));
    const s = BigInt(`0x${Buffer.from(tag.subarray(32)).reverse().toString('hex')}`) + ORDER;
    const malleated = Buffer.concat([tag.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse()]);
    expect(PORTS.map((port) => port.ed25519Verifier(PRIMARY_PUBLIC)(message, malleated))).toEqual([false, false]);
  });

  it('refuse an R outside the prime-order group, which the equation with the cofactor would accept', () => {
    const message = randomBytes(20);
    const { scalar } = utils.getExtendedPublicKey(PRIMARY_SEED);
    const orderEight = Point.fromBytes(hex('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05'));
    const r = 12345n;
    const tagWith = (point: Point): Uint8Array => {
      const R = point.toBytes();
      const k =
        BigInt(
          `0x${Buffer.from(sha512(Buffer.concat([R, PRIMARY_PUBLIC, message])))
            .reverse()
            .toString('hex')}`,
        ) % ORDER;
      const s = (r + k * scalar) % ORDER;
      return Buffer.concat([R, Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse()]);
    };
    const plain = Point.BASE.multiply(r);
    expect(PORTS.map((port) => port.ed25519Verifier(PRIMARY_PUBLIC)(message, tagWith(plain)))).toEqual([true, true]);
    const mixed = tagWith(plain.add(orderEight));
    expect(verify(mixed, message, PRIMARY_PUBLIC, { zip215: false })).toBe(true);
    expect(PORTS.map((port) => port.ed25519Verifier(PRIMARY_PUBLIC)(message, mixed))).toEqual([false, false]);
  });

  it('HS256 secrets of the golden vectors agree', () => {
    const message = randomBytes(50);
    expect(nobleCrypto.hmacSha256(HS256_SECRET)(message)).toEqual(native.hmacSha256(HS256_SECRET)(message));
  });
});
