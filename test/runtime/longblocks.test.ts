import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRuntime, defineTool, type Runtime } from '../../src/entries/index.ts';
import { drive } from '../guest/driver.ts';

const tools = [
  defineTool({ name: 'tool.web.Get', effects: 'none', run: () => 'from the web' }),
  defineTool({ name: 'tool.mail.Send', effects: 'none', args: [{ name: 'to', type: 'any' }], run: () => null }),
];

/** A command block with so many statements that its later ones come in parts. */
const long = (...last: readonly string[]): string =>
  ['command', 'set x = 0', ...Array<string>(400).fill('set x = x + 1'), ...last, 'endcommand', ''].join('\n');

describe('a long command block', () => {
  let runtime: Runtime;
  beforeAll(async () => {
    runtime = await createRuntime({ tools, policy: { allow: ['tool.*'] }, concurrency: 1 });
  });
  afterAll(() => runtime.close());

  /** In an isolate, which gets the block in parts, and in this realm, which has its tree as a whole. */
  it.each([
    ['its end', long('emit x')],
    ['an error in its last statement', long('emit x', 'fail "there"')],
    [
      'a handler that all of its statements have',
      long('fail "there"', 'on error do', 'emit system.error_message', 'clear_error', 'endon'),
    ],
    ['`last`, which has it compiled again', long('call len("abc")', 'emit last')],
    ['nested blocks', long('while x > 390', 'set x = x - 1', 'if x == 395', 'emit x', 'endif', 'endwhile', 'emit x')],
    ['two of them, which share their variables', long() + long('emit x')],
    ['a place marker at every other statement', long(...Array<string[]>(200).fill(['', 'emit x']).flat())],
  ])('has the same result, fuel and memory in parts as whole: %s', async (_, text) => {
    const whole = drive(text);
    const { values, error, usage } = await runtime
      .interpreter()
      .fork()
      .runRequest({ sources: [{ name: 'test.ns', text }] });
    expect({ values, error: error && [error.message, error.line] }).toEqual({
      values: whole.values,
      error: whole.error && [whole.error.message, whole.error.line],
    });
    expect([usage.fuel, usage.peakMemoryBytes]).toEqual([whole.fuel, whole.peakMemoryBytes]);
  });

  it('is checked as deeply as a short one', async () => {
    const deep = `emit ${'['.repeat(90)}x${']'.repeat(90)}`;
    const { error } = await runtime.run(long(deep), { limits: { evalDepth: 50 } });
    expect(error).toMatchObject({ code: 'NS37', line: 403 });
  });
});

it('rules about flow see what the parts of a long block hold', async () => {
  const flow = { labels: { 'tool.web.*': ['web'] }, sinks: { 'tool.mail.Send.to': { refuse: ['web'] } } };
  await using runtime = await createRuntime({ tools, policy: { allow: ['tool.*'], flow }, concurrency: 1 });
  const { error, journal } = await runtime.run(long('set x = tool.web.Get()', 'call tool.mail.Send(x)'));
  expect(error).toMatchObject({ kind: 'policy', line: 404 });
  expect(journal).toMatchObject([{ name: 'tool.web.get' }, { name: 'tool.mail.send' }]);
});
