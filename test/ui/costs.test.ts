import { describe, expect, it } from 'vitest';
import { type Agent, MemoryStore, type TurnRecord } from '../../src/loop/index.ts';
import { sessionLine } from '../../src/report/index.ts';
import { defineTool } from '../../src/tools/index.ts';
import type { SessionsView, SessionView, TurnView } from '../../src/ui/index.ts';
import { askBench, envelope, token } from '../loop/ask/bench.ts';
import { inspectorOf } from './kit.ts';

/** An agent whose replies cost a cent and ten tokens each. */
const priced = (...texts: readonly string[]): Agent => ({
  name: 'priced',
  price: { in: 1000, out: 1000 },
  reply: async ({ turn }) => ({ text: texts[turn - 1] ?? '', tokens: 10 }),
});

const TOOLS = [defineTool({ name: 'tool.t.Paid', cost: { usd: 0.25 }, run: () => 1 })];

/** `top` asks `middle`, which asks `low` twice and pays for a call; then `top` has a turn of its own. */
async function tree(store: MemoryStore): Promise<void> {
  const low = priced(envelope('emit "l"', token('done')));
  const middle = priced(
    envelope('ask "low", "a" into x', 'ask "low", "b" into y', 'emit tool.t.Paid()', token('continue')),
    envelope('emit "m"', token('done')),
  );
  await using bench = await askBench({ agents: { middle, low }, store, runtime: { tools: TOOLS, policy: { allow: ['*'] } } });
  const top = priced(
    envelope('ask "middle", "q" into x', 'emit tool.t.Paid()', token('continue')),
    envelope('emit tool.t.Paid()', token('done')),
  );
  const { decision, reason } = await bench.loop.runLoop({ sid: 'top', agent: top, userdata: { subject: 's', fields: {} } });
  expect([decision, reason]).toEqual(['DONE', null]);
}

/** What the records of some sessions say that their agents and own calls used. */
async function recorded(store: MemoryStore, sids: readonly string[]): Promise<readonly TurnRecord[]> {
  return (await Promise.all(sids.map((sid) => store.turns(sid)))).flat();
}

describe('issue 49: cost', () => {
  it('is a column of the list, part of a line of sessions list, and stands in a turn and its calls', async () => {
    const store = new MemoryStore();
    await tree(store);
    await using inspector = inspectorOf(store);
    const ask = async <View>(...path: readonly string[]): Promise<View> =>
      // The types of the answers are what this test looks at.
      (await inspector.read({ path, query: new URLSearchParams(), signal: new AbortController().signal })) as View;
    const { sessions } = await ask<SessionsView>('sessions');
    // The last turn of `top`: its reply, and one call.
    expect(sessions.find(({ sid }) => sid === 'top')?.last).toMatchObject({ cost: 0.26, tokens: 10 });
    const first = await ask<TurnView>('sessions', 'top', 'turns', '1');
    // Its own reply and call, two replies and a call of `middle`, two replies of `low`.
    expect([first.cost, first.journal.map(({ cost }) => cost)]).toEqual([0.55, [0.29, 0.25, 0]]);
    const summary = await store.summary('top');
    expect(sessionLine(summary ?? { sid: '', status: '', reason: null, turns: 0 })).toContain('cost $0.81');
  });

  it('a tree of asks has the sums of its sessions, each counted once', async () => {
    const store = new MemoryStore();
    await tree(store);
    await using inspector = inspectorOf(store);
    const view = (await inspector.read({
      path: ['sessions', 'top'],
      query: new URLSearchParams(),
      signal: new AbortController().signal,
    })) as SessionView;
    expect(view.nested.map(({ depth }) => depth)).toEqual([1, 2, 2]);
    // Issue 49: in the order of the calls.
    expect(view.nested.map(({ above }) => above.at(-1)?.call)).toEqual(['1.1', '1.1', '1.2']);
    const all = await recorded(store, ['top', ...view.nested.map(({ sid }) => sid)]);
    expect(all).toHaveLength(6);
    // The fuel of a turn has that of its asks.
    const own = (await recorded(store, ['top'])).reduce((sum, { usage }) => sum + usage.fuel, 0);
    expect(view.sum).toEqual({ turns: 6, fuel: own, tokens: 60, cost: 0.81 });
    expect(view.nested[0]?.sum).toMatchObject({ turns: 4, tokens: 40, cost: 0.29 });
    expect(view.nested[1]?.sum).toMatchObject({ turns: 1, tokens: 10, cost: 0.01 });
  });
});
