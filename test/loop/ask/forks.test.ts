import { describe, expect, it } from 'vitest';
import { currentTurn } from '../../../src/context/index.ts';
import { functionAgent } from '../../../src/loop/index.ts';
import { defineTool } from '../../../src/tools/index.ts';
import { askBench, envelope, token } from './bench.ts';

describe('the forks of an ask', () => {
  it('CTX-4-2 CTX-4-3: the loop carries the context of its turn before it forks, and every turn forks anew', async () => {
    const driving: unknown[] = [];
    const running: unknown[] = [];
    const forks: string[] = [];
    const probe = defineTool({
      name: 'tool.t.Probe',
      run: (_, { turn, forkId }) => {
        running.push([turn.sessionId, turn.turnIndex]);
        forks.push(forkId);
      },
    });
    const agent = functionAgent(async ({ sid, turn }) => {
      const context = currentTurn();
      driving.push([context?.sessionId, context?.turnIndex, context?.sessionId === sid, context?.value('app')]);
      return envelope('call tool.t.Probe()', `emit ${turn}`, token(turn < 3 ? 'continue' : 'done'));
    });
    await using bench = await askBench({ agents: { a: agent }, runtime: { tools: [probe] } });
    const { createStores } = await import('../../../src/context/index.ts');
    const stores = createStores();
    stores.models.register('a', { provider: 'test', model: 'a' });
    const root = bench.runtime.interpreter({ stores });
    using turn = bench.runtime.turn({ sessionId: 'host', turnIndex: 7, values: { app: 'mine' } });
    const result = await root.fork({ turn }).execute('command\n  ask "a", "go" into x\n  call tool.t.Probe()\nendcommand\n');
    expect(result.error).toBeNull();
    const [first] = running as [[string, number]];
    expect(first[0]).not.toBe('host');
    expect(driving).toEqual([1, 2, 3].map((index) => [first[0], index, true, 'mine']));
    expect(running).toEqual([...[1, 2, 3].map((index) => [first[0], index]), ['host', 7]]);
    expect(new Set(forks).size).toBe(4);
  });
});
