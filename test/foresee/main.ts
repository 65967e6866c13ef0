/**
 * `npm run foreseen -- --programs N --seed S`: runs generated programs, each under a grant of what was foreseen and under a narrower one, and
 * prints what happened and was not foreseen. `--seconds N` ends it earlier. The last lines say how much was foreseen exactly.
 */
import { parseArgs } from 'node:util';
import { examine, tally } from './harness.ts';

/** Escapes after which a run stops. */
const MOST = 10;

/** Programs after which standard error hears how far a long run is. */
const REPORTED = 10_000;

const { values } = parseArgs({
  options: {
    programs: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    seconds: { type: 'string', default: 'Infinity' },
  },
});
const [programs, seed] = [Number(values.programs), Number(values.seed)];
if (!(programs > 0) || !Number.isInteger(programs) || !Number.isInteger(seed)) {
  process.stderr.write('usage: npm run foreseen -- [--programs N] [--seed N] [--seconds N]\n');
  process.exit(2);
}

const found = tally();
const start = performance.now();
const elapsed = (): number => (performance.now() - start) / 1000;
const share = (part: number, whole: number): string => `${((100 * part) / Math.max(1, whole)).toFixed(1)} %`;
for (let index = 0; index < programs && found.escapes.length < MOST && elapsed() < Number(values.seconds); index++) {
  examine(Math.imul(seed, 0x9e3779b1) + index, found);
  if (found.programs % REPORTED === 0)
    process.stderr.write(
      `${found.runs} runs in ${Math.round(elapsed())} s, ${found.escapes.length} escapes, ${share(found.exact, found.calls)} exact\n`,
    );
}
const seconds = elapsed();
for (const { seed: own, what, source } of found.escapes) process.stdout.write(`program ${own}: ${what}\n${source}\n`);
process.stdout.write(`${found.calls} calls, ${share(found.exact, found.calls)} of them foreseen exactly\n`);
process.stdout.write(`${share(found.tight, found.runs)} of the runs made exactly the calls that were foreseen\n`);
process.stdout.write(`${share(found.bounded, found.programs)} of the programs have a bound of their fuel\n`);
const looseness = found.looseness.toSorted((a, b) => a - b)[found.looseness.length >> 1] ?? Number.NaN;
process.stdout.write(`${found.outside} calls outside of a grant that was narrower by one, each of them refused\n`);
process.stdout.write(
  `${found.priced} runs cost something, and for ${share(found.looseness.length, found.priced)} of them a bound was stated: the median is ${looseness.toFixed(2)} times the cost\n`,
);
process.stdout.write(
  `${found.runs} runs of ${found.programs} programs from seed ${seed}, ${found.escapes.length} escapes, ${found.refused} refused, ${Math.round(found.runs / seconds)} runs a second\n`,
);
process.exitCode = found.escapes.length === 0 && found.refused === 0 ? 0 : 1;
