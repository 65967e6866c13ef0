import { chmodSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import {
  canonicalText,
  FALLBACK_SEED,
  ISSUED,
  NONCE,
  PRIMARY,
  PRIMARY_SEED,
  SHARED,
  SID,
  TOKENS,
  tokenOf,
} from '../aeiou/kit.ts';
import { folder, linesOf } from './spawn.ts';
import { within } from './terminal.ts';

const ajv = new Ajv2020({ strict: true, strictRequired: false, allErrors: true });
const validate = ajv.compile(JSON.parse(readFileSync(new URL('../../docs/schemas/token.schema.json', import.meta.url), 'utf8')));
/** One JSON object of the published schema. */
function valid(text: string) {
  const value = JSON.parse(text);
  expect(validate(value), JSON.stringify(validate.errors)).toBe(true);
  return value;
}

const b64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');
const KEYS = JSON.stringify({
  version: 1,
  keys: [
    { kid: PRIMARY, role: 'primary', alg: 'Ed25519', seed: b64(PRIMARY_SEED) },
    { kid: 'ed25519-fallback-1', role: 'fallback', alg: 'Ed25519', seed: b64(FALLBACK_SEED) },
  ],
});

function keyFolder(text = KEYS): string {
  const cwd = folder({ 'k.json': text });
  chmodSync(join(cwd, 'k.json'), 0o600);
  return cwd;
}

const TURN = ['--sid', SID, '--turn', '1', '--nonce', NONCE, '--now', String(ISSUED)];
const verify = (token: string, ...flags: readonly string[]) =>
  within(['token', 'verify', token, '--keys', 'k.json', ...TURN, ...flags], { cwd: keyFolder() });

describe('token inspect', () => {
  it('shows what a token claims, and says that nothing of it is verified', async () => {
    const ended = await within(['token', 'inspect', TOKENS.T2]);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(linesOf(ended.stdout)[0]).toMatch(/^NOT VERIFIED/);
    for (const part of ['LOOP continue', PRIMARY, SID, NONCE, '2024-08-30T10:05:45Z', 'min_tokens'])
      expect(ended.stdout).toContain(part);
  });

  it('--json gives the payload, unauthenticated', async () => {
    const ended = await within(['token', 'inspect', '-', '--json'], { stdin: `${TOKENS.T1}\n` });
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(valid(ended.stdout)).toMatchObject({
      authenticated: false,
      ok: true,
      kind: 'LOOP',
      bytes: 406,
      payloadBytes: 224,
      canonical: true,
      payload: { jti: '00000000-0000-4000-8000-000000000001', payload: { action: 'done' } },
    });
    const spaced = await within(['token', 'inspect', tokenOf(canonicalText({}).replace(',', ', ')), '--json']);
    expect(valid(spaced.stdout)).toMatchObject({ canonical: false });
  });

  it('what is no token is exit 1, with the code; control characters stay out of the terminal', async () => {
    const ended = await within(['token', 'inspect', `"${TOKENS.T1}"`]);
    expect(ended).toMatchObject({ code: 1, stderr: '' });
    expect(ended.stdout).toMatch(/^ERR_TOKEN_PARSE: /);
    const json = await within(['token', 'inspect', 'x', '--json']);
    expect(json.code).toBe(1);
    expect(valid(json.stdout)).toMatchObject({
      authenticated: false,
      ok: false,
      code: 'ERR_TOKEN_PARSE',
      detail: 'grammar',
    });
    const loud = tokenOf(canonicalText({ payload: '{"action":"done","note":"\\u001b[2J"}' }));
    expect((await within(['token', 'inspect', loud])).stdout).not.toContain('\u001b');
  });
});

describe('token verify', () => {
  it('a genuine token is exit 0, with what it says', async () => {
    const ended = await verify(TOKENS.T1);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(ended.stdout).toMatch(/^genuine\n {2}LOOP done, signed with ed25519-test-1\n/);
    expect(ended.stdout).toContain('not checked: whether it was used before');
    const json = await verify(TOKENS.T1, '--json');
    expect(valid(json.stdout)).toMatchObject({ authenticated: true, ok: true, payload: { payload: { action: 'done' } } });
  });

  it.each([
    ['another session', ['--sid', 'sid-2'], 'ERR_TOKEN_SCOPE', 'session'],
    ['another turn', ['--turn', '2'], 'ERR_TOKEN_SCOPE', 'turn'],
    ['another nonce', ['--nonce', 'AAAAAAAAAAAAAAAAAAAAAA'], 'ERR_TOKEN_SCOPE', 'nonce'],
    ['too late', ['--now', String(ISSUED + 121)], 'ERR_TOKEN_TTL', 'expired'],
    ['too early', ['--now', String(ISSUED - 61), '--clock-skew', '60'], 'ERR_TOKEN_TTL', 'future'],
  ])('%s is exit 1', async (_, flags, code, detail) => {
    const ended = await verify(TOKENS.T1, ...flags, '--json');
    expect(ended).toMatchObject({ code: 1, stderr: '' });
    expect(valid(ended.stdout)).toMatchObject({ authenticated: false, ok: false, code, detail });
  });

  it('says which checks a rejected token passed, and shows the rest as claims', async () => {
    const { code, stdout } = await verify(TOKENS.T1, '--turn', '2');
    expect(code).toBe(1);
    expect(linesOf(stdout).slice(0, 4)).toEqual([
      'ERR_TOKEN_SCOPE: the token was minted for another turn',
      '  passed: form, key, canonical payload, signature, fields, session',
      '  failed: turn',
      '  claims to be LOOP done, signed with ed25519-test-1',
    ]);
  });

  it('a line that is no token has nothing to show', async () => {
    const { code, stdout } = await verify('x');
    expect(code).toBe(1);
    expect(linesOf(stdout)).toEqual([expect.stringMatching(/^ERR_TOKEN_PARSE: /), '  failed: form']);
  });

  it('public halves suffice, and their file may be readable', async () => {
    const cwd = keyFolder();
    const exported = await within(['keys', 'export-public', 'k.json'], { cwd });
    expect(exported).toMatchObject({ code: 0, stderr: '' });
    expect(exported.stdout).not.toContain(b64(PRIMARY_SEED));
    writeFileSync(join(cwd, 'public.json'), exported.stdout, { mode: 0o644 });
    const ended = await within(['token', 'verify', '-', '--keys', 'public.json', ...TURN], { cwd, stdin: TOKENS.T5 });
    expect(ended.code).toBe(0);
    chmodSync(join(cwd, 'k.json'), 0o644);
    const open = await within(['token', 'verify', TOKENS.T1, '--keys', 'k.json', ...TURN], { cwd });
    expect(open).toMatchObject({ code: 2, stdout: '' });
    expect(open.stderr).toContain('chmod 600');
  });

  it('A3-6.4-2: a shared secret counts only with --allow-hs256', async () => {
    const secret = b64(new Uint8Array(32).fill(0x0b));
    const cwd = keyFolder(JSON.stringify({ version: 1, keys: [{ kid: SHARED, role: 'retired', alg: 'HS256', secret }] }));
    const args = ['token', 'verify', TOKENS.T4, '--keys', 'k.json', ...TURN];
    expect(await within(args, { cwd })).toMatchObject({ code: 2, stderr: expect.stringContaining('allowHs256') });
    expect((await within([...args, '--allow-hs256'], { cwd })).code).toBe(0);
  });

  it.each([
    [[], /--keys <FILE> is missing/],
    [['--keys', 'none.json', ...TURN], /none\.json/],
    [['--keys', 'k.json', ...TURN, '--nonce', 'short'], /--nonce must be 16 bytes/],
    [['--keys', 'k.json', ...TURN, '--turn', '-1'], /--turn/],
  ])('%j is wrong use: exit 2, one sentence', async (flags, says) => {
    const ended = await within(['token', 'verify', TOKENS.T1, ...flags], { cwd: keyFolder() });
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(linesOf(ended.stderr)).toHaveLength(1);
    expect(ended.stderr).toMatch(says);
  });
});

describe('the schema of tokens', () => {
  it('refuses what neither command prints', () => {
    const payload = JSON.parse(canonicalText({}));
    expect(validate({ authenticated: true, ok: true, payload })).toBe(true);
    for (const wrong of [
      { authenticated: true, ok: false, code: 'ERR_TOKEN_TTL', detail: 'expired', message: 'm' },
      { authenticated: true, ok: true, payload: { ...payload, payload: { action: 'halt' } } },
      { authenticated: false, ok: true, payload },
      { authenticated: false, ok: false, code: 'ERR_TOKEN_REPLAY', detail: 'replay', message: 'm' },
    ])
      expect(validate(wrong)).toBe(false);
  });
});

describe('keys rotate', () => {
  it('replaces a key, keeps the old public half for the grace, and leaves a file for its owner alone', async () => {
    const cwd = folder({});
    await within(['keys', 'generate', 'k.json'], { cwd });
    symlinkSync('k.json', join(cwd, 'link.json'));
    const before = Math.floor(Date.now() / 1000);
    const ended = await within(['keys', 'rotate', 'link.json', '--buffer', '10', '--json'], { cwd });
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    const done = JSON.parse(ended.stdout);
    expect(done).toMatchObject({ role: 'primary', minted: 'host-primary-2', retired: { kid: 'host-primary' }, dropped: [] });
    expect(done.retired.verifyUntil - before).toBeGreaterThanOrEqual(310);
    expect(done.retired.verifyUntil - before).toBeLessThan(370);
    expect(statSync(join(cwd, 'k.json')).mode & 0o777).toBe(0o600);
    const keys = JSON.parse(readFileSync(join(cwd, 'k.json'), 'utf8')).keys;
    expect(keys.map(({ kid, role }: { kid: string; role: string }) => `${kid} ${role}`)).toEqual([
      'host-primary-2 primary',
      'host-primary retired',
      'host-fallback fallback',
    ]);
    expect(keys[1].seed).toBeUndefined();
    const listed = await within(['keys', 'list', 'k.json'], { cwd });
    expect(linesOf(listed.stdout)[1]).toMatch(/^host-primary +retired +Ed25519 +\S{43} +until 20\S+Z$/);
    const fallback = await within(['keys', 'rotate', 'k.json', '--role', 'fallback', '--kid', 'spare'], { cwd });
    expect(fallback.stdout).toMatch(/^k\.json: spare is the new fallback key\nhost-fallback verifies until 20\S+Z\n$/);
  });

  it.each([
    [['keys', 'rotate', 'none.json'], /none\.json/],
    [['keys', 'rotate', 'k.json', '--kid', 'a b'], /kid/],
    [['keys', 'rotate', 'k.json', '--kid', PRIMARY], /already/],
    [['keys', 'rotate', 'k.json', '--role', 'spare'], /role/],
    [['keys', 'export-public', 'none.json'], /none\.json/],
  ])('%j is refused in one sentence, and the file stays', async (args, says) => {
    const cwd = keyFolder();
    const ended = await within(args, { cwd });
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(linesOf(ended.stderr)).toHaveLength(1);
    expect(ended.stderr).toMatch(says);
    expect(readFileSync(join(cwd, 'k.json'), 'utf8')).toBe(KEYS);
  });
});
