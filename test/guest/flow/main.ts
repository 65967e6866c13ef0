/**
 * `node test/guest/flow/main.ts --programs N --seed S`: runs generated programs twice with another answer of a labelled source, and prints those
 * in which an observer behind a sink sees a difference. SIGTERM and SIGINT end it early. The exit code is 1 when something differs.
 * `--planted` plants one leak after the other in the interpreter, and prints after how many programs each was found. The exit code is 1
 * when one is not.
 */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { parseArgs } from 'node:util';
import { PLANTS } from './plants.ts';

const { values } = parseArgs({
  options: {
    programs: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    planted: { type: 'boolean', default: false },
  },
});
const [programs, seed] = [Number(values.programs), Number(values.seed)];
if (values.planted) plantAll();
const { interference } = await import('./interference.ts');
const { generated } = await import('./generated.ts');

let stopped = false;
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => (stopped = true));
if (values.planted) {
  for (const name of Object.keys(PLANTS)) {
    Reflect.set(globalThis, 'planted', name);
    const { done, leak } = await search();
    process.stdout.write(`${name}: ${leak === null ? 'not found' : 'found'} in ${done} programs\n`);
    if (leak === null) process.exitCode = 1;
  }
} else {
  const { done, leak } = await search();
  if (leak !== null) process.stdout.write(`program ${done - 1}: ${leak}\n`);
  process.stdout.write(`${done} programs of seed ${seed}, ${leak === null ? 'no leak' : 'LEAK'}\n`);
  process.exitCode = leak === null ? 0 : 1;
}

async function search(): Promise<{ readonly done: number; readonly leak: string | null }> {
  for (let index = 0; index < programs && !stopped; index++) {
    const program = generated(seed, index);
    const leak = interference(program, index)?.leak ?? null;
    if (leak !== null) return { done: index + 1, leak: `${leak}\n${program.source}` };
    // Signals are handled between the programs.
    if (index % 1000 === 999) await new Promise(setImmediate);
  }
  return { done: programs, leak: null };
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
