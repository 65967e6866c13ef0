import { afterAll, beforeAll, expect, it } from 'vitest';
import { createRuntime, type Runtime } from '../../src/runtime/index.ts';

let reply: unknown;
let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({ concurrency: 1, ask: async () => reply as never });
});
afterAll(() => runtime.close());

const SPENT = { fuel: 1, toolCalls: 0, cpuMs: 0.5, turns: 1, tokens: 0 };

it.each<[unknown, string]>([
  [null, 'must be an object, got null'],
  [5, 'must be an object, got number'],
  [{}, ': t must be ok, error or halt'],
  [{ t: 'ok', value: 1, spent: { ...SPENT, toolCalls: undefined } }, ': spent.toolCalls must be'],
  [{ t: 'ok', value: 1, spent: { ...SPENT, fuel: -5 } }, ': spent.fuel must be'],
  [{ t: 'ok', value: 1, spent: { ...SPENT, cpuMs: Number.NaN } }, ': spent.cpuMs must be a number from 0, got NaN'],
])('a handler of ask that replies %j is to blame for it, and not the worker', async (given, problem) => {
  reply = given;
  const { error } = await runtime.run('command\nask "m", "q" into x\nendcommand');
  expect(error?.message).toContain('the reply of the handler of ask');
  expect(error?.message).toContain(problem);
});

it('a handler of ask may tell what it used', async () => {
  reply = { t: 'ok', value: 'fine', spent: { ...SPENT, cost: 0.01 } };
  expect(await runtime.run('command\nask "m", "q" into x\nemit x\nendcommand')).toMatchObject({ values: ['fine'] });
});
