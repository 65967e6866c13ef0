import { describe, expect, it } from 'vitest';
import type { Agent } from '../../src/loop/agents/agent.ts';
import { MemoryStore } from '../../src/loop/sessions/sqlite.ts';
import { RuntimeClosedError } from '../../src/wire/errors.ts';
import { reply } from './fake.ts';
import { controller, run } from './host.ts';

/** An agent whose first reply comes when it is told to. */
function slowAgent() {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  const agent: Agent = {
    reply: async ({ turn }) => {
      asked.resolve();
      await answer.promise;
      return reply(turn < 3 ? 'program continue' : 'program done');
    },
  };
  return { agent, asked: asked.promise, answer: answer.resolve };
}

describe('handing over (issue 20)', () => {
  it('decides the turn under way, keeps the session open, and another controller ends it at once', async () => {
    const store = new MemoryStore();
    const [old, next] = [controller({ store, owner: 'old' }), controller({ store, owner: 'next' })];
    const { agent, asked, answer } = slowAgent();
    const driven = old.loop.runLoop(run(agent));
    await asked;
    const over = old.loop.handOff();
    answer();
    await over;
    expect(await driven).toMatchObject({ decision: 'CONTINUE', reason: null, error: null, turns: [{ turn: 1 }] });
    expect(await store.list()).toMatchObject([{ status: 'open', turns: 1, started: null, lease: null }]);
    expect(await next.loop.resume('s', { agent })).toMatchObject({ decision: 'DONE', turns: [{ turn: 2 }, { turn: 3 }] });
  });

  it('refuses new work, but cancels', async () => {
    const { loop } = controller();
    const { agent } = slowAgent();
    await loop.open({ subject: 'x', fields: {} }, 's');
    await loop.handOff();
    await expect(loop.runLoop(run(agent))).rejects.toThrow(RuntimeClosedError);
    await expect(loop.resume('s', { agent })).rejects.toThrow(RuntimeClosedError);
    await expect(loop.step('s', { agent })).rejects.toThrow(RuntimeClosedError);
    expect(await loop.cancel('s')).toBe(true);
  });

  it('does not wait for the reader of a stream', async () => {
    const { loop, store } = controller();
    const { agent, answer } = slowAgent();
    answer();
    const events = loop.stream(run(agent));
    for (let next = await events.next(); next.done !== true && next.value.type !== 'decided'; next = await events.next());
    await loop.handOff();
    expect(await store.list()).toMatchObject([{ status: 'open', turns: 1, lease: null }]);
    const rest = [];
    for await (const event of events) rest.push(event);
    expect(rest.at(-1)).toMatchObject({ type: 'ended', result: { decision: 'CONTINUE' } });
  });
});
