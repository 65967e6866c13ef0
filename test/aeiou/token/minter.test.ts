import { describe, expect, it, vi } from 'vitest';
import {
  isTurnNonce,
  Keyring,
  MagicError,
  Minter,
  type MinterOptions,
  MintLedger,
  newTurnNonce,
  verifyToken,
} from '../../../src/aeiou/index.ts';
import { ConfigError } from '../../../src/wire/errors.ts';
import {
  brokenSigner,
  FALLBACK,
  goldenKeys,
  goldenTurn,
  IDS,
  ISSUED,
  jtiOf,
  NEVER,
  NONCE,
  remoteKeys,
  TestClock,
  TOKENS,
  TURN,
  thrownBy,
} from '../kit.ts';

function minterOf(options: Partial<MinterOptions> = {}): Minter {
  return new Minter({ keyring: goldenKeys(), clock: new TestClock(ISSUED + 0.9), ids: IDS, ...options });
}

async function mint(
  minter: Minter,
  payload: unknown,
  opts: unknown = null,
  kind: unknown = 'LOOP',
  ledger = new MintLedger(),
): Promise<string> {
  return (await minter.mint(TURN, ledger, { kind, payload, opts }, NEVER)).token;
}
async function refusal(payload: unknown, opts: unknown = null, kind: unknown = 'LOOP'): Promise<string> {
  const ledger = new MintLedger();
  const error = await minterOf()
    .mint(TURN, ledger, { kind, payload, opts }, NEVER)
    .then(
      () => null,
      (cause: unknown) => cause,
    );
  expect([ledger.mints, ledger.failed]).toEqual([0, false]);
  return error instanceof MagicError ? `${error.code}/${error.detail}` : `no MagicError: ${String(error)}`;
}

describe('minting', () => {
  it('A3-6.1-2: gives one line of the token form that verifies in its turn: T1', async () => {
    const token = await mint(minterOf(), { action: 'done' });
    expect(token).toBe(TOKENS.T1);
    expect(token).not.toContain('\n');
    expect(verifyToken(token, goldenTurn()).ok).toBe(true);
  });

  it('A3-6.3-10: issued_at is the clock in whole seconds, rounded down', async () => {
    const result = verifyToken(await mint(minterOf(), { action: 'done' }), goldenTurn());
    expect(result.ok && result.payload.issued_at).toBe(ISSUED);
  });

  it('A3-6.3-11: ttl is 120 by default, 1 to 300 when asked for', async () => {
    const ttlOf = async (opts: unknown): Promise<unknown> => {
      const result = verifyToken(await mint(minterOf(), { action: 'done' }, opts), goldenTurn());
      return result.ok && result.payload.ttl;
    };
    expect([
      await ttlOf(null),
      await ttlOf(undefined),
      await ttlOf({}),
      await ttlOf({ ttl: 1 }),
      await ttlOf({ ttl: 300 }),
    ]).toEqual([120, 120, 120, 1, 300]);
    for (const ttl of [0, -1, 301, 1.5, '60', null, true, Number.NaN])
      expect(await refusal({ action: 'done' }, { ttl })).toMatch(/^ERR_MAGIC_TOOL_ARGS\/(ttl|opts)$/);
  });

  it('A3-6.1-1: kind, payload and opts must have their types', async () => {
    for (const kind of ['FOO', 'loop', 'LOOP ', '', 3, null, ['LOOP']])
      expect(await refusal({ action: 'done' }, null, kind)).toBe('ERR_MAGIC_TOOL_ARGS/kind');
    for (const payload of ['done', 3, [], null, undefined, true, new Uint8Array(1)])
      expect(await refusal(payload)).toBe('ERR_MAGIC_TOOL_ARGS/payload');
    for (const action of ['halt', 'Done', '', null, undefined, 1])
      expect(await refusal({ action })).toMatch(/^ERR_MAGIC_TOOL_ARGS\/(action|payload)$/);
    for (const opts of ['x', 3, [], true, { ttl: 5, kid: 'x' }, { session_id: 'y' }])
      expect(await refusal({ action: 'done' }, opts)).toBe('ERR_MAGIC_TOOL_ARGS/opts');
  });

  it('A3-5.2-2: an unknown kind is not minted', async () => {
    expect(await refusal({ action: 'done' }, null, 'FOO')).toBe('ERR_MAGIC_TOOL_ARGS/kind');
  });

  it('A3-6.3-13: request and telemetry must be maps; other keys are signed as they are; absent ones stay absent', async () => {
    for (const name of ['request', 'telemetry'])
      for (const value of ['x', 1, [], null])
        expect(await refusal({ action: 'done', [name]: value })).toBe('ERR_MAGIC_TOOL_ARGS/payload');
    const payload = { action: 'continue', request: { a: [1, null] }, telemetry: { b: true }, note: 'kept' };
    const full = verifyToken(await mint(minterOf(), payload), goldenTurn());
    expect(full.ok && JSON.parse(JSON.stringify(full.payload.payload))).toEqual(payload);
    const bare = verifyToken(await mint(minterOf(), { action: 'done' }), goldenTurn());
    expect(bare.ok && Object.keys(bare.payload.payload)).toEqual(['action']);
  });

  it('A3-6.3-2: nothing but texts, integers, booleans, nil, lists and maps is signed', async () => {
    const bad = [1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, 1n, new Date(0), () => 1, Symbol('x'), new Map(), '\ud800'];
    for (const value of bad) expect(await refusal({ action: 'done', request: { value } })).toBe('ERR_MAGIC_TOOL_ARGS/payload');
    expect(await mint(minterOf(), { action: 'done', request: { value: -0 } })).toBe(
      await mint(minterOf(), { action: 'done', request: { value: 0 } }),
    );
  });

  it('a payload that would make the token too long is refused, and leads to no fallback abort', async () => {
    expect(await refusal({ action: 'done', request: { pad: 'a'.repeat(443) } })).toBe('ERR_MAGIC_TOOL_ARGS/size');
    expect((await mint(minterOf(), { action: 'done', request: { pad: 'a'.repeat(442) } })).length).toBe(1023);
    const deep = '['.repeat(40) + ']'.repeat(40);
    expect(await refusal({ action: 'done', request: { deep: JSON.parse(deep) } })).toBe('ERR_MAGIC_TOOL_ARGS/payload');
    const keyring = remoteKeys(brokenSigner);
    await expect(mint(minterOf({ keyring }), { action: 'done', request: { pad: 'a'.repeat(500) } })).rejects.toMatchObject({
      detail: 'size',
    });
    await expect(mint(minterOf({ keyring: remoteKeys(null) }), { action: 'nope' })).rejects.toMatchObject({
      code: 'ERR_MAGIC_TOOL_ARGS',
    });
  });

  it('A3-6.3-6: ten thousand tokens have ten thousand ids of the form of a UUID', { timeout: 300_000 }, async () => {
    const minter = minterOf({ ids: { jti: () => crypto.randomUUID() }, mintCap: 10_000 });
    const ledger = new MintLedger();
    const seen = new Set<string>();
    for (let i = 0; i < 10_000; i++) {
      const minted = await minter.mint(TURN, ledger, { kind: 'LOOP', payload: { action: 'continue' }, opts: null }, NEVER);
      seen.add(minted.jti);
    }
    expect(seen.size).toBe(10_000);
    expect([...seen].every((jti) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(jti))).toBe(true);
  });

  it('A3-6.3-9: a turn nonce is 16 random bytes in base64url', () => {
    const nonces = Array.from({ length: 1000 }, newTurnNonce);
    expect(new Set(nonces).size).toBe(1000);
    expect(
      nonces.every(
        (nonce) => /^[A-Za-z0-9_-]{22}$/.test(nonce) && Buffer.from(nonce, 'base64url').length === 16 && isTurnNonce(nonce),
      ),
    ).toBe(true);
    expect(['', 'abc', `${NONCE}A`, NONCE.slice(1), `${NONCE.slice(0, -1)}x`].map(isTurnNonce)).toEqual(Array(5).fill(false));
  });

  it('a turn has at most 64 tokens, or as many as configured; ids are counted from 0 (threat 24)', async () => {
    const asked: number[] = [];
    const counting = { jti: (_sid: string, _turn: number, n: number): string => `${asked.push(n)}` };
    const ledger = new MintLedger();
    const minter = minterOf({ ids: counting });
    for (let i = 0; i < 64; i++) await mint(minter, { action: 'continue' }, null, 'LOOP', ledger);
    await expect(mint(minter, { action: 'continue' }, null, 'LOOP', ledger)).rejects.toMatchObject({
      code: 'ERR_MAGIC_TOOL_ARGS',
      detail: 'mint_cap',
    });
    expect([asked, ledger.mints, ledger.failed]).toEqual([Array.from({ length: 64 }, (_, i) => i), 64, false]);
    const one = new MintLedger();
    await mint(minterOf({ mintCap: 1 }), { action: 'done' }, null, 'LOOP', one);
    await expect(mint(minterOf({ mintCap: 1 }), { action: 'done' }, null, 'LOOP', one)).rejects.toMatchObject({
      detail: 'mint_cap',
    });
  });
});

describe('fallback', () => {
  it('A3-11.4-1: without a fallback key nothing starts', () => {
    const keys = new Keyring({ clock: new TestClock() });
    expect(thrownBy(() => minterOf({ keyring: keys }))).toBeInstanceOf(ConfigError);
    for (const bad of [{ mintCap: 0 }, { signMs: 0.5 }, { signMs: 2 ** 31 }, { lifetimes: { replayTtl: 1 } }])
      expect(thrownBy(() => minterOf(bad))).toBeInstanceOf(ConfigError);
  });

  it.each([
    ['throws', brokenSigner],
    ['rejects', () => Promise.reject(new Error('down'))],
    ['never answers', () => new Promise<Uint8Array>(() => {})],
    ['gives a tag of the wrong length', () => new Uint8Array(63)],
    ['gives a tag of another key', () => new Uint8Array(64)],
    ['is not there', null],
  ])(
    'A3-11.4-2: a primary signer that %s leads to an abort by the fallback, whatever was asked (threat 38)',
    async (_, signer) => {
      const ledger = new MintLedger();
      const minter = minterOf({ keyring: remoteKeys(signer), signMs: 30 });
      const minted = await minter.mint(
        TURN,
        ledger,
        { kind: 'LOOP', payload: { action: 'continue', note: 'x' }, opts: { ttl: 7 } },
        NEVER,
      );
      expect(minted).toMatchObject({ kid: FALLBACK, action: 'abort', fallback: {} });
      const result = verifyToken(minted.token, goldenTurn({ keys: remoteKeys(signer) }));
      expect(result).toMatchObject({
        ok: true,
        payload: { kid: FALLBACK, ttl: 7, payload: { action: 'abort', request: { reason: 'fallback_signer_activated' } } },
      });
      expect([ledger.mints, ledger.fallbacks, ledger.failed]).toEqual([1, 1, false]);
    },
  );

  it('AL3-10-4: the fallback abort of the golden turn is T5', async () => {
    const minter = minterOf({ keyring: remoteKeys(brokenSigner), ids: { jti: () => jtiOf(5) } });
    expect(await mint(minter, { action: 'done' })).toBe(TOKENS.T5);
  });

  it('AL3-10-3: minting with the fallback opens no file and no connection: it answers in the same tick', async () => {
    let done = false;
    const minted = mint(minterOf({ keyring: remoteKeys(null) }), { action: 'done' }).then(() => {
      done = true;
    });
    for (let i = 0; i < 10; i++) await Promise.resolve();
    expect(done).toBe(true);
    await minted;
  });

  it('A3-11.4-3: when both signers fail the program gets a typed error, and the turn remembers', async () => {
    const ledger = new MintLedger();
    const keyring = remoteKeys(brokenSigner);
    const minter = minterOf({ keyring });
    const original = keyring.signer.bind(keyring);
    let down = true;
    keyring.signer = (role) => {
      const signer = original(role);
      return signer === null || !down ? signer : { ...signer, sign: brokenSigner };
    };
    await expect(mint(minter, { action: 'done' }, null, 'LOOP', ledger)).rejects.toMatchObject({
      code: 'ERR_MAGIC_TOOL_INTERNAL',
      detail: 'signers',
    });
    expect(ledger.failed).toBe(true);
    down = false;
    expect(await mint(minter, { action: 'done' }, null, 'LOOP', ledger)).toMatch(/^<<<NSMAG/);
    expect(ledger.failed).toBe(true);
    expect(new MintLedger().failed).toBe(false);
  });

  it('A3-11.4-2: a signer has two seconds, unless configured otherwise', async () => {
    vi.useFakeTimers();
    try {
      const keyring = remoteKeys(() => new Promise<Uint8Array>(() => {}));
      const minted: string[] = [];
      const waiting = mint(minterOf({ keyring }), { action: 'done' }).then((token) => minted.push(token));
      await vi.advanceTimersByTimeAsync(1999);
      expect(minted).toEqual([]);
      await vi.advanceTimersByTimeAsync(1);
      expect(minted).toHaveLength(1);
      await waiting;
    } finally {
      vi.useRealTimers();
    }
  });

  it('the end of the turn stops a signer that does not answer, without an abort token', async () => {
    const controller = new AbortController();
    const stopped: unknown[] = [];
    const hang = (_message: Uint8Array, signal: AbortSignal): Promise<Uint8Array> =>
      new Promise(() => signal.addEventListener('abort', () => stopped.push(signal.reason)));
    const ledger = new MintLedger();
    const waiting = minterOf({ keyring: remoteKeys(hang) }).mint(
      TURN,
      ledger,
      { kind: 'LOOP', payload: { action: 'done' }, opts: null },
      controller.signal,
    );
    controller.abort(new Error('turn over'));
    await expect(waiting).rejects.toThrow('turn over');
    expect([ledger.fallbacks, ledger.failed]).toEqual([0, false]);
    expect(stopped).toEqual([expect.objectContaining({ message: 'turn over' })]);
  });
});
