import { describe, expect, it } from 'vitest';
import { Keyring, mintToken, verifyToken } from '../../../src/aeiou/index.ts';
import type { Signer } from '../../../src/aeiou/keys/keyring.ts';
import type { ControlPayload } from '../../../src/aeiou/token/format.ts';
import {
  canonicalText,
  FALLBACK,
  goldenKeys,
  goldenTurn,
  HS256_SECRET,
  ISSUED,
  jtiOf,
  PRIMARY,
  SHARED,
  sha256,
  TEXTS,
  TestClock,
  TOKENS,
  TURN,
  tokenOf,
} from '../kit.ts';

const NAMES = ['T1', 'T2', 'T3', 'T4', 'T5', 'T6'] as const;

/** Published in protocol.md 10: SHA-256 of the canonical payload and of the line, with their lengths in bytes. */
const PUBLISHED = {
  T1: {
    payload: '224 4ef0b0e2d214c61953e68642b452b92331b43d2170680e39f2cd5256d0439d4b',
    line: '406 3942f5b032f742968e90ce027039ec22b4223fbb336e9ddf818e4ce8582818ba',
  },
  T2: {
    payload: '273 e5604e562567e166bf9baca7f0e542e40e394d05048daaf4ff58aaa699e1fabb',
    line: '471 3f0c765a942bb5f4363d4ace1cdf631e25beea985bb2822f5a4ef4da43117be6',
  },
  T3: {
    payload: '225 e9791d35a9b716cefb1cd78097be3e15f4405241a0e90098cdd18f44c56e35b9',
    line: '407 dd3cebcff45a9e3f7b58988f42ce2d701e9d0c85ab823997bc1b2be162f5ebff',
  },
  T4: {
    payload: '222 452d1e1ec22ad2b3558707829f3888a2c42f88f10e0b8245b91c615d9c016e68',
    line: '360 f6478069daed64b3d8396b9c84d68e776a25f5fe16f80f8f5ea20c0ad3f65b4d',
  },
  T5: {
    payload: '278 46136d0692ae905565ca431a81507397c40140b2b46f5a2d74403e9182c5c634',
    line: '478 8543ccc0034a543583e80b16bfa7ad30423ebd07aae461a2fd6e7d370ded9034',
  },
  T6: {
    payload: '214 7f9c8e01700c0614affbd840977157e409c999fc2f0bc5e331ecd173d97bacac',
    line: '393 fca36d8056e1930a08268866c05b33a76b711390db00ac07a9252fc771589bd7',
  },
} as const;

const T1_LINE =
  '<<<NSMAG:V3:LOOP:eyJpc3N1ZWRfYXQiOjE3MjUwMTIzNDUsImp0aSI6IjAwMDAwMDAwLTAwMDAtNDAwMC04MDAwLTAwMDAwMDAwMDAwMSIsImtpZCI6ImVkMjU1MTktdGVzdC0xIiwia2luZCI6IkxPT1AiLCJwYXlsb2FkIjp7ImFjdGlvbiI6ImRvbmUifSwic2Vzc2lvbl9pZCI6InNpZC0xIiwidHRsIjoxMjAsInR1cm5faW5kZXgiOjEsInR1cm5fbm9uY2UiOiJBQUVDQXdRRkJnY0lDUW9MREEwT0R3IiwidiI6M30.VP31l3yPDpjdxHTenRAnMMg_4pdFCETjhrZnfeLv87IyLtZT8FNdrvP8ARjMdu1foLK5N8xaHCBYI5VfjLeVBg>>>';

const REQUESTS: Readonly<Record<(typeof NAMES)[number], { signer: () => Signer; payload: ControlPayload; ttl: number | null }>> =
  {
    T1: { signer: primary, payload: { action: 'done' }, ttl: 120 },
    T2: { signer: primary, payload: { telemetry: {}, request: { min_tokens: 1024 }, action: 'continue' }, ttl: 120 },
    T3: { signer: primary, payload: { action: 'abort' }, ttl: 120 },
    T4: { signer: shared, payload: { action: 'done' }, ttl: 120 },
    T5: { signer: fallback, payload: { action: 'abort', request: { reason: 'fallback_signer_activated' } }, ttl: 120 },
    T6: { signer: primary, payload: { action: 'done' }, ttl: null },
  };

function need(signer: Signer | null): Signer {
  if (signer === null) throw new Error('the signer is missing');
  return signer;
}
function primary(): Signer {
  return need(goldenKeys().signer('primary'));
}
function fallback(): Signer {
  return need(goldenKeys().signer('fallback'));
}
function shared(): Signer {
  const keys = new Keyring({ clock: new TestClock(), allowHs256: true });
  keys.add({ kid: SHARED, role: 'primary', alg: 'HS256', secret: HS256_SECRET });
  return need(keys.signer('primary'));
}

function mint(signer: Signer, n: number, payload: ControlPayload, ttl: number | null = 120): Promise<string> {
  return mintToken({ ...TURN, jti: jtiOf(n), issuedAt: ISSUED, ttl, payload }, signer);
}

describe('golden tokens', () => {
  it.each(NAMES)('A3-6.2-1: %s computed by hand is the published one', (name) => {
    expect(`${TEXTS[name].length} ${sha256(TEXTS[name])}`).toBe(PUBLISHED[name].payload);
    expect(`${TOKENS[name].length} ${sha256(TOKENS[name])}`).toBe(PUBLISHED[name].line);
  });

  it('A3-13-T1: the line of T1 is the published one, and is accepted', () => {
    expect(TOKENS.T1).toBe(T1_LINE);
    const result = verifyToken(T1_LINE, goldenTurn());
    expect(result).toMatchObject({ ok: true, payload: { kid: PRIMARY, payload: { action: 'done' } } });
  });

  it.each(NAMES)('A3-6.3-1: minting %s gives the same bytes, and they verify', async (name) => {
    const { signer, payload, ttl } = REQUESTS[name];
    const line = await mint(signer(), Number(name.slice(1)), payload, ttl);
    expect(line).toBe(TOKENS[name]);
    expect(verifyToken(line, goldenTurn())).toMatchObject({ ok: true, payload: { payload: { action: payload.action } } });
  });

  it('A3-6.4-1: the default tag is an Ed25519 signature of 64 bytes, and kid selects the key', () => {
    expect(Buffer.from(TOKENS.T1.split('.')[1]?.slice(0, -3) ?? '', 'base64url')).toHaveLength(64);
    expect(verifyToken(TOKENS.T5, goldenTurn())).toMatchObject({ ok: true, payload: { kid: FALLBACK } });
  });
});

/** The action `done` with `length` letters in `request.pad`. */
const padded = (length: number): ControlPayload => ({ action: 'done', request: { pad: 'a'.repeat(length) } });
const paddedText = (n: number, kid: string, length: number): string =>
  canonicalText({ n, kid, payload: `{"action":"done","request":{"pad":"${'a'.repeat(length)}"}}` });

describe('the limit of 1024 bytes', () => {
  it('A3-6.2-4: an Ed25519 token of 1023 bytes is minted and accepted, one of 1025 neither', async () => {
    const line = await mint(primary(), 1, padded(442));
    expect([paddedText(1, PRIMARY, 442).length, line.length]).toEqual([687, 1023]);
    expect(verifyToken(line, goldenTurn()).ok).toBe(true);
    const longer = tokenOf(paddedText(1, PRIMARY, 443));
    expect([paddedText(1, PRIMARY, 443).length, longer.length]).toEqual([688, 1025]);
    expect(verifyToken(longer, goldenTurn())).toMatchObject({ code: 'ERR_TOKEN_PARSE', detail: 'length' });
    await expect(mint(primary(), 1, padded(443))).rejects.toMatchObject({ code: 'ERR_MAGIC_TOOL_ARGS', detail: 'size' });
  });

  it('A3-6.2-4: an HS256 token of exactly 1024 bytes is minted and accepted, one of 1026 neither', async () => {
    const line = await mint(shared(), 4, padded(477));
    expect([paddedText(4, SHARED, 477).length, line.length]).toEqual([720, 1024]);
    expect(verifyToken(line, goldenTurn()).ok).toBe(true);
    const longer = tokenOf(paddedText(4, SHARED, 478), SHARED);
    expect(longer.length).toBe(1026);
    expect(verifyToken(longer, goldenTurn())).toMatchObject({ code: 'ERR_TOKEN_PARSE', detail: 'length' });
    await expect(mint(shared(), 4, padded(478))).rejects.toMatchObject({ code: 'ERR_MAGIC_TOOL_ARGS', detail: 'size' });
  });
});
