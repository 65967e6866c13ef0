import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRuntime, defineTool, type Runtime } from '../../src/entries/index.ts';
import { DEEP_PROGRAMS } from '../guest/shapes.ts';
import { command, func } from './sources.ts';

/** The program that handles its error; `test/sandbox/program.test.ts` runs it. */
const CATCHES = 'guardedFors';

let runtime: Runtime;
beforeAll(async () => {
  const take = defineTool({ name: 'tool.t.take', args: [{ name: 'a' }, { name: 'b', required: false }], run: () => null });
  runtime = await createRuntime({ tools: [take], policy: { allow: ['*'] }, concurrency: 1 });
});
afterAll(() => runtime.close());

/** The same programs end in the same way in this process (`test/guest/stack.test.ts`); here it is the isolate's own stack. */
describe('depth, through the real sandbox', () => {
  it.each(Object.entries(DEEP_PROGRAMS).filter(([name]) => name !== CATCHES))(
    'P24: %s end in code 37, and the worker lives on',
    async (_name, source) => {
      const result = await runtime.run(source, { call: { name: 'f', args: [1e6] } });
      expect(result.error).toMatchObject({ kind: 'runtime', code: 'NS37' });
      expect(result.error?.message).toMatch(/^maximum (evaluation depth of 10,000|call depth of 500) exceeded/);
      expect((await runtime.run(command('emit 1'))).emits).toEqual(['1']);
    },
  );

  it('P24: 500 frames run, one more is code 37, which `on error` catches', async () => {
    const root = runtime.interpreter();
    await root.load(
      func('down(needs n)', 'if n == 0', '  return 0', 'endif', 'return 1 + down(n - 1)') +
        func('caught(needs n)', 'on error do', '  emit system_error.code', '  clear_error', 'endon', 'emit down(n)', 'emit "on"'),
    );
    expect(await root.run('down', [499])).toMatchObject({ result: 499, error: null });
    expect(await root.run('down', [500])).toMatchObject({ result: null, error: { code: 'NS37', stack: { length: 500 } } });
    expect((await root.run('caught', [500])).values).toEqual([37, 'on']);
  });

  const NESTED: readonly (readonly [what: string, text: string, build: (n: number) => string])[] = [
    ['brackets', '1', (n) => `emit ${'('.repeat(n)}1${')'.repeat(n)}`],
    ['lists', '1', (n) => `set l = ${'['.repeat(n)}1${']'.repeat(n)}\nemit len(l)`],
    ['not', 'false', (n) => `emit ${'not '.repeat(n)}true`],
    ['minus', '-1', (n) => `emit ${'- '.repeat(n)}1`],
    ['if', '1', (n) => `${'if true\n'.repeat(n)}emit 1${'\nendif'.repeat(n)}`],
    ['for', '1', (n) => `set l = [1]\n${'for each x in l\n'.repeat(n)}emit x${'\nendfor'.repeat(n)}`],
  ];
  it.each(NESTED)('P33: %s: 200 levels run, 201 are a syntax error', async (_what, text, build) => {
    // The command block is the first level.
    expect((await runtime.run(command(build(199)))).emits).toEqual([text]);
    const deeper = await runtime.run(command(build(200)));
    expect(deeper).toMatchObject({
      phase: 'parse',
      emits: [],
      error: { code: 'NS15', message: 'nesting is deeper than 200 levels' },
    });
  });
});
