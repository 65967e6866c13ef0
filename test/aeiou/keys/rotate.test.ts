import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type CryptoPort,
  formatKeys,
  generateKeys,
  type KeyInit,
  keyringFrom,
  loadVerifyKeys,
  mintToken,
  nobleCrypto,
  publicKeys,
  rotateKeys,
  verifyToken,
} from '../../../src/aeiou/index.ts';
import { tempFolder } from '../../folder.ts';
import { goldenTurn, HS256_SECRET, ISSUED, NONCE, SID, TestClock, thrownBy } from '../kit.ts';

const KEYS = generateKeys('main');
const roles = (keys: readonly KeyInit[]): string[] => keys.map(({ kid, role }) => `${kid} ${role}`);

describe('rotating a key file', () => {
  it('A3-11.5-1: a token signed before verifies through the grace with the new file, and not after it', async () => {
    const clock = new TestClock();
    const signer = keyringFrom(KEYS, { clock }).signer('primary');
    if (signer === null) throw new Error('no signer');
    const turn = { sessionId: SID, turnIndex: 1, turnNonce: NONCE, jti: 'j', issuedAt: ISSUED, ttl: null };
    const token = await mintToken({ ...turn, payload: { action: 'done' } }, signer);
    const { keys, minted, retired } = rotateKeys(KEYS, { role: 'primary', now: ISSUED });
    expect({ minted, retired }).toEqual({
      minted: 'main-primary-2',
      retired: { kid: 'main-primary', verifyUntil: ISSUED + 300 + 60 },
    });
    const ring = keyringFrom(keys, { clock });
    expect(ring.signer('primary')?.kid).toBe('main-primary-2');
    const verify = () => verifyToken(token, goldenTurn({ keys: ring }));
    clock.seconds = ISSUED + 360;
    expect(verify().ok).toBe(true);
    clock.seconds += 1;
    expect(verify()).toMatchObject({ code: 'ERR_TOKEN_VERIFY', detail: 'unknown_kid' });
  });

  it('the private half of the old key is gone', () => {
    const [old] = KEYS;
    if (old === undefined || !('seed' in old)) throw new Error('no seed');
    const text = formatKeys(rotateKeys(KEYS, { role: 'primary', now: ISSUED }).keys);
    expect(text).not.toContain(Buffer.from(old.seed).toString('base64url'));
    expect(text).toContain('"kid": "main-primary"');
  });

  it('goes on counting, drops what is over, and leaves the other role alone', () => {
    const first = rotateKeys(KEYS, { role: 'primary', now: ISSUED });
    const second = rotateKeys(first.keys, { role: 'primary', now: ISSUED + 10 });
    expect(roles(second.keys)).toEqual([
      'main-primary-3 primary',
      'main-primary-2 retired',
      'main-primary retired',
      'main-fallback fallback',
    ]);
    const third = rotateKeys(second.keys, { role: 'fallback', now: ISSUED + 361 });
    expect(third.dropped).toEqual(['main-primary']);
    expect(third.minted).toBe('main-fallback-2');
  });

  it('A3-11.5-2: the grace is that of the configuration', () => {
    const lifetimes = { maxTtl: 30, rotationBuffer: 0 };
    expect(rotateKeys(KEYS, { role: 'primary', now: ISSUED, lifetimes }).retired?.verifyUntil).toBe(ISSUED + 30);
  });

  it('fills an empty role, keeps shared secrets, and never takes a name twice', () => {
    const shared: KeyInit = { kid: 'main', role: 'primary', alg: 'HS256', secret: HS256_SECRET };
    const { keys } = rotateKeys([shared], { role: 'primary', now: ISSUED });
    expect(keys[1]).toEqual({ kid: 'main', role: 'retired', alg: 'HS256', secret: HS256_SECRET, verifyUntil: ISSUED + 360 });
    expect(rotateKeys([], { role: 'fallback', now: ISSUED })).toMatchObject({ minted: 'fallback-2', retired: null, dropped: [] });
    expect(thrownBy(() => rotateKeys(KEYS, { role: 'primary', now: ISSUED, kid: 'main-fallback' }))).toMatchObject({
      code: 'ERR_KEY',
      detail: 'duplicate',
    });
  });
});

describe('the name of a new key', () => {
  it('is refused where the key is made, in the words of the keyring', () => {
    const message = 'a kid has 1 to 64 characters out of A-Z a-z 0-9 . _ -';
    for (const name of ['a b', 'ä', 'n'.repeat(56)])
      expect(thrownBy(() => generateKeys(name))).toMatchObject({ code: 'ERR_KEY', detail: 'kid', message });
    expect(thrownBy(() => rotateKeys(KEYS, { role: 'primary', now: ISSUED, kid: 'a b' }))).toMatchObject({
      detail: 'kid',
      message,
    });
    expect(generateKeys('n'.repeat(55)).map(({ kid }) => kid.length)).toEqual([63, 64]);
  });
});

describe('the cryptography of a rotation', () => {
  it('is the one that the caller gives', () => {
    const used: number[] = [];
    const crypto: CryptoPort = { ...nobleCrypto, ed25519PublicKey: (seed) => new Uint8Array(used.push(seed.length)) };
    rotateKeys(KEYS, { role: 'primary', now: ISSUED, crypto });
    expect(used).toEqual([32]);
  });
});

describe('key files for verifiers', () => {
  const folder = tempFolder();
  const path = join(folder, 'k.json');
  const write = (keys: readonly KeyInit[], mode: number): void => {
    writeFileSync(path, formatKeys(keys));
    chmodSync(path, mode);
  };

  it('may be read by everyone when they hold public halves alone, and changed by nobody else', () => {
    write(publicKeys(KEYS), 0o644);
    expect(loadVerifyKeys(path)).toHaveLength(2);
    for (const mode of [0o664, 0o646]) {
      write(publicKeys(KEYS), mode);
      expect(thrownBy(() => loadVerifyKeys(path))).toMatchObject({ detail: 'mode' });
    }
  });

  it('are for their owner alone as soon as one private half is in them', () => {
    const secret: KeyInit = { kid: 's', role: 'retired', alg: 'HS256', secret: HS256_SECRET };
    for (const keys of [KEYS, [...publicKeys(KEYS), secret]]) {
      write(keys, 0o644);
      expect(thrownBy(() => loadVerifyKeys(path))).toMatchObject({ code: 'ERR_KEY', detail: 'mode' });
      write(keys, 0o600);
      expect(loadVerifyKeys(path)).toHaveLength(keys.length);
    }
  });
});
