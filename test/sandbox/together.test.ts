// @module-tag slow
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRuntime, type Runtime } from '../../src/runtime/index.ts';
import { defineTool } from '../../src/tools/index.ts';

const MS = 400;
const COUNT = 20;

/** The calls that are open, and what became of them. */
const open = new Set<number>();
let most = 0;
let aborted = 0;
const slow = defineTool({
  name: 'tool.t.Slow',
  args: [
    { name: 'n', type: 'int' },
    { name: 'ms', type: 'int' },
  ],
  returns: 'any',
  run: async ({ n, ms }, { signal, tools, forkId }) => {
    open.add(n);
    most = Math.max(most, open.size);
    const ended = await sleep(ms, true, { signal }).catch(() => false);
    if (!ended) aborted++;
    open.delete(n);
    return `${n} ${forkId} ${tools.forkId === forkId}`;
  },
});
const loop = (ms: number, count = COUNT): string => `command
  set numbers = []
  while len(numbers) < ${count}
    set numbers[len(numbers)] = len(numbers)
  endwhile
  for each n in numbers together
    set seen[n] = tool.t.Slow(n, ${ms})
  endfor
  emit seen
endcommand
`;

describe('calls that run together in a worker', () => {
  let runtime: Runtime;
  beforeAll(async () => {
    runtime = await createRuntime({ tools: [slow], policy: { allow: ['tool.t.*'] }, concurrency: 1 });
  });
  afterAll(() => runtime.close());

  it(`take at most 1.2 times as long as the slowest of ${COUNT} calls, each in a fork of its own`, async () => {
    most = 0;
    const ratios: number[] = [];
    // A busy machine may delay one run, hardly each of them.
    for (let tries = 0; tries < 10 && !ratios.some((ratio) => ratio <= 1.2); tries++) {
      const start = performance.now();
      const { error, journal, emits } = await runtime.interpreter().fork().execute(loop(MS));
      const elapsed = performance.now() - start;
      expect(error).toBeNull();
      ratios.push(elapsed / Math.max(...journal.map(({ ms }) => ms)));
      const forks = journal.map(({ at }) => at.fork);
      expect(new Set(forks).size).toBe(COUNT);
      expect(JSON.parse(emits[0] ?? '')).toEqual(forks.map((fork, n) => `${n} ${fork} true`));
    }
    expect(most).toBe(COUNT);
    expect(Math.min(...ratios)).toBeLessThanOrEqual(1.2);
  });

  it('are all cancelled with their run', async () => {
    aborted = 0;
    const controller = new AbortController();
    const run = runtime.interpreter().fork().execute(loop(60_000), { signal: controller.signal });
    while (open.size < COUNT) await sleep(5);
    controller.abort();
    const { error, journal } = await run;
    expect(error?.code).toBe('ERR_CANCELLED');
    while (open.size > 0) await sleep(5);
    expect(aborted).toBe(COUNT);
    expect(journal.map(({ seq, outcome }) => [seq, 'halted' in outcome && outcome.halted.code])).toEqual(
      Array.from({ length: COUNT }, (_, n) => [n + 1, 'ERR_CANCELLED']),
    );
  });

  it('end with the time of one tool; the error names a call that is open, and the journal has those that ended', async () => {
    aborted = 0;
    const source = `command
  together
    set a = tool.t.Slow(1, 1)
    set b = tool.t.Slow(2, 60000)
  endtogether
endcommand
`;
    const limits = { toolMs: 300 };
    const { error, journal } = await runtime.interpreter().fork().execute(source, { limits });
    expect(error).toMatchObject({ code: 'ERR_TIMEOUT', limit: 'toolMs', line: 4 });
    expect(journal.map(({ outcome }) => outcome.ok)).toEqual([true, false]);
    while (open.size > 0) await sleep(5);
    expect(aborted).toBe(1);
  });

  it('begin with none when they are too many', async () => {
    const limits = { togetherCalls: COUNT - 1 };
    const { error, journal, usage } = await runtime.interpreter().fork().execute(loop(1), { limits });
    expect(error).toMatchObject({ code: 'ERR_QUOTA', limit: 'togetherCalls', allowed: COUNT - 1, used: COUNT, line: 6 });
    expect(journal).toEqual([]);
    expect(usage.toolCalls).toBe(0);
  });
});
