import { describe, expect, it } from 'vitest';
import { MemoryStore, PLAN } from '../../src/loop/index.ts';
import { defineTool } from '../../src/tools/index.ts';
import type { CompleteView, SessionView } from '../../src/ui/index.ts';
import { agentOf, openHost, SESSION } from '../loop/suspend/stage.ts';
import { block, inspectorOf, magic } from './kit.ts';

const sends = (action: string, ...lines: readonly string[]): string => block('emit tool.t.List()', ...lines, magic(action));

/** A host under plans, its session that waits in its second turn, and an inspector that answers by the host's keys. */
async function waiting() {
  const sent: unknown[] = [];
  const tools = [
    defineTool({ name: 'tool.t.List', effects: 'read', run: () => ['a', 'b'] }),
    defineTool({
      name: 'tool.t.Send',
      args: [{ name: 'to', type: 'string' }],
      cost: { usd: { each: 0.01, of: 'to' } },
      run: ({ to }) => sent.push(to),
    }),
    defineTool({ name: 'tool.t.Drop', args: [{ name: 'what', type: 'string' }], run: ({ what }) => sent.push(what) }),
  ];
  const store = new MemoryStore();
  const host = await openHost(tools, { store, approve: 'plan', maxReasks: 0 });
  const [first, second] = [
    sends('continue', 'for each n in [1, 2, 3]', '  call tool.t.Send("a")', 'endfor', 'call tool.t.Drop("old")'),
    sends('done', 'call tool.t.Send("a")', 'together', '  set x = tool.t.Send("z")', '  set y = tool.t.Send("y")', 'endtogether'),
  ];
  const agent = {
    reply: async ({ turn }: { readonly turn: number }) => await agentOf(turn === 1 ? first : second).reply({ turn: 1 }),
  };
  await host.loop.runLoop({ ...SESSION, agent });
  await host.loop.complete('s', PLAN, { result: true });
  await host.loop.resume('s', { agent });
  sent.length = 0;
  const inspector = inspectorOf(store, {
    answers: { refusal: () => null, complete: (sid, call, answer) => host.loop.complete(sid, call, answer) },
  });
  const { signal } = new AbortController();
  return {
    sent,
    view: async () => (await inspector.read({ path: ['sessions', 's'], query: new URLSearchParams(), signal })) as SessionView,
    answer: async (value: boolean) =>
      (await inspector.act({ path: ['sessions', 's', 'complete'], signal }, { call: PLAN, value })) as CompleteView,
    resume: () => host.loop.resume('s', { agent }),
    async [Symbol.asyncDispose]() {
      await inspector[Symbol.asyncDispose]();
      await host[Symbol.asyncDispose]();
    },
  };
}

describe('issue 49: a plan that waits', () => {
  it('shows what it may do at most, what matters most first, with the changes since the last approved grant', async () => {
    await using here = await waiting();
    const { calls, phase } = await here.view();
    expect([phase, calls.map(({ call, args }) => [call, args])]).toEqual(['waiting', [[PLAN, []]]]);
    const plan = calls[0]?.plan;
    expect(plan?.since).toBe(1);
    expect(plan?.head.text).toMatch(/4 calls, 3 of which may change something/);
    expect(plan?.calls.map(({ tool, change, mayChange }) => [tool, change, mayChange])).toEqual([
      ['tool.t.send', 'new', true],
      ['tool.t.send', 'new', true],
      ['tool.t.send', 'narrower', true],
      ['tool.t.list', 'same', false],
    ]);
    expect(plan?.calls[2]?.terms.text).toMatch(/"a".*at most once/);
    expect(plan?.gone).toEqual(['tool.t.drop']);
  });

  it('issue 47: shows what its calls cost, at most and usually, and what all of it costs at most', async () => {
    await using here = await waiting();
    const plan = (await here.view()).calls[0]?.plan;
    const sent = 'cost: at most $0.01, usually $0.01 a call (median of 3)';
    expect(plan?.calls.map(({ cost }) => cost)).toEqual([sent, sent, sent, '']);
    expect(plan?.notes.map(({ text }) => text)).toContain('all of it costs at most $0.03');
  });

  it('is approved, and the session makes its calls', async () => {
    await using here = await waiting();
    expect((await here.answer(true)).calls).toMatchObject([{ call: PLAN, completed: true }]);
    expect(await here.resume()).toMatchObject({ decision: 'DONE' });
    expect(here.sent.toSorted()).toEqual(['a', 'y', 'z']);
  });

  it('is refused, and the session makes none of them', async () => {
    await using here = await waiting();
    await here.answer(false);
    expect(await here.resume()).toMatchObject({ decision: 'HALT' });
    expect(here.sent).toEqual([]);
  });
});
