import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRuntime, type RunResult, type Runtime } from '../../src/entries/index.ts';
import { program } from '../fuzz/programs.ts';
import { Random } from '../fuzz/random.ts';
import { SLOW } from '../groups.ts';

/** Random programs, each run once by a worker that serves many, by another one, and by a process of its own. */
const PROGRAMS = 15;
const FEW = 4;
const LIMITS = { fuel: 100_000, memoryBytes: 4_000_000 } as const;

let shared: Runtime;
let alone: Runtime;
beforeAll(async () => {
  shared = await createRuntime({ limits: LIMITS, concurrency: 2 });
  alone = await createRuntime({ limits: LIMITS, concurrency: 1, isolation: 'process' });
});
afterAll(async () => {
  await shared.close();
  await alone.close();
});

const OPTIONS = { globals: { g: [1, { k: 2 }] }, events: [{ name: 'x', source: 's', payload: [1], id: 'e', ts: 1 }] };

describe('the same program on the same input', () => {
  for (let seed = 0; seed < PROGRAMS; seed++)
    it(`random program ${seed}: every worker gives the same`, seed < FEW ? {} : SLOW, async () => {
      const source = program(new Random(1000 + seed)).replace(/^func f0.*/, 'func f0(optional a, b, d) means');
      const run = (runtime: Runtime): Promise<RunResult> => runtime.run(source, { ...OPTIONS, call: { name: 'f0', args: [] } });
      // Two at once take two workers.
      const [first, second] = await Promise.all([run(shared), run(shared)]);
      const third = await run(alone);
      expect(first.phase).not.toBe('parse');
      expect(outcome(second)).toEqual(outcome(first));
      expect(outcome(third)).toEqual(outcome(first));
    });
});

/** All of a result but the times, and the journal, which names forks. */
function outcome({ usage: { cpuMs: _cpu, wallMs: _wall, queueMs: _queue, ...usage }, journal, ...rest }: RunResult): unknown {
  return { ...rest, usage, calls: journal.length };
}
