import { expect, it } from 'vitest';
import { functionAgent } from '../../../src/loop/index.ts';
import { askBench, envelope, replies, token } from './bench.ts';

it.each([
  ['"boolean"', 'true', true],
  ['"boolean"', '"yes"', 'true or false'],
  ['{"min": 1, "max": 5}', '3.5', 3.5],
  ['{"min": -1, "max": 5}', '-1', -1],
  ['{"min": 1, "max": 5}', '6', 'a number from 1 to 5'],
  ['{"min": 0, "max": 5}', '""', 'a number from 0 to 5'],
  ['{"min": 0, "max": 50}', '"0x10"', 'a number from 0 to 50'],
  ['["red", "green"]', '"green"', 'green'],
  ['["red", "green"]', '"green "', 'one of "red", "green"'],
])('issue 46: with {"answer": %s}, an agent that emits %s gives %j', async (form, emitted, value) => {
  await using bench = await askBench({ agents: { a: replies(envelope(`emit ${emitted}`, token('done'))) } });
  const { error, values } = await bench.run(`ask "a", "q" with {"answer": ${form}} into x`, 'emit x');
  if (error === null) expect(values).toEqual([value]);
  else expect([error.nsCode, error.message]).toEqual([41, `the answer of the ask is not ${value}`]);
});

it.each(['"text"', '[]', '[1]', '{"min": 1}', '{"min": 2, "max": 1}', '{"min": 1, "max": 2, "step": 1}', 'nil'])(
  'issue 46: %s is no form of an answer',
  async (form) => {
    await using bench = await askBench({ agents: { a: replies('') } });
    const { error } = await bench.run(`ask "a", "q" with {"answer": ${form}} into x`);
    expect([error?.nsCode, error?.message]).toEqual([4, expect.stringContaining('the options of ask: answer must be "boolean"')]);
  },
);

it('issue 46: the agent is told which answer is wanted', async () => {
  const told: (string | undefined)[] = [];
  const agent = functionAgent(async ({ system }) => {
    told.push(system?.split('\n').at(-1));
    return envelope('emit "red"', token('done'));
  });
  await using bench = await askBench({ agents: { a: agent } });
  await bench.run('ask "a", "q" with {"answer": ["red", "green"]} into x');
  expect(told).toEqual(['The last turn emits one of "red", "green", and nothing else.']);
});
