import { afterAll, beforeAll, expect, it } from 'vitest';
import { createRuntime, defineTool, loadMockTools, perSession, type Runtime } from '../../src/entries/index.ts';
import { command } from './sources.ts';

const counted = perSession(() => ({ calls: 0 }));
const TOOLS = [
  defineTool({ name: 'tool.test.Count', run: (_args, caller) => ++counted(caller).calls }),
  ...loadMockTools('tools: { tool.mock.Next: { cases: [{ sequence: [{ returns: a }, { returns: b }] }] } }', 'm.yaml'),
];

let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({ tools: TOOLS, policy: { allow: ['*'] }, concurrency: 1 });
});
afterAll(() => runtime.close());

it('the state of a session is shared by its turns, and ends with it: one of the same id begins anew', async () => {
  const root = runtime.interpreter();
  const turnOf = async (sessionId: string | undefined): Promise<unknown> => {
    using turn = runtime.turn({ sessionId });
    return (await root.fork({ turn }).execute(command('emit tool.test.Count()', 'emit tool.mock.Next()'))).values;
  };
  expect([await turnOf('s'), await turnOf('s'), await turnOf('other')]).toEqual([
    [1, 'a'],
    [2, 'b'],
    [1, 'a'],
  ]);
  await runtime.endSession('s');
  expect([await turnOf('s'), await turnOf('other')]).toEqual([
    [1, 'a'],
    [2, 'b'],
  ]);
  // Outside of any session it is the root's.
  expect([await turnOf(undefined), await turnOf(undefined)]).toEqual([
    [1, 'a'],
    [2, 'b'],
  ]);
});
