import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  formatKeys,
  generateKeys,
  KeyError,
  type KeyInit,
  keyringFrom,
  loadKeyFile,
  loadVerifyKeys,
  parseKeys,
  publicKeys,
  saveKeyFile,
  verifyToken,
} from '../../../src/aeiou/index.ts';
import { tempFolder } from '../../folder.ts';
import { FALLBACK_SEED, goldenTurn, HS256_SECRET, PRIMARY_PUBLIC, PRIMARY_SEED, TestClock, TOKENS, thrownBy } from '../kit.ts';

const folder = tempFolder();
const path = (name: string): string => join(folder, name);

const KEYS: readonly KeyInit[] = [
  { kid: 'ed25519-test-1', role: 'primary', alg: 'Ed25519', seed: PRIMARY_SEED },
  { kid: 'ed25519-fallback-1', role: 'fallback', alg: 'Ed25519', seed: FALLBACK_SEED },
  { kid: 'hs256-test-1', role: 'retired', alg: 'HS256', secret: HS256_SECRET },
  { kid: 'old', role: 'retired', alg: 'Ed25519', publicKey: PRIMARY_PUBLIC, verifyUntil: 1725012999 },
];

function fault(work: () => unknown): string {
  const error = thrownBy(work);
  return error instanceof KeyError ? error.detail : String(error);
}

describe('key files', () => {
  it('come back as they were saved, with mode 0600 and nothing left behind', () => {
    saveKeyFile(path('a.json'), KEYS);
    expect(loadKeyFile(path('a.json'))).toEqual(KEYS);
    expect(statSync(path('a.json')).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['a.json']);
    const keys = keyringFrom(loadKeyFile(path('a.json')), { clock: new TestClock(), allowHs256: true });
    expect(verifyToken(TOKENS.T1, goldenTurn({ keys })).ok).toBe(true);
  });

  it('that others can access are refused, with what to do', () => {
    writeFileSync(path('open.json'), formatKeys(KEYS), { mode: 0o600 });
    for (const mode of [0o640, 0o604, 0o644, 0o620, 0o660, 0o601]) {
      chmodSync(path('open.json'), mode);
      const error = thrownBy(() => loadKeyFile(path('open.json')));
      expect(error).toMatchObject({ code: 'ERR_KEY', detail: 'mode' });
      expect(String(error)).toContain('chmod 600');
    }
    chmodSync(path('open.json'), 0o400);
    expect(loadKeyFile(path('open.json'))).toHaveLength(4);
    chmodSync(path('open.json'), 0o644);
    symlinkSync(path('open.json'), path('link.json'));
    expect(fault(() => loadKeyFile(path('link.json')))).toBe('mode');
  });

  it('of another user are refused, public halves too, and those of root are not (finding 18)', () => {
    const file = path('theirs.json');
    writeFileSync(file, formatKeys(KEYS), { mode: 0o600 });
    const own = process.geteuid?.() ?? 0;
    const other = vi.spyOn(process, 'geteuid').mockReturnValue(own + 1);
    onTestFinished(() => other.mockRestore());
    // Only root can give a file away. The file of any other user becomes foreign by the changed answer alone.
    if (own === 0) chownSync(file, 12345, 12345);
    for (const load of [loadKeyFile, loadVerifyKeys]) {
      const error = thrownBy(() => load(file));
      expect(error).toMatchObject({ code: 'ERR_KEY', detail: 'mode' });
      expect(String(error)).toContain('belongs to another user');
    }
    if (own === 0) chownSync(file, 0, 0);
    else other.mockReturnValue(own);
    expect(loadKeyFile(file)).toHaveLength(4);
  });

  it('that cannot be read or written give one KeyError', () => {
    expect(fault(() => loadKeyFile(path('none.json')))).toBe('file');
    expect(fault(() => loadKeyFile(folder))).toMatch(/file|mode/);
    expect(fault(() => saveKeyFile(path('no/such/folder.json'), KEYS))).toBe('file');
    expect(readFileSync(path('a.json'), 'utf8')).toContain('"version": 1');
  });

  it('leave no descriptor open, whether they are written, read or refused', () => {
    const fs = process.getBuiltinModule('node:fs');
    const open = vi.spyOn(fs, 'openSync');
    const close = vi.spyOn(fs, 'closeSync');
    onTestFinished(() => void [open, close].map((spy) => spy.mockRestore()));
    saveKeyFile(path('closed.json'), KEYS);
    loadKeyFile(path('closed.json'));
    chmodSync(path('closed.json'), 0o644);
    expect(fault(() => loadKeyFile(path('closed.json')))).toBe('mode');
    rmSync(path('closed.json'));
    expect(open).toHaveBeenCalledTimes(3);
    expect(close.mock.calls.flat()).toEqual(open.mock.results.map(({ value }) => value));
  });

  it('that cannot take the place of the old one leave no draft', () => {
    const taken = path('taken');
    mkdirSync(taken);
    expect(fault(() => saveKeyFile(taken, KEYS))).toBe('file');
    expect(readdirSync(folder).filter((name) => name.endsWith('.new'))).toEqual([]);
  });

  it('say why they are refused: the missing file, the mode in octal, the number of the key', () => {
    saveKeyFile(path('open.json'), KEYS);
    chmodSync(path('open.json'), 0o644);
    expect(thrownBy(() => loadKeyFile(path('none.json')))).toMatchObject({
      message: expect.stringContaining('there is no such file'),
    });
    expect(thrownBy(() => loadKeyFile(path('open.json')))).toMatchObject({ message: expect.stringContaining('0644') });
    expect(thrownBy(() => loadKeyFile(folder))).toMatchObject({ message: expect.not.stringContaining('there is no such file') });
    expect(thrownBy(() => parseKeys('{"version":1,"keys":[{}]}'))).toMatchObject({
      message: expect.stringContaining('key 1 of'),
    });
  });

  it('of another form are refused, without a word of what they hold', () => {
    const secret = Buffer.from(PRIMARY_SEED).toString('base64url');
    const key = `{"kid":"k","role":"primary","alg":"Ed25519","seed":"${secret}"}`;
    const bad = [
      '',
      secret,
      `{"version":1,"keys":[${key}`,
      `{"version":1,"keys":[${key}],"keys":[]}`,
      `{"version":2,"keys":[${key}]}`,
      `{"version":1,"keys":${key}}`,
      `{"version":1,"keys":[${key}],"${'x'.repeat(5)}":1}`,
      `{"version":1,"keys":["${secret}"]}`,
      `{"version":1,"keys":[${key.replace('"kid":"k",', '')}]}`,
      `{"version":1,"keys":[${key.replace('primary', 'main')}]}`,
      `{"version":1,"keys":[${key.replace('Ed25519', 'HS256')}]}`,
      `{"version":1,"keys":[${key.replace('"seed"', '"secret"')}]}`,
      `{"version":1,"keys":[${key.replace('"}', '="}')}]}`,
      `{"version":1,"keys":[${key.replace('"seed"', `"public":"${secret}","seed"`)}]}`,
      `{"version":1,"keys":[${key.replace('"seed"', '"verifyUntil":"1","seed"')}]}`,
      `{"version":1,"keys":[${key.replace(/,"seed.*"/, '')}]}`,
    ];
    for (const text of bad) {
      const error = thrownBy(() => parseKeys(text));
      expect(error).toMatchObject({ code: 'ERR_KEY', detail: 'file' });
      expect(String(error)).not.toContain(secret.slice(0, 8));
    }
    expect(parseKeys(`{"version":1,"keys":[${key}]}`)).toEqual([KEYS[0] === undefined ? null : { ...KEYS[0], kid: 'k' }]);
  });

  it('can be made from new keys, a primary and a fallback, never the same twice', () => {
    const [a, b] = [generateKeys('main'), generateKeys('main')];
    expect(a.map(({ kid, role }) => `${kid} ${role}`)).toEqual(['main-primary primary', 'main-fallback fallback']);
    expect(formatKeys(a)).not.toBe(formatKeys(b));
    expect(keyringFrom(a, { clock: new TestClock() }).signer('fallback')?.kid).toBe('main-fallback');
  });

  it('give their public halves for verifiers elsewhere', () => {
    const exported = publicKeys(KEYS);
    expect(exported.map(({ kid, role }) => `${kid} ${role}`)).toEqual([
      'ed25519-test-1 retired',
      'ed25519-fallback-1 retired',
      'old retired',
    ]);
    expect(formatKeys(exported)).not.toContain('seed');
    const keys = keyringFrom(exported, { clock: new TestClock() });
    expect(verifyToken(TOKENS.T1, goldenTurn({ keys })).ok).toBe(true);
  });
});
