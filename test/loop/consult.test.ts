import { describe, expect, it, vi } from 'vitest';
import { type Agent, AgentError } from '../../src/loop/agents/agent.ts';
import { MemoryStore } from '../../src/loop/sessions/sqlite.ts';
import { RuntimeClosedError } from '../../src/wire/errors.ts';
import { programAgent, reply, USERDATA } from './fake.ts';
import { controller } from './host.ts';

const mute: Agent = { reply: async ({ turn }) => Promise.reject(new AgentError(turn, 'nobody answers')) };
const nobody: Agent = { reply: () => expect.unreachable('the agent was consulted again') };

async function opened(options: Parameters<typeof controller>[0] = {}) {
  const host = controller(options);
  await host.loop.open(USERDATA, 's');
  return host;
}

describe('consulting apart from running (issue 20)', () => {
  it('stores the reply, which another controller runs as the first attempt, once', async () => {
    const store = new MemoryStore();
    const start = vi.spyOn(store, 'start');
    const first = await opened({ store, owner: 'first' });
    const agent: Agent = { reply: async () => ({ text: reply('program done'), tokens: 7 }) };
    expect(await first.loop.consult('s', { agent })).toBe(true);
    expect(await store.list()).toMatchObject([{ status: 'open', started: 1, lease: null, turns: 0 }]);
    expect(first.executor.spy.calls).not.toContain('execute');
    // It would halt a turn whose process died.
    const second = controller({ store, owner: 'second', onInterrupted: 'halt' });
    expect(await second.loop.resume('s', { agent: nobody })).toMatchObject({
      decision: 'DONE',
      turns: [{ agent: { tokens: 7 } }],
    });
    expect(start.mock.calls.map(([{ attempt }]) => attempt)).toEqual([0, 1]);
    expect(await store.read('s')).toMatchObject({ spent: { tokens: 7 } });
    expect(await store.turns('s')).toHaveLength(1);
  });

  it('does not consult again for a stored reply, and not after the last turn', async () => {
    const { loop, store } = await opened();
    const agent = programAgent('continue');
    expect(await loop.consult('s', { agent })).toBe(true);
    expect(await loop.consult('s', { agent: nobody })).toBe(false);
    expect(await loop.step('s', { agent: nobody })).toMatchObject({ turn: 1, decision: 'CONTINUE' });
    expect(await loop.consult('s', { agent: nobody, maxTurns: 1 })).toBe(false);
    expect(await loop.resume('s', { agent: nobody, maxTurns: 1 })).toMatchObject({ decision: 'HALT', reason: 'ERR_MAX_TURNS' });
    await expect(loop.consult('s', { agent })).rejects.toMatchObject({ code: 'ERR_SESSION_STATE' });
    expect(await store.turns('s')).toHaveLength(1);
  });

  it('ends the session when the agent gives no reply, and logs that', async () => {
    const { loop, store, log } = await opened();
    expect(await loop.consult('s', { agent: mute })).toBe(false);
    expect(await store.list()).toMatchObject([{ status: 'halted', reason: 'ERR_AGENT', lease: null, owed: 0 }]);
    expect(log.entries).toMatchObject([{ decision: 'HALT', reason: 'ERR_AGENT' }]);
    expect(loop.metrics.snapshot().agent_replies_total).toEqual({ failed: 1 });
  });

  it('cancels while the agent is consulted, and between the two phases', async () => {
    const { loop, store } = await opened();
    const asked = Promise.withResolvers<void>();
    const slow: Agent = {
      reply: () => {
        asked.resolve();
        return new Promise(() => {});
      },
    };
    const consulted = loop.consult('s', { agent: slow });
    await asked.promise;
    await expect(loop.resume('s', { agent: nobody })).rejects.toMatchObject({ code: 'ERR_SESSION_LEASED' });
    expect(await loop.cancel('s')).toBe(true);
    expect(await consulted).toBe(false);
    expect(await store.list()).toMatchObject([{ status: 'halted', reason: 'ERR_CANCELLED', started: null }]);
    await loop.open(USERDATA, 't');
    expect(await loop.consult('t', { agent: programAgent('done') })).toBe(true);
    expect(await loop.cancel('t')).toBe(true);
    expect(await store.turns('t')).toMatchObject([
      { decision: 'HALT', error: { message: 'turn 1 was started and not decided: its program did not run' } },
    ]);
  });

  it('is waited for when the sessions are handed over, and refused after that', async () => {
    const { loop, store } = await opened();
    const consulted = loop.consult('s', { agent: programAgent('done') });
    await loop.handOff();
    expect(await consulted).toBe(true);
    expect(await store.list()).toMatchObject([{ status: 'open', started: 1, lease: null }]);
    await expect(loop.consult('s', { agent: nobody })).rejects.toThrow(RuntimeClosedError);
  });
});
