import { existsSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { defineTool } from '../../src/tools/index.ts';
import { CONTINUE, command, DONE, openStage, type Stage } from './sessions.ts';

const seen: { readonly directory: string; readonly fork: string; readonly open: boolean }[] = [];
let disposed = 0;

const TOOLS = [
  defineTool({
    name: 'tool.test.Look',
    run: async (_args, runtime) => {
      const directory = await runtime.sandboxDir();
      seen.push({ directory, fork: runtime.forkId, open: existsSync(directory) });
      if (seen.length === 1) runtime.handles.create('thing', { [Symbol.dispose]: () => void disposed++ });
    },
  }),
];

let stage: Stage;
beforeAll(async () => {
  stage = await openStage({ tools: TOOLS, policy: { allow: ['tool.test.*'] } });
});
afterAll(() => stage[Symbol.asyncDispose]());

it('what tools keep for a session lasts from turn to turn, each in its own fork, and is gone when the loop has decided', async () => {
  const look = 'call tool.test.Look()';
  const { result } = await stage.play([
    command(look, 'emit 1', CONTINUE),
    command(look, 'emit 2', CONTINUE),
    command(look, DONE),
  ]);
  expect(result.decision).toBe('DONE');
  expect(new Set(seen.map(({ directory }) => directory)).size).toBe(1);
  expect(new Set(seen.map(({ fork }) => fork)).size).toBe(3);
  expect(seen.map(({ open }) => open)).toEqual([true, true, true]);
  expect(seen.map(({ directory }) => existsSync(directory))).toEqual([false, false, false]);
  expect(disposed).toBe(1);
});

it('also when it ends without a decision of its own: halted, and at its most turns', async () => {
  seen.length = 0;
  await stage.play([command('call tool.test.Look()', 'fail "no"')]);
  await stage.play([command('call tool.test.Look()', CONTINUE)], { maxTurns: 1 });
  expect(seen).toHaveLength(2);
  expect(seen[0]?.directory).not.toBe(seen[1]?.directory);
  expect(seen.map(({ directory }) => existsSync(directory))).toEqual([false, false]);
});
