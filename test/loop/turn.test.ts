import { describe, expect, it } from 'vitest';
import { decodeToken, defaultCrypto, generateKeys, keyringFrom, MintLedger } from '../../src/aeiou/index.ts';
import { nonceOf } from '../../src/context/nonce.ts';
import { fixedClock } from '../../src/loop/clock.ts';
import { type Ids, seededIds, withNonce } from '../../src/loop/ids.ts';
import { MINT_LEDGER } from '../../src/loop/magic.ts';
import { readTurn } from '../../src/loop/turn/input.ts';
import { runTurn } from '../../src/loop/turn/turn.ts';
import { NS_CODES } from '../../src/wire/codes.ts';
import { languageError } from '../../src/wire/errorinfo.ts';
import { ConfigError } from '../../src/wire/errors.ts';
import { type Program, TestClock } from './fake.ts';
import { actions, bench, turnOf } from './harness.ts';

const say: Record<string, Program> = {
  continue: async ({ emit, magic }) => emit(await magic('continue')),
  done: async ({ emit, magic }) => {
    emit('finished');
    emit(await magic('done'));
  },
  abort: async ({ emit, magic }) => emit(await magic('abort')),
  silent: ({ emit }) => emit('nothing to say about the loop'),
};

describe('one turn', () => {
  it.each([
    ['continue', 'CONTINUE', 'EMIT_NEXT'],
    ['done', 'DONE', 'FINAL'],
    ['abort', 'ABORT', 'FINAL'],
    ['silent', 'HALT', 'FINAL'],
  ] as const)('AL3-2-1 AL3-2-2: a program that asks for %s ends in %s', async (program, decision, state) => {
    const { record, events } = await turnOf(bench(say), program);
    expect(record.decision).toBe(decision);
    expect(events.filter((event) => event.type === 'state').map(({ from, to }) => `${from} ${to}`)).toEqual([
      'IDLE EXECUTING',
      'EXECUTING VERIFYING',
      'VERIFYING DECIDED',
      `DECIDED ${state}`,
    ]);
  });

  it('AL3-1-1: the outcome is exactly one decision, taken after the program ended (A3-1.2-3)', async () => {
    const seen: string[] = [];
    const host = bench({
      early: async ({ emit, whisper, magic }) => {
        emit(await magic('done'));
        whisper('still here');
        seen.push('after the token');
      },
    });
    const { record } = await turnOf(host, 'early');
    expect(seen).toEqual(['after the token']);
    expect(record).toMatchObject({ decision: 'DONE', scratchpad: 'still here\n', lints: [] });
  });

  it('AL3-2-3 AL3-2-4: the nonce is minted once, and session, turn and nonce are the context’s', async () => {
    const base = seededIds('seed');
    let minted = 0;
    const ids: Ids = {
      ...base,
      nonce(sid, turn) {
        minted++;
        return base.nonce(sid, turn);
      },
    };
    let seen: unknown;
    const host = bench(
      {
        look: ({ context }) => {
          seen = [context.sessionId, context.turnIndex, nonceOf(context), context.value(MINT_LEDGER) instanceof MintLedger];
        },
      },
      { ids },
    );
    const { record } = await turnOf(host, 'look', { sid: 'sid-7', turn: 12 });
    expect(minted).toBe(1);
    expect(seen).toEqual(['sid-7', 12, base.nonce('sid-7', 12), true]);
    expect(record.inputs.nonce).toBe(base.nonce('sid-7', 12));
  });

  it('AL3-11-1: nonce and context are there before the program, which is checked before that', async () => {
    const order: string[] = [];
    const base = seededIds('seed');
    const ids: Ids = {
      ...base,
      nonce(sid, turn) {
        order.push('nonce');
        return base.nonce(sid, turn);
      },
    };
    const host = bench({ look: ({ context }) => void order.push(`program in turn ${context.turnIndex}`) }, { ids });
    await turnOf(host, 'look');
    expect([...order.slice(0, 1), ...host.executor.spy.calls, ...order.slice(1)]).toEqual([
      'nonce',
      'context',
      'fork',
      'execute',
      'program in turn 1',
    ]);
  });

  it('A3-8-1 AL3-2-6 A3-2-5: the fork gets the context and the limits of this turn, tightened but never loosened', async () => {
    const host = bench(say);
    const { record } = await turnOf(host, 'done', { limits: { fuel: 1000, wallMs: 10 ** 9 } });
    const [fork] = host.executor.spy.forks;
    expect(fork?.limits).toEqual({ ...host.executor.limits, fuel: 1000 });
    expect(record.inputs.limits).toEqual(fork?.limits);
    expect(fork?.context.sessionId).toBe('sid-1');
    expect(fork?.tools.map(({ name }) => name)).toEqual(['tool.aeiou.magic']);
  });

  it('A3-8-2: both streams are collected, also when the program fails midway', async () => {
    const host = bench({
      fails: async ({ emit, whisper, magic }) => {
        emit('one');
        whisper('two');
        emit(await magic('done'));
        return languageError(5, 'must condition evaluated to false: x', { source: 'ACTIONS', line: 4, column: 3 });
      },
    });
    const { record } = await turnOf(host, 'fails');
    expect(record.output).toMatch(/^one\n<<<NSMAG:V3:LOOP:.*>>>\n$/);
    expect(record).toMatchObject({
      decision: 'HALT',
      reason: 'ERR_EXEC',
      scratchpad: 'two\n',
      candidates: [],
      kid: null,
      digest: null,
    });
    expect(record.error).toMatchObject({ code: 'NS5', line: 4 });
  });

  it('ill-formed text is replaced once, before it is measured', async () => {
    const { record } = await turnOf(bench({ odd: ({ emit }) => emit('a\ud800b') }), 'odd');
    expect(record.output).toBe('a\ufffdb\n');
    expect(record.outputBytes).toBe(6);
  });

  it('the context is closed when the turn ends, so that a late callback cannot mint (threat 23)', async () => {
    let late: (() => Promise<string>) | undefined;
    const host = bench({
      leak({ magic }) {
        late = () => magic('done');
      },
    });
    await turnOf(host, 'leak');
    expect(host.executor.spy.forks[0]?.context.closed).toBe(true);
    await expect(late?.()).rejects.toThrow('this turn has ended');
  });

  it('USERDATA is the program’s to read: the host’s own, never the reply’s', async () => {
    let seen: unknown;
    const host = bench({
      look({ globals }) {
        seen = globals['userdata'];
      },
    });
    await turnOf(host, 'look');
    expect(seen).toEqual({ subject: 'test', fields: {} });
  });

  it.each(['', 'with blank', 'line\nfeed', 'é', 'x'.repeat(129)])(
    'a session id that could not stand in a token or a log is a misuse: %j',
    async (sid) => {
      await expect(turnOf(bench(say), 'done', { sid })).rejects.toThrow(ConfigError);
    },
  );

  it('a nonce that is not 16 bytes is a misuse', async () => {
    const host = bench(say, { ids: withNonce(seededIds('seed'), 'short') });
    await expect(turnOf(host, 'done')).rejects.toThrow(ConfigError);
  });

  it('the same inputs give the same bytes, the record holds them all (A3-2-7)', async () => {
    const keyring = bench(say).keyring;
    const run = async () => (await turnOf(bench(say, { keyring }), 'done')).record;
    const first = await run();
    expect(await run()).toEqual(first);
    expect(first.inputs).toMatchObject({
      nonce: seededIds('seed').nonce('sid-1', 1),
      clock: [1_725_012_345_000, 1_725_012_345_000],
      jtis: [seededIds('seed').jti('sid-1', 1, 0)],
    });
    expect(fixedClock(1_725_012_345).now()).toBe(first.startedAt);
  });
});

describe('before the program runs', () => {
  it.each([
    ['no command block', '', 'no command block'],
    ['two command blocks', 'two', '2 command blocks'],
    ['definitions', 'library', 'definitions'],
    ['a syntax error', 'broken', 'unexpected text'],
  ])('AL3-4-1: ACTIONS with %s is ERR_ACTIONS_INVALID, and nothing runs', async (_, text, message) => {
    const host = bench(say);
    const { record } = await turnOf(host, 'done', { input: actions(text) });
    expect(record).toMatchObject({
      decision: 'HALT',
      reason: 'ERR_ACTIONS_INVALID',
      output: '',
      error: { code: 'NS15', kind: 'syntax' },
    });
    expect(record.error?.message).toContain(message);
    expect(host.executor.spy.calls).not.toContain('execute');
  });

  it('a tool that the policy denies is ERR_POLICY, and nothing runs', async () => {
    const host = bench(say, { denied: ['tool.fs.Read'] });
    const { record } = await turnOf(host, 'done', { input: actions('program done # tool.fs.Read') });
    expect(record).toMatchObject({ decision: 'HALT', reason: 'ERR_POLICY', error: { code: 'NS1003', kind: 'policy' } });
    expect(host.executor.spy.calls).not.toContain('execute');
  });

  it.each([
    ['AL3-8-1', 'ERR_ENV_MARKERS_INVALID', 'no envelope at all'],
    [
      'AL3-8-2',
      'ERR_ENV_SECTION_MISSING',
      '<<<NSENV:V3:START>>>\n<<<NSENV:V3:USERDATA>>>\n{"subject":"s","fields":{}}\n<<<NSENV:V3:END>>>',
    ],
    [
      'AL3-8-3',
      'ERR_ENV_ORDER',
      '<<<NSENV:V3:START>>>\n<<<NSENV:V3:ACTIONS>>>\nprogram done\n<<<NSENV:V3:USERDATA>>>\n{}\n<<<NSENV:V3:END>>>',
    ],
    ['AL3-8-4', 'ERR_ENV_SECTION_DUP', '<<<NSENV:V3:START>>>\n<<<NSENV:V3:USERDATA>>>\n{}\n<<<NSENV:V3:START>>>\n'],
    ['AL3-8-5', 'ERR_ENV_SIZE', 'x'.repeat(1024 * 1024 + 2)],
    [
      'AL3-8-6',
      'ERR_USERDATA_SCHEMA',
      '<<<NSENV:V3:START>>>\n<<<NSENV:V3:USERDATA>>>\n{"subject":1,"fields":{}}\n<<<NSENV:V3:ACTIONS>>>\nprogram done\n<<<NSENV:V3:END>>>',
    ],
  ])('%s AL3-8-17: an envelope that is %s halts, and nothing runs', async (_, code, text) => {
    const host = bench(say);
    const { record } = await turnOf(host, 'done', { input: readTurn(new TextEncoder().encode(text)) });
    expect(record).toMatchObject({ decision: 'HALT', reason: code, usage: { fuel: 0 }, error: { code, kind: 'usage' } });
    expect(host.executor.spy.calls).not.toContain('execute');
  });

  it('AL3-8-20: a duplicate section is a lint; the decision stands', async () => {
    const text =
      '<<<NSENV:V3:START>>>\n<<<NSENV:V3:USERDATA>>>\n{"subject":"s","fields":{}}\n<<<NSENV:V3:USERDATA>>>\n{}\n<<<NSENV:V3:ACTIONS>>>\nprogram done\n<<<NSENV:V3:END>>>';
    const { record } = await turnOf(bench(say), 'done', { input: readTurn(new TextEncoder().encode(text)) });
    expect(record).toMatchObject({ decision: 'DONE', lints: [{ code: 'LINT_DUP_SECTION_IGNORED', line: 4 }] });
  });
});

describe('what ends a program', () => {
  const error = (kind: 'quota' | 'timeout' | 'cancelled' | 'internal', code: string, limit?: string) => ({
    ...languageError(0, 'ended'),
    kind,
    code,
    nsCode: null,
    ...(limit !== undefined && { limit, allowed: 1, used: 2 }),
  });
  it.each([
    ['AL3-7-1 AL3-8-14: wall time', 'ERR_TIMEOUT', error('timeout', 'ERR_TIMEOUT', 'wallMs')],
    ['AL3-7-2 AL3-8-15: CPU time', 'ERR_QUOTA', error('quota', 'ERR_QUOTA', 'cpuMs')],
    ['AL3-7-3: memory', 'ERR_QUOTA', error('quota', 'ERR_QUOTA', 'memoryBytes')],
    ['fuel', 'ERR_QUOTA', error('quota', 'ERR_QUOTA', 'fuel')],
    ['A3-3.4-7: a line that is too long', 'ERR_ENV_SIZE', error('quota', 'ERR_ENV_SIZE', 'lineBytes')],
    ['too much output', 'ERR_ENV_SIZE', error('quota', 'ERR_QUOTA', 'outputBytes')],
    ['too many whispers', 'ERR_ENV_SIZE', error('quota', 'ERR_QUOTA', 'scratchBytes')],
    ['a policy breach', 'ERR_POLICY', languageError(1003, 'denied')],
    ['an uncaught error', 'ERR_EXEC', languageError(7, 'wrong type')],
    ['a broken worker', 'ERR_INTERRUPTED', error('internal', 'ERR_WORKER')],
    ['cancellation', 'ERR_CANCELLED', error('cancelled', 'ERR_CANCELLED')],
  ] as const)('%s halts with %s, though a valid token was emitted before', async (_, reason, info) => {
    const host = bench({
      breach: async ({ emit, magic }) => {
        emit(await magic('continue'));
        return info;
      },
    });
    const { record, repeats } = await turnOf(host, 'breach');
    expect(record).toMatchObject({ decision: 'HALT', reason, error: info, candidates: [], digest: null });
    expect(repeats).toBe(0);
    expect(host.replay.size().ids).toBe(0);
  });

  it('the signal of the request cancels the context', async () => {
    const controller = new AbortController();
    let aborted = false;
    const host = bench({
      wait: ({ context }) => {
        controller.abort();
        aborted = context.signal.aborted;
      },
    });
    await turnOf(host, 'wait', { signal: controller.signal });
    expect(aborted).toBe(true);
  });

  it('what the executor rejects with is passed on, and the context is closed', async () => {
    const host = bench({});
    await expect(turnOf(host, 'unknown')).rejects.toThrow('no program');
    expect(host.executor.spy.forks[0]?.context.closed).toBe(true);
  });
});

it('AL3-6-4: an N below 2 is a configuration error', async () => {
  await expect(
    runTurn(bench(say, { noProgressN: 1 }), {
      sid: 's',
      turn: 1,
      input: actions('program done'),
      progress: { digest: null, repeats: 0 },
    }),
  ).rejects.toThrow(ConfigError);
});

describe('minting that fails', () => {
  const clock = new TestClock();

  /** Keys of which the first so many private halves cannot be used any more. */
  const broken = (count = Number.POSITIVE_INFINITY) => {
    let made = 0;
    const ed25519Signer = (seed: Uint8Array) => {
      made += 1;
      if (made > count) return defaultCrypto.ed25519Signer(seed);
      return () => {
        throw new Error('key service down');
      };
    };
    return keyringFrom(generateKeys('test'), { clock, crypto: { ...defaultCrypto, ed25519Signer } });
  };

  it('AL3-8-13 A3-11.4-4: halts the turn, though the program swallowed the error and emitted nothing', async () => {
    const swallow: Program = async ({ emit, magic }) => emit(await magic('continue').catch(() => 'swallowed'));
    const { record } = await turnOf(bench({ swallow }, { clock, keyring: broken() }), 'swallow');
    expect(record).toMatchObject({ decision: 'HALT', reason: 'ERR_MAGIC_TOOL_INTERNAL', output: 'swallowed\n', digest: null });
  });

  it('AL3-8-13 A3-11.4-4, finding 10: halts the turn with the same reason when the program does not catch the error', async () => {
    const failing: Program = async ({ magic }) => {
      const { message } = await magic('continue').then(
        () => new Error('minted'),
        (error: Error) => error,
      );
      return languageError(NS_CODES.Internal, message);
    };
    const { record } = await turnOf(bench({ failing }, { clock, keyring: broken() }), 'failing');
    expect(record).toMatchObject({ decision: 'HALT', reason: 'ERR_MAGIC_TOOL_INTERNAL', error: { nsCode: 6 } });
    // A limit keeps its own reason.
    const limited: Program = async ({ magic }) => {
      await magic('continue').catch(() => {});
      return { ...languageError(NS_CODES.Internal, 'too much fuel'), kind: 'quota', code: 'ERR_QUOTA' };
    };
    const { record: other } = await turnOf(bench({ limited }, { clock, keyring: broken() }), 'limited');
    expect(other.reason).toBe('ERR_QUOTA');
  });

  it('AL3-8-13 A3-11.4-4: halts the turn although a later token could be signed and was emitted', async () => {
    let down = true;
    const signer = (seed: Uint8Array) => {
      const sign = defaultCrypto.ed25519Signer(seed);
      return (message: Uint8Array): Uint8Array => {
        if (down) throw new Error('key service down');
        return sign(message);
      };
    };
    const passing = keyringFrom(generateKeys('test'), { clock, crypto: { ...defaultCrypto, ed25519Signer: signer } });
    const retry: Program = async ({ emit, magic }) => {
      await magic('continue').catch(() => {});
      down = false;
      emit(await magic('continue'));
    };
    const host = bench({ retry }, { clock, keyring: passing });
    const { record } = await turnOf(host, 'retry');
    expect(record.output).toMatch(/^<<<NSMAG:V3:LOOP:.*>>>\n$/);
    expect(record).toMatchObject({ decision: 'HALT', reason: 'ERR_MAGIC_TOOL_INTERNAL', candidates: [], jti: null });
    expect(host.replay.size().ids).toBe(0);
  });

  it.each([
    ['no signer', 0, { token: { payload: { payload: { action: 'continue' } } } }],
    ['the primary signer', 1, { token: { payload: { payload: { action: 'abort' } } } }],
    ['every signer', 2, 'refused'],
  ])('A3-11.4-5: with %s down, OUTPUT is exactly what was emitted, however the program ends', async (_, down, answer) => {
    for (const lines of [[], ['one', 'two']])
      for (const error of [undefined, languageError(NS_CODES.Internal, 'failed')]) {
        const minted: unknown[] = [];
        const silent: Program = async ({ emit, magic }) => {
          const token = await magic('continue').catch(() => null);
          minted.push(token === null ? 'refused' : decodeToken(token));
          lines.forEach(emit);
          return error;
        };
        const { record } = await turnOf(bench({ silent }, { clock, keyring: broken(down) }), 'silent');
        expect(record).toMatchObject({ decision: 'HALT', output: lines.map((line) => `${line}\n`).join('') });
        expect(minted).toMatchObject([answer]);
      }
  });
});
