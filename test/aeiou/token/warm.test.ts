import childProcess from 'node:child_process';
import dgram from 'node:dgram';
import dns from 'node:dns';
import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import tls from 'node:tls';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  type CryptoPort,
  defaultCrypto,
  Keyring,
  Minter,
  MintLedger,
  nativeCrypto,
  nobleCrypto,
  verifyToken,
} from '../../../src/aeiou/index.ts';
import {
  brokenSigner,
  FALLBACK,
  FALLBACK_SEED,
  goldenKeys,
  goldenTurn,
  IDS,
  NEVER,
  remoteKeys,
  TestClock,
  TOKENS,
  TURN,
} from '../kit.ts';

/** Every module of Node that opens files, connections or processes. */
const DOORS: Readonly<Record<string, object>> = {
  fs,
  'fs.promises': fs.promises,
  net,
  tls,
  http,
  https,
  dgram,
  dns,
  childProcess,
};

afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

/** Records the name of every function of {@link DOORS} that is called, and calls the original. */
function watchDoors(): string[] {
  const used: string[] = [];
  for (const [module, door] of Object.entries(DOORS))
    for (const [name, value] of Object.entries(door)) {
      // Classes and constants take effect only through functions.
      if (typeof value !== 'function' || /^[A-Z_]/.test(name)) continue;
      const functions = door as Record<string, (...args: unknown[]) => unknown>;
      const original = functions[name];
      vi.spyOn(functions, name).mockImplementation(function (this: unknown, ...args: unknown[]) {
        used.push(`${module}.${name}`);
        return original?.apply(this, args);
      });
    }
  syncBuiltinESMExports();
  return used;
}

const REQUEST = { kind: 'LOOP', payload: { action: 'continue' }, opts: null };

describe('the fallback signer is warm', () => {
  it('AL3-10-3: a fallback mint opens no file, no connection and no process', async () => {
    const keyring = remoteKeys(brokenSigner);
    const minter = new Minter({ keyring, clock: new TestClock(), ids: IDS });
    const used = watchDoors();
    const minted = await minter.mint(TURN, new MintLedger(), REQUEST, NEVER);
    expect(minted).toMatchObject({ kid: FALLBACK, action: 'abort' });
    expect(used).toEqual([]);
  });

  it('AL3-10-3: the watch would have seen one', async () => {
    const keyring = remoteKeys(() => {
      fs.statSync('.');
      throw new Error('the key file is gone');
    });
    const minter = new Minter({ keyring, clock: new TestClock(), ids: IDS });
    const used = watchDoors();
    await minter.mint(TURN, new MintLedger(), REQUEST, NEVER);
    expect(used).toContain('fs.statSync');
  });

  it('AL3-10-3: it is made when the key is registered, not when it is needed', async () => {
    let imported = 0;
    const crypto: CryptoPort = {
      ...defaultCrypto,
      ed25519Signer: (seed) => {
        imported += 1;
        return defaultCrypto.ed25519Signer(seed);
      },
    };
    const keys = new Keyring({ clock: new TestClock(), crypto });
    keys.add({ kid: FALLBACK, role: 'fallback', alg: 'Ed25519', seed: FALLBACK_SEED });
    const minter = new Minter({ keyring: keys, clock: new TestClock(), ids: IDS });
    expect(imported).toBe(1);
    await minter.mint(TURN, new MintLedger(), REQUEST, NEVER);
    expect(imported).toBe(1);
  });
});

describe('comparing shared-secret tags', () => {
  it('threat 44: goes through the port’s constant-time comparison, once, for right and wrong tags alike', () => {
    const native = nativeCrypto();
    for (const port of native === null ? [nobleCrypto] : [native, nobleCrypto]) {
      const compared: string[] = [];
      const crypto: CryptoPort = {
        ...port,
        equal: (a, b) => {
          compared.push(`${a.length} ${b.length}`);
          return port.equal(a, b);
        },
      };
      const keys = goldenKeys({ crypto });
      expect(verifyToken(TOKENS.T4, goldenTurn({ keys })).ok).toBe(true);
      const wrong = TOKENS.T4.replace(/.{10}>>>$/, (end) => `${'A'.repeat(9)}${end.slice(9)}`);
      expect(verifyToken(wrong, goldenTurn({ keys }))).toMatchObject({ code: 'ERR_TOKEN_VERIFY', detail: 'tag' });
      expect(compared).toEqual(['32 32', '32 32']);
    }
  });

  it('threat 44: both ports say equal only for equal bytes, wherever the difference is', () => {
    const secret = Uint8Array.from({ length: 32 }, (_, i) => i);
    for (const port of [nativeCrypto() ?? nobleCrypto, nobleCrypto]) {
      expect(port.equal(secret, Uint8Array.from(secret))).toBe(true);
      expect(port.equal(secret, secret.subarray(1))).toBe(false);
      expect(port.equal(new Uint8Array(0), new Uint8Array(0))).toBe(true);
      for (let at = 0; at < 32; at++) {
        const other = Uint8Array.from(secret);
        other[at] = (other[at] ?? 0) ^ 0x80;
        expect(port.equal(secret, other)).toBe(false);
      }
    }
  });
});
