import { describe, expect, it } from 'vitest';
import type { Agent } from '../../src/loop/agents/index.ts';
import { LoopController } from '../../src/loop/controller.ts';
import type { LoopControllerOptions } from '../../src/loop/options.ts';
import { ConfigError } from '../../src/wire/errors.ts';
import { fakeExecutor, newKeyring, programAgent, reply, TestClock, USERDATA } from './fake.ts';
import { controller, run } from './host.ts';

/** Each program of the fake executor spends 12 units of fuel. */
const FUEL = 12;
const counting = (tokens: number): Agent => ({ reply: async () => ({ text: reply('program continue'), tokens }) });

describe('what bounds a session', () => {
  it('turns in all: the next one is not asked for', async () => {
    const agent = programAgent('continue');
    expect(await controller().loop.runLoop(run(agent, { maxTurns: 4 }))).toMatchObject({
      reason: 'ERR_MAX_TURNS',
      turns: { length: 4 },
    });
    expect(agent.prompts).toHaveLength(4);
  });

  it('fuel in all: each turn gets what is left, and without any nobody is asked', async () => {
    const { loop, executor } = controller();
    const agent = programAgent('continue');
    const result = await loop.runLoop(run(agent, { maxFuel: 2 * FUEL + 5 }));
    expect(executor.spy.forks.map(({ limits }) => limits.fuel)).toEqual([2 * FUEL + 5, FUEL + 5, 5]);
    expect(result).toMatchObject({ reason: 'ERR_QUOTA', turns: { length: 3 } });
    expect(agent.prompts).toHaveLength(3);
  });

  it('fuel of a turn: the tighter of the two', async () => {
    const { loop, executor } = controller();
    await loop.runLoop(run(programAgent('done'), { maxFuel: 1000, limits: { fuel: 400 } }));
    expect(executor.spy.forks[0]?.limits.fuel).toBe(400);
  });

  it('model tokens in all, over all turns', async () => {
    const { loop, store } = controller();
    const result = await loop.runLoop(run(counting(40), { maxTokens: 100 }));
    expect(result).toMatchObject({ decision: 'HALT', reason: 'ERR_QUOTA', turns: { length: 2 } });
    expect(result.error?.message).toBe('the reply of turn 3 took 40 tokens, 20 were left');
    expect((await store.read('s'))?.spent.tokens).toBe(120);
  });

  it('model tokens of a turn', async () => {
    expect(await controller().loop.runLoop(run(counting(40), { maxTurnTokens: 39 }))).toMatchObject({
      reason: 'ERR_QUOTA',
      turns: [],
    });
    expect(await controller().loop.runLoop(run(counting(40), { maxTurnTokens: 40, maxTurns: 2 }))).toMatchObject({
      reason: 'ERR_MAX_TURNS',
    });
  });

  it('time of a reply, of a program, and of the whole session', async () => {
    const never: Agent = { reply: () => new Promise(() => {}) };
    expect(await controller().loop.runLoop(run(never, { maxReplyMs: 20 }))).toMatchObject({ reason: 'ERR_TIMEOUT' });
    expect(await controller().loop.runLoop(run(never, { wallMs: 20 }))).toMatchObject({ reason: 'ERR_TIMEOUT' });
    const { loop, executor } = controller();
    expect(await loop.runLoop(run(programAgent('timeout'), { limits: { wallMs: 70 } }))).toMatchObject({ reason: 'ERR_TIMEOUT' });
    expect(executor.spy.forks[0]?.limits.wallMs).toBe(70);
  });

  it('all of that over every process that drives it: what is spent is kept', async () => {
    const { loop, store } = controller();
    await loop.open(USERDATA, 's');
    await loop.step('s', { agent: counting(40) });
    const { loop: other } = controller({ store });
    expect(await other.resume('s', { agent: counting(40), maxTokens: 70 })).toMatchObject({ reason: 'ERR_QUOTA', turns: [] });
  });
});

describe('options', () => {
  const host = (more: object) => {
    const clock = new TestClock();
    return () =>
      new LoopController({
        executor: fakeExecutor({}),
        keyring: newKeyring('test', clock),
        clock,
        ...more,
      } as LoopControllerOptions);
  };

  it.each([{ maxturns: 3 }, { timeout: 5 }, { noProgressn: 2 }, { leaseMS: 500 }])(
    'of a host with an unknown key %j are refused',
    (more) => {
      expect(host(more)).toThrow(ConfigError);
      expect(host(more)).toThrow(`unknown key '${Object.keys(more)[0]}' in the options of a LoopController`);
    },
  );

  it.each([
    [{ maxTurn: 3 }, "unknown key 'maxTurn'"],
    [{ max_tokens: 3 }, "unknown key 'max_tokens'"],
    [{ maxTurns: 0 }, 'maxTurns must be a whole number from 1'],
    [{ maxFuel: Number.NaN }, 'maxFuel'],
    [{ maxTokens: 1.5 }, 'maxTokens'],
    [{ maxReplyMs: -1 }, 'maxReplyMs'],
    [{ maxReasks: -1 }, 'maxReasks'],
    [{ wallMs: 0 }, 'wallMs'],
    [{ limits: { fuels: 1 } }, 'fuels'],
    [{ agent: 'model' }, 'agent must be an object'],
    [{ agent: { answer: () => '' } }, 'agent.reply must be a function'],
    [{ signal: 5 }, 'signal must be an AbortSignal'],
    [{ onEvent: 5 }, 'onEvent must be a function'],
  ])('of a session %j are refused before anything happens', async (more, message) => {
    const { loop, store } = controller();
    const options = { ...run(programAgent('done')), ...more };
    await expect(loop.runLoop(options as never)).rejects.toThrow(message);
    await expect(loop.runLoop(options as never)).rejects.toBeInstanceOf(ConfigError);
    expect(await store.list()).toEqual([]);
    const { userdata: _, sid: __, ...step } = options;
    await expect(loop.step('s', step as never)).rejects.toThrow(message);
    await expect(loop.resume('s', step as never)).rejects.toThrow(message);
  });
});

describe('issue 47, a price: the ceiling of a session', () => {
  const priced = (tokens: number): Agent => ({
    price: { in: 100, out: 100 },
    reply: async () => ({ text: reply('program continue'), tokens }),
  });

  it('counts model tokens exactly, and ends the session when a reply costs more than is left', async () => {
    const { loop, store } = controller();
    const result = await loop.runLoop(run(priced(3000), { maxCost: 0.85 }));
    expect(result).toMatchObject({ decision: 'HALT', reason: 'ERR_QUOTA', turns: { length: 2 } });
    expect((await store.read('s'))?.spent.cost).toBe(0.9);
  });
});
