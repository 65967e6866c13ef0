import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LoopController, MemoryStore, replaySession } from '../../src/loop/index.ts';
import { createRuntime, type Runtime } from '../../src/runtime/index.ts';
import { fakeExecutor, newKeyring, reply, TestClock, USERDATA } from './fake.ts';

let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({ concurrency: 1, launcher: 'none', tenants: { each: { tight: { fuel: 1_000_000 } } } });
});
afterAll(() => runtime.close());

const program = (action: string, name: string) =>
  reply(`command\n  emit "${name}"\n  emit tool.aeiou.magic("LOOP", {"action": "${action}"})\nendcommand`);

function loopOf() {
  const store = new MemoryStore();
  return { store, loop: new LoopController({ runtime, store, keyring: newKeyring('test', new TestClock()) }) };
}

describe('issue 19: a session of a tenant', () => {
  it('takes fuel and tokens from its budgets, and is replayed without it', async () => {
    const { loop, store } = loopOf();
    const agent = {
      reply: async ({ turn }: { readonly turn: number }) => ({
        text: program(turn === 1 ? 'continue' : 'done', `turn ${turn}`),
        tokens: 40,
      }),
    };
    const result = await loop.runLoop({ sid: 's1', userdata: USERDATA, agent, tenant: 'tight' });
    expect(result).toMatchObject({ decision: 'DONE', turns: { length: 2 } });
    const fuel = result.turns.reduce((sum, { usage }) => sum + usage.fuel, 0);
    expect(runtime.tenant('tight').used).toMatchObject({ fuel, tokens: 80 });
    expect(result.turns[0]?.inputs.limits.fuel).toBe(1_000_000);
    expect(result.turns[1]?.inputs.limits.fuel).toBe(1_000_000 - (result.turns[0]?.usage.fuel ?? 0));
    expect(result.turns.every(({ usage }) => (usage.queueMs ?? -1) >= 0)).toBe(true);
    expect(await replaySession(runtime, store, 's1')).toMatchObject({ ok: true });
    expect(runtime.tenant('tight').used.fuel).toBe(fuel);
  });

  it('is halted with the limit and both amounts before an agent is asked', async () => {
    const { loop } = loopOf();
    let asked = 0;
    const agent = {
      reply: async () => {
        asked++;
        return { text: program('continue', `turn ${asked}`), tokens: 60 };
      },
    };
    const { decision, reason, error, turns } = await loop.runLoop({
      userdata: USERDATA,
      agent,
      tenant: { id: 'small', tokens: 100 },
    });
    expect({ decision, reason, turns: turns.length, asked }).toEqual({
      decision: 'HALT',
      reason: 'ERR_QUOTA',
      turns: 1,
      asked: 2,
    });
    expect(error?.message).toContain('60 tokens');
    const again = await loop.runLoop({ userdata: USERDATA, agent, tenant: 'small' });
    expect(again.error).toMatchObject({ code: 'ERR_QUOTA', limit: 'tenantTokens', allowed: 100, used: 120 });
    expect(asked).toBe(2);
  });

  it('cannot be where nothing counts what it uses', async () => {
    const loop = new LoopController({ executor: fakeExecutor({}), keyring: newKeyring('test', new TestClock()) });
    const running = loop.runLoop({ userdata: USERDATA, agent: { reply: async () => '' }, tenant: 'acme' });
    await expect(running).rejects.toMatchObject({ code: 'ERR_CONFIG' });
  });

  it('that changes its limits within a session keeps to the new ones', async () => {
    const { loop } = loopOf();
    const agent = { reply: async () => ({ text: program('done', 'x'), tokens: 5 }) };
    await loop.runLoop({ userdata: USERDATA, agent, tenant: { id: 'moved', tokens: 5 } });
    expect(await loop.runLoop({ userdata: USERDATA, agent, tenant: 'moved' })).toMatchObject({ reason: 'ERR_QUOTA' });
    expect(await loop.runLoop({ userdata: USERDATA, agent, tenant: { id: 'moved', tokens: 50 } })).toMatchObject({
      decision: 'DONE',
    });
  });
});
