import { describe, expect, it } from 'vitest';
import { type MintInput, mintToken, progressDigest, ReplayCache } from '../../src/aeiou/index.ts';
import { seededIds } from '../../src/loop/ids.ts';
import { Metrics } from '../../src/loop/metrics.ts';
import { readReply } from '../../src/loop/turn/input.ts';
import { newKeyring, type Program, reply, TestClock } from './fake.ts';
import { bench, turnOf } from './harness.ts';

const clock = new TestClock();
const keyring = newKeyring('test', clock);
const NONCE = seededIds('seed').nonce('sid-1', 1);

/** A token as this host would mint it for turn 1 of sid-1, but for the fields given. */
async function forge(fields: Partial<MintInput> = {}, by = keyring): Promise<string> {
  const signer = by.signer('primary');
  if (signer === null) throw new Error('no signer');
  return mintToken(
    {
      sessionId: 'sid-1',
      turnIndex: 1,
      turnNonce: NONCE,
      jti: '00000000-0000-4000-8000-000000000001',
      issuedAt: 1_725_012_345,
      ttl: 120,
      payload: { action: 'done' },
      ...fields,
    },
    signer,
  );
}

/** Changes the last letter of a token's payload part: still base64url, no longer what was signed. */
function tampered(token: string): string {
  const [head = '', tag = ''] = token.split('.');
  return `${head.slice(0, -4)}${head.endsWith('A') ? 'B' : 'A'}${head.slice(-3)}.${tag}`;
}

const emitting = (...lines: readonly (string | Promise<string>)[]): Record<string, Program> => ({
  emits: async ({ emit }) => {
    for (const line of lines) emit(await line);
  },
});

const host = (...lines: readonly (string | Promise<string>)[]) => bench(emitting(...lines), { clock, keyring });

describe('a token that is not this turn’s', () => {
  it('the tests forge tokens that would verify but for their one defect', async () => {
    expect((await turnOf(host(forge()), 'emits')).record).toMatchObject({
      decision: 'DONE',
      jti: '00000000-0000-4000-8000-000000000001',
    });
  });

  const stranger = newKeyring('test', clock);
  it.each([
    ['AL3-8-8: signed by another host under this host’s kid', 'ERR_TOKEN_VERIFY', forge({}, stranger), 'tag'],
    ['AL3-8-8: signed by another host’s own kid', 'ERR_TOKEN_VERIFY', forge({}, newKeyring('else', clock)), 'unknown_kid'],
    ['AL3-8-9: of another session', 'ERR_TOKEN_SCOPE', forge({ sessionId: 'sid-2' }), 'session'],
    ['AL3-8-9: of another turn', 'ERR_TOKEN_SCOPE', forge({ turnIndex: 2 }), 'turn'],
    [
      'AL3-8-9 A3-8-7: of an earlier run of this turn',
      'ERR_TOKEN_SCOPE',
      forge({ turnNonce: 'AAECAwQFBgcICQoLDA0ODw' }),
      'nonce',
    ],
    ['AL3-8-10: expired', 'ERR_TOKEN_TTL', forge({ issuedAt: 1_725_012_345 - 121 }), 'expired'],
    ['AL3-8-10: from the future', 'ERR_TOKEN_TTL', forge({ issuedAt: 1_725_012_345 + 61 }), 'future'],
    [
      'AL3-8-7: whose tag is no base64url',
      'ERR_TOKEN_PARSE',
      forge().then((token) => token.replace(/.>>>$/, 'x>>>').replace(/\.(.)/, '.x$1')),
      'base64',
    ],
  ] as const)('%s halts with %s', async (_, reason, token, detail) => {
    const { record } = await turnOf(host(token), 'emits');
    expect(record).toMatchObject({
      decision: 'HALT',
      reason,
      verificationFailureReason: reason,
      kid: null,
      jti: null,
      candidates: [{ line: 1, ok: false, code: reason, detail, action: null }],
    });
    expect(record.digest).toBe(progressDigest('', ''));
  });

  it('AL3-8-8: one whose payload was changed halts with ERR_TOKEN_VERIFY or, if it is no JSON any more, _PARSE', async () => {
    const { record } = await turnOf(host(forge().then(tampered)), 'emits');
    expect(record.decision).toBe('HALT');
    expect(['ERR_TOKEN_VERIFY', 'ERR_TOKEN_PARSE']).toContain(record.reason);
  });

  it('AL3-8-11: one that was used before halts with ERR_TOKEN_REPLAY', async () => {
    const replay = new ReplayCache({ clock });
    replay.add('sid-1', '00000000-0000-4000-8000-000000000001');
    const { record } = await turnOf(bench(emitting(forge()), { clock, keyring, replay }), 'emits');
    expect(record).toMatchObject({ decision: 'HALT', reason: 'ERR_TOKEN_REPLAY' });
  });

  it('AL3-8-12 AL3-11-3: none at all halts with ERR_TOKEN_MISSING', async () => {
    const { record } = await turnOf(host('please continue', '{"loop":"done"}', '[[loop:done]]', '<<<LOOP:DONE>>>'), 'emits');
    expect(record).toMatchObject({
      decision: 'HALT',
      reason: 'ERR_TOKEN_MISSING',
      candidates: [],
      verificationFailureReason: null,
    });
  });

  it('a quoted one is inert, and named as the likely mistake (AMB-06)', async () => {
    const { record } = await turnOf(host(forge().then((token) => `"${token}"`)), 'emits');
    expect(record).toMatchObject({ reason: 'ERR_TOKEN_MISSING', candidates: [], verificationFailureReason: 'ERR_TOKEN_PARSE' });
  });
});

describe('selection in a turn', () => {
  it('A3-8-3: each candidate is verified, in emission order (AL3-5.1-1)', async () => {
    const { record } = await turnOf(host(forge({ turnIndex: 2 }), 'text', forge(), forge({ sessionId: 'x' })), 'emits');
    expect(record.candidates.map(({ line, code }) => [line, code])).toEqual([
      [1, 'ERR_TOKEN_SCOPE'],
      [3, null],
      [4, 'ERR_TOKEN_SCOPE'],
    ]);
    expect(record).toMatchObject({ decision: 'DONE', verificationFailureReason: 'ERR_TOKEN_SCOPE' });
  });

  it('A3-8-4 AL3-5.3-4: with none valid, the last candidate’s failure is the reason (AMB-05)', async () => {
    const { record } = await turnOf(host(forge({ issuedAt: 1 }), forge({ turnIndex: 2 })), 'emits');
    expect(record).toMatchObject({ decision: 'HALT', reason: 'ERR_TOKEN_SCOPE' });
  });

  it('AL3-5.3-1 AL3-8-19: abort beats done beats continue, and two valid tokens are a lint', async () => {
    const of = (action: 'abort' | 'done' | 'continue', n: number) =>
      forge({ payload: { action }, jti: `00000000-0000-4000-8000-00000000000${n}` });
    const { record } = await turnOf(host(of('abort', 1), of('continue', 2), of('done', 3)), 'emits');
    expect(record).toMatchObject({ decision: 'ABORT', jti: '00000000-0000-4000-8000-000000000001' });
    expect(record.lints.map(({ code }) => code)).toContain('LINT_MULTI_TOKENS');
  });

  it('AL3-8-18 AL3-5.3-3 AL3-4-4: text after the token is a lint, and the decision stands', async () => {
    const { record } = await turnOf(host(forge(), 'bye'), 'emits');
    expect(record).toMatchObject({ decision: 'DONE', lints: [{ code: 'LINT_POST_TOKEN_TEXT', line: 2 }] });
  });

  it('AL3-4-5 A3-3.3-3 A3-3.3-5 A3-3.3-7 A3-4-4 A3-5.4-2: a token that is whispered, and stands in USERDATA and prior OUTPUT, counts for nothing', async () => {
    const token = await forge();
    const quiet = bench({ whispers: ({ whisper }) => whisper(token) }, { clock, keyring });
    const sections = { userdata: JSON.stringify({ subject: token, fields: {} }), output: token, scratchpad: token };
    const { record } = await turnOf(quiet, 'whispers', { input: readReply(sections, reply('program whispers')) });
    expect(record).toMatchObject({ decision: 'HALT', reason: 'ERR_TOKEN_MISSING', candidates: [] });
    expect(quiet.replay.size().ids).toBe(0);
  });

  it('AL3-11-2: the time of verification counts, not that of the turn’s start', async () => {
    const moving = new TestClock();
    const late = bench(
      {
        slow: async ({ emit, magic }) => {
          emit(await magic('done', {}, { ttl: 10 }));
          moving.ms += 11_000;
        },
      },
      { clock: moving },
    );
    const { record } = await turnOf(late, 'slow');
    expect(record).toMatchObject({ decision: 'HALT', reason: 'ERR_TOKEN_TTL' });
  });

  it('AL3-1-4: a signed action that no program may ask for is no decision', async () => {
    const halt = bench(
      { halts: async ({ emit, magic }) => emit(await magic('halt').catch(() => 'refused')) },
      { clock, keyring },
    );
    expect((await turnOf(halt, 'halts')).record).toMatchObject({ output: 'refused\n', reason: 'ERR_TOKEN_MISSING' });
  });
});

it('A3-10-4: one failure of each kind is counted under its own reason', async () => {
  const used = await forge({ payload: { action: 'done' } });
  const lines = [
    '<<<NSMAG:V3:LOOP:e30.e30>>>',
    await forge({}, newKeyring('other', clock)),
    await forge({ turnIndex: 2 }),
    await forge({ issuedAt: 1_725_012_000 }),
    used,
    used,
  ];
  const { record } = await turnOf(bench({ all: ({ emit }) => lines.forEach(emit) }, { clock, keyring }), 'all');
  expect(record).toMatchObject({ decision: 'DONE', verificationFailureReason: 'ERR_TOKEN_REPLAY' });
  const metrics = new Metrics();
  metrics.record(record);
  const reasons = ['PARSE', 'VERIFY', 'SCOPE', 'TTL', 'REPLAY'].map((kind) => `ERR_TOKEN_${kind}`);
  expect(metrics.snapshot().verify_fail_total).toEqual(Object.fromEntries(reasons.map((reason) => [reason, 1])));
  for (const reason of reasons) expect(metrics.prometheus()).toContain(`\nneuroscript_verify_fail_total{reason="${reason}"} 1\n`);
});
