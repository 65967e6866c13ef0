/**
 * Runs programs through both interpreters of a copy of the sources until they disagree: `node apps/lab/mutation/agree.ts COPY PROGRAMS SEED`.
 * Prints the first difference and exits with 1, or prints nothing and exits with 0. A program that does not end counts as a difference: a
 * second thread ends the process after some seconds of CPU time without progress, so that a busy machine changes nothing.
 */
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import type * as Differential from '../../../test/differential/compare.ts';

/** CPU time that no program takes, the start of the process included. */
const MOST_CPU_US = 15_000_000;
const LOOK_MS = 500;

if (isMainThread) await run();
else watch(workerData);

async function run(): Promise<void> {
  const [copy = '', programs, seed] = process.argv.slice(2);
  const done = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  new Worker(fileURLToPath(import.meta.url), { workerData: done }).unref();
  // Most programs raise errors, whose stacks nobody reads.
  Error.stackTraceLimit = 0;
  const compared: typeof Differential = await import(pathToFileURL(join(copy, 'test/differential/compare.ts')).href);
  const result = compared.tally();
  for (let index = 0; index < Number(programs) && result.disagreements.length === 0; index++) {
    compared.compare(Number(seed), index, result);
    Atomics.store(done, 0, index + 1);
  }
  const [first] = result.disagreements;
  if (first !== undefined) process.stdout.write(`program ${first.index}: ${first.what.slice(0, 120)}\n`);
  process.exitCode = first === undefined ? 0 : 1;
}

function watch(done: Int32Array): void {
  let [seen, since] = [0, 0];
  setInterval(() => {
    const [now, { user }] = [Atomics.load(done, 0), process.cpuUsage()];
    if (now !== seen) [seen, since] = [now, user];
    else if (user - since > MOST_CPU_US) {
      writeSync(1, `program ${now} does not end\n`);
      process.kill(process.pid, 'SIGKILL');
    }
  }, LOOK_MS);
}
