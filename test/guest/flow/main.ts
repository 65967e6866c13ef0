/**
 * `node test/guest/flow/main.ts --programs N --seed S`: runs generated programs twice with another answer of a labelled source, and prints those
 * in which an observer behind a sink sees a difference. SIGTERM and SIGINT end it early. The exit code is 1 when something differs.
 * `--second` compares, in each of them and in each without its handlers of errors, all labels with those of the second interpreter instead.
 * `--planted` plants one leak after the other in the interpreter, and prints after how many programs each was found. The exit code is 1
 * when one is not.
 */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { parseArgs } from 'node:util';
import type { Program } from '../../../conformance/language/generate/programs.ts';
import { PLANTS } from './plants.ts';

const { values } = parseArgs({
  options: {
    programs: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    planted: { type: 'boolean', default: false },
    second: { type: 'boolean', default: false },
  },
});
const [programs, seed] = [Number(values.programs), Number(values.seed)];
if (values.planted) plantAll();
const problemOf = values.second ? await differenceOf() : await leakOf();
const { generated } = await import('./generated.ts');

let stopped = false;
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => (stopped = true));
if (values.planted) {
  for (const name of Object.keys(PLANTS)) {
    Reflect.set(globalThis, 'planted', name);
    const { done, problem } = await search();
    process.stdout.write(`${name}: ${problem === null ? 'not found' : 'found'} in ${done} programs\n`);
    if (problem === null) process.exitCode = 1;
  }
} else {
  const { done, problem } = await search();
  if (problem !== null) process.stdout.write(`program ${done - 1}: ${problem}\n`);
  const what = values.second ? 'difference' : 'leak';
  process.stdout.write(`${done} programs of seed ${seed}, ${problem === null ? `no ${what}` : what.toUpperCase()}\n`);
  process.exitCode = problem === null ? 0 : 1;
}

type Problem = (program: Program, index: number) => string | null;

async function leakOf(): Promise<Problem> {
  const { interference } = await import('./interference.ts');
  return (program, index) => {
    const leak = interference(program, index)?.leak ?? null;
    return leak === null ? null : `${leak}\n${program.source}`;
  };
}

async function differenceOf(): Promise<Problem> {
  const { compared, withoutHandlers } = await import('./definitional.ts');
  return (made, index) => {
    for (const program of [made, withoutHandlers(made)]) {
      const what = compared(program, index)?.what ?? null;
      if (what !== null) return `${what}\n${program.source}`;
    }
    return null;
  };
}

async function search(): Promise<{ readonly done: number; readonly problem: string | null }> {
  let done = 0;
  while (done < programs && !stopped) {
    const problem = problemOf(generated(seed, done), done);
    done += 1;
    if (problem !== null) return { done, problem };
    // Signals are handled between the programs.
    if (done % 1000 === 0) await new Promise(setImmediate);
  }
  return { done, problem: null };
}

/** Has the interpreter loaded with all plants, of which the one grows that `globalThis.planted` names when a program is compiled or runs. */
function plantAll(): void {
  const folder = new URL('../../../src/guest/', import.meta.url).href;
  registerHooks({
    load(url, context, next) {
      const plants = Object.entries(PLANTS).filter(([, [file]]) => url === `${folder}${file}`);
      if (plants.length === 0) return next(url, context);
      let source = readFileSync(new URL(url), 'utf8');
      for (const [name, [file, text, planted]] of plants) {
        if (!source.includes(text)) throw new Error(`${file} does not have the text of '${name}'`);
        const on = `globalThis.planted === ${JSON.stringify(name)}`;
        const either = text.endsWith(';') ? `if (${on}) { ${planted} } else { ${text} }` : `(${on} ? ${planted} : ${text})`;
        source = source.replaceAll(text, () => either);
      }
      return { format: 'module-typescript', source, shortCircuit: true };
    },
  });
}
