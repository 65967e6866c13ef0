/**
 * `node test/guest/flow/main.ts --programs N --seed S`: runs generated programs twice with another answer of a labelled source, and prints those
 * in which an observer behind a sink sees a difference. `--plant NAME` plants a leak in the interpreter first. SIGTERM and SIGINT end it early.
 * The exit code is 1 when something differs.
 */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { parseArgs } from 'node:util';
import { PLANTS } from './plants.ts';

const { values } = parseArgs({
  options: {
    programs: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    plant: { type: 'string' },
  },
});
const [programs, seed] = [Number(values.programs), Number(values.seed)];
if (values.plant !== undefined) plant(values.plant);
const { interference } = await import('./interference.ts');
const { generated } = await import('./generated.ts');

let stopped = false;
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => (stopped = true));
let [done, leak] = [0, false];
for (; done < programs && !stopped && !leak; done++) {
  const program = generated(seed, done);
  const found = interference(program, done)?.leak ?? null;
  if (found !== null) process.stdout.write(`program ${done}: ${found}\n${program.source}\n`);
  leak = found !== null;
  // Signals are handled between the programs.
  if (done % 1000 === 0) await new Promise(setImmediate);
}
process.stdout.write(`${done} programs of seed ${seed}, ${leak ? 'LEAK' : 'no leak'}\n`);
process.exitCode = leak ? 1 : 0;

function plant(name: string): void {
  const [file, text, planted] = PLANTS[name] ?? [];
  if (file === undefined || text === undefined) throw new Error(`there is no plant '${name}'`);
  const url = new URL(`../../../src/guest/${file}`, import.meta.url).href;
  registerHooks({
    load(loaded, context, next) {
      if (loaded !== url) return next(loaded, context);
      const source = readFileSync(new URL(url), 'utf8');
      if (source.split(text).length !== 2) throw new Error(`${file} does not have the text of '${name}' once`);
      return { format: 'module-typescript', source: source.replace(text, () => planted ?? ''), shortCircuit: true };
    },
  });
}
