/**
 * `npm run differential -- --programs N --seed S [--sandbox]`: runs generated programs through the product and through the
 * definitional interpreter, and prints what they disagree in, as short as possible. SIGTERM and SIGINT end a run early; it then prints
 * what it has done.
 */
import { setImmediate } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { LIMITS } from './both.ts';
import { compare, shortest, tally } from './compare.ts';
import { throughSandbox } from './sandbox.ts';

/** Disagreements after which a run stops. */
const MOST = 20;
/** Programs between two looks at signals. */
const BATCH = 500;
/** Programs between two lines of progress. */
const PROGRESS = 100_000;

const { values } = parseArgs({
  options: {
    programs: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    sandbox: { type: 'boolean', default: false },
  },
});
const [programs, seed] = [Number(values.programs), Number(values.seed)];
if (!(programs > 0) || !Number.isInteger(programs) || !Number.isInteger(seed)) {
  process.stderr.write('usage: npm run differential -- [--programs N] [--seed N] [--sandbox]\n');
  process.exit(2);
}

// Most programs raise errors, whose stacks nobody reads.
Error.stackTraceLimit = 0;
const result = tally();
const start = performance.now();
if (values.sandbox) await throughSandbox(seed, programs, result);
else await inProcess();
const seconds = (performance.now() - start) / 1000;

for (const found of result.disagreements.slice(0, MOST).map((one) => (values.sandbox ? one : shortest(one)))) {
  const limits = Object.entries(found.limits).filter(([name, value]) => Reflect.get(LIMITS, name) !== value);
  process.stdout.write(`program ${found.index} of seed ${found.seed}, ${JSON.stringify(Object.fromEntries(limits))}\n`);
  process.stdout.write(`${found.what}\n${found.program.source}\n`);
}
const ends = [...result.ends].sort(([, a], [, b]) => b - a).map(([code, count]) => `${code} ${count}`);
process.stdout.write(`ends: ${ends.join(', ')}\n`);
process.stdout.write(
  `${result.programs} programs from seed ${seed}, ${result.disagreements.length} disagreements, ${result.refused} refused, ${Math.round(result.programs / seconds)} programs a second\n`,
);
process.exitCode = result.disagreements.length === 0 && result.refused === 0 ? 0 : 1;

async function inProcess(): Promise<void> {
  let stopped = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => (stopped = true));
  for (let index = 0; index < programs && result.disagreements.length < MOST; index++) {
    if (index % BATCH === 0) await setImmediate();
    if (stopped) return;
    if (index > 0 && index % PROGRESS === 0)
      process.stderr.write(`${index} programs from seed ${seed}, ${result.disagreements.length} disagreements\n`);
    compare(seed, index, result);
  }
}
