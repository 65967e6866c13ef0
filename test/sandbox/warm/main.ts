/**
 * `node test/sandbox/warm/main.ts --runs N --seed S`: compares random runs in kept isolates with the same runs in fresh ones, and prints what
 * differs. SIGTERM and SIGINT end it early; it then prints what it has done. The exit code is 1 when something differs.
 */
import { parseArgs } from 'node:util';
import { packageFiles } from '../../../src/sandbox/launch.ts';
import { compareWarm } from './compare.ts';

const PART = 10_000;

const { values } = parseArgs({ options: { runs: { type: 'string', default: '10000' }, seed: { type: 'string', default: '1' } } });
const [runs, seed] = [Number(values.runs), Number(values.seed)];
let stopped = false;
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => (stopped = true));
const start = performance.now();
const ends = new Map<string, number>();
let [done, differs] = [0, false];
while (done < runs && !stopped && !differs) {
  const part = await compareWarm({ seed, from: done, runs: Math.min(PART, runs - done) }, packageFiles(), () => stopped);
  done += part.runs;
  for (const [code, count] of part.ends) ends.set(code, (ends.get(code) ?? 0) + count);
  for (const difference of part.differences) process.stdout.write(`${difference}\n`);
  differs = part.differences.length > 0;
  process.stderr.write(`${done} runs of seed ${seed}\n`);
}
const codes = [...ends].sort(([, a], [, b]) => b - a).map(([code, count]) => `${code} ${count}`);
process.stdout.write(`ends: ${codes.join(', ')}\n`);
const rate = Math.round(done / ((performance.now() - start) / 1000));
process.stdout.write(`${done} runs of seed ${seed}, ${differs ? 'DIFFERENT' : 'equal'}, ${rate} a second\n`);
process.exitCode = differs ? 1 : 0;
