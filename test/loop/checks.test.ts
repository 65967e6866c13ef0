import { describe, expect, it } from 'vitest';
import { type Keyring, mintToken } from '../../src/aeiou/index.ts';
import { LoopController } from '../../src/loop/controller.ts';
import { seededIds } from '../../src/loop/ids.ts';
import { MemoryLog } from '../../src/loop/log/log.ts';
import type { LoopControllerOptions } from '../../src/loop/options.ts';
import type { GuardView } from '../../src/loop/turn/verdict.ts';
import { ConfigError } from '../../src/wire/errors.ts';
import { thrownBy } from '../aeiou/kit.ts';
import { fakeExecutor, newKeyring, type Program, programAgent, TestClock, USERDATA } from './fake.ts';

const clock = new TestClock();
const keyring = newKeyring('test', clock);
const ids = seededIds('checks');
const NOW = clock.ms / 1000;

function loopOf(programs: Record<string, Program>, options: Partial<LoopControllerOptions> = {}) {
  const log = new MemoryLog();
  return { log, loop: new LoopController({ executor: fakeExecutor(programs), keyring, clock, ids, log, ...options }) };
}

let step = 0;
const programs: Record<string, Program> = {
  same: async ({ emit, magic }) => {
    emit('stuck');
    emit(await magic('continue'));
  },
  moves: async ({ emit, magic }) => {
    step += 1;
    emit(`step ${step}`);
    emit(await magic('continue'));
  },
  done: async ({ emit, magic }) => {
    emit('the answer');
    emit(await magic('done'));
  },
};
const run = (sid: string, program: string, maxTurns = 5) => ({ userdata: USERDATA, agent: programAgent(program), sid, maxTurns });

describe('guards of the application', () => {
  it('A3-9-8 AL3-6-6: one may halt a session that the mandatory guard would let go on', async () => {
    const views: GuardView[] = [];
    const { loop, log } = loopOf(programs, {
      checks: [() => false, (view) => views.push(view) === 2],
    });
    const result = await loop.runLoop(run('app', 'moves'));
    expect(result).toMatchObject({ decision: 'HALT', reason: 'ERR_NO_PROGRESS', turns: [{}, { overridden: 'CONTINUE' }] });
    expect(log.entries[1]).toMatchObject({ decision: 'HALT', reason: 'ERR_NO_PROGRESS', overridden_decision: 'CONTINUE' });
    expect(views[0]).toEqual({
      sid: 'app',
      turn: 1,
      decision: 'CONTINUE',
      output: result.turns[0]?.output,
      scratchpad: '',
      digest: result.turns[0]?.digest,
    });
  });

  it('A3-9-8 AL3-6-6: it may halt a DONE as well', async () => {
    const { loop } = loopOf(programs, { checks: [({ decision }) => decision === 'DONE'] });
    expect(await loop.runLoop(run('app-done', 'done'))).toMatchObject({ decision: 'HALT', reason: 'ERR_NO_PROGRESS' });
  });

  it('A3-9-8 A3-9-1: none can keep the mandatory guard from halting', async () => {
    const { loop } = loopOf(programs, { checks: [() => false] });
    const result = await loop.runLoop(run('stuck', 'same'));
    expect(result).toMatchObject({ reason: 'ERR_NO_PROGRESS', turns: { length: 3 } });
  });

  it('one that throws rejects the turn, which is not kept', async () => {
    const { loop, log } = loopOf(programs, {
      checks: [
        () => {
          throw new Error('broken check');
        },
      ],
    });
    await expect(loop.runLoop(run('broken', 'moves'))).rejects.toThrow('broken check');
    expect(log.entries).toEqual([]);
  });
});

/** The loosest configuration that is accepted: every number as large as it can be. */
const LOOSEST: Partial<LoopControllerOptions> = {
  noProgressN: 100,
  checks: [() => false],
  lifetimes: { defaultTtl: 1e9, maxTtl: 1e9, replayTtl: 1e9, rotationBuffer: 1e9, clockSkew: 1e9 },
};

async function forge(fields: object, by: Keyring = keyring): Promise<string> {
  const signer = by.signer('primary');
  if (signer === null) throw new Error('no signer');
  const own = { sessionId: 'loose', turnIndex: 1, turnNonce: ids.nonce('loose', 1), jti: 'j', issuedAt: NOW, ttl: 1 };
  return mintToken({ ...own, payload: { action: 'continue' }, ...fields }, signer);
}

describe('no configuration switches the protection off', () => {
  it.each([
    ['signed by another host', 'ERR_TOKEN_VERIFY', () => forge({}, newKeyring('test', clock))],
    ['of another session', 'ERR_TOKEN_SCOPE', () => forge({ sessionId: 'other' })],
    ['of another turn', 'ERR_TOKEN_SCOPE', () => forge({ turnIndex: 2 })],
    ['of another run of this turn', 'ERR_TOKEN_SCOPE', () => forge({ turnNonce: 'AAECAwQFBgcICQoLDA0ODw' })],
    ['that has expired', 'ERR_TOKEN_TTL', () => forge({ issuedAt: NOW - 2 })],
  ] as const)('A3-1.1-5: with the loosest one, a token %s still halts with %s', async (_, reason, token) => {
    const { loop } = loopOf({ forged: async ({ emit }) => emit(await token()) }, LOOSEST);
    expect(await loop.runLoop(run('loose', 'forged'))).toMatchObject({ decision: 'HALT', reason });
  });

  it('A3-1.1-5: nor is a token accepted twice', async () => {
    const twice: Program = async ({ emit, magic }) => {
      const token = await magic('continue');
      emit(token);
      emit(token);
    };
    const { loop } = loopOf({ twice }, LOOSEST);
    const { turns } = await loop.runLoop(run('twice', 'twice', 1));
    expect(turns[0]?.candidates.map(({ code }) => code)).toEqual([null, 'ERR_TOKEN_REPLAY']);
  });

  it('A3-1.1-5 A3-9-1: and a session that says the same for ever is stopped', async () => {
    const { loop } = loopOf(programs, LOOSEST);
    const result = await loop.runLoop(run('for-ever', 'same', 1000));
    expect(result).toMatchObject({ reason: 'ERR_NO_PROGRESS', turns: { length: 100 } });
  });

  it('A3-9-1 AL3-6-5: what would never fire is refused: no N, an N below 2 or above 100', () => {
    for (const noProgressN of [0, 1, -3, 2.5, 101, 1e9, Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY, Number.NaN])
      expect(() => loopOf(programs, { noProgressN })).toThrow(ConfigError);
    // What TypeScript does not let through, JavaScript may try.
    for (const noProgressN of [null, false, '3', {}])
      expect(() => loopOf(programs, Object.assign({}, { noProgressN }) as Partial<LoopControllerOptions>)).toThrow(ConfigError);
    expect(thrownBy(() => loopOf(programs, { noProgressN: 1 }))).toMatchObject({
      message: 'noProgressN must be a whole number from 2 to 100, got 1; the guard cannot be switched off',
    });
  });

  it('a part of the wrong form is refused, by the name of its option and the type that was given', () => {
    // What TypeScript does not let through, JavaScript may try.
    const refused = (options: object): unknown => thrownBy(() => loopOf(programs, options));
    for (const option of ['executor', 'keyring', 'clock', 'ids', 'log'])
      for (const [value, type] of [
        [5, 'number'],
        [null, 'null'],
        [[], 'a list'],
      ])
        expect(refused({ [option]: value })).toMatchObject({
          code: 'ERR_CONFIG',
          message: `the options of a LoopController: ${option} must be an object, got ${type}`,
        });
    expect(refused({ clock: { now: () => 0 } })).toMatchObject({
      code: 'ERR_CONFIG',
      message: 'the options of a LoopController: clock.monotonic must be a function, got undefined',
    });
  });

  it('A3-1.1-5: a replay memory shorter than tokens live is refused', () => {
    expect(() => loopOf(programs, { lifetimes: { maxTtl: 300, replayTtl: 299 } })).toThrow(ConfigError);
    expect(() => loopOf(programs, { lifetimes: { replayTtl: 0 } })).toThrow(ConfigError);
  });
});
