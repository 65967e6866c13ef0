/**
 * Explores the states of the gate and prints how many there are, or the path to one in which the gate is wrong. Then plants each bug of
 * `plants.ts` and prints how it is found within the small bound. `GATE_MOVES` and `GATE_FAULTS` set the bound of the gate as it is, and
 * `GATE_PLANTS=0` plants nothing.
 */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import type { Bound, Exploration } from './explore.ts';
import { PLANTS } from './plants.ts';

const SMALL = { depth: 2, faults: 1 };
const { GATE_MOVES = SMALL.depth, GATE_FAULTS = SMALL.faults, GATE_PLANTS = '1' } = process.env;
const bound = { depth: Number(GATE_MOVES), faults: Number(GATE_FAULTS) };

const ROOT = new URL('../../../', import.meta.url);
const GATE = new URL('src/gate/', ROOT).href;
const FOLDERS = [GATE, new URL('./', import.meta.url).href];
const SYSTEM = ['node:fs', 'node:child_process', 'node:crypto'];

/** The part of a URL that says which bug is planted. Every module with a bug is loaded anew with its importers. */
const QUERY = /\?plant=(\d+)$/;

registerHooks({
  resolve: (specifier, context, next) => {
    const { parentURL = '' } = context;
    const query = QUERY.exec(parentURL)?.[0] ?? '';
    if (SYSTEM.includes(specifier) && parentURL.startsWith(GATE))
      return { url: new URL(`system.ts${query}`, import.meta.url).href, format: 'module-typescript', shortCircuit: true };
    const found = next(specifier, context);
    return FOLDERS.some((folder) => found.url.startsWith(folder)) && !QUERY.test(found.url)
      ? { ...found, url: found.url + query }
      : found;
  },
  load: (url, context, next) => {
    const loaded = next(url, context);
    const plant = PLANTS[Number(QUERY.exec(url)?.[1] ?? -1)];
    if (plant === undefined || url.replace(QUERY, '') !== new URL(plant.file, ROOT).href) return loaded;
    const parts = readFileSync(new URL(plant.file, ROOT), 'utf8').split(plant.from);
    if (parts.length !== 2) throw new Error(`${plant.file} has this ${parts.length - 1} times: ${plant.from}`);
    return { ...loaded, source: parts.join(plant.to) };
  },
});

/** Explores the gate with a bug, or as it is. */
async function explored(query: string, within: Bound): Promise<Exploration> {
  const { explore }: { readonly explore: (bound: Bound) => Promise<Exploration> } = await import(`./explore.ts${query}`);
  return explore(within);
}

// The disk throws thousands of errors, and nothing reads their stacks.
Error.stackTraceLimit = 0;

const start = performance.now();
const { states, transitions, wrong } = await explored('', bound);
const seconds = ((performance.now() - start) / 1000).toFixed(1);
process.stdout.write(wrong === null ? '' : `WRONG ${wrong}\n`);
process.stdout.write(
  `${states} states and ${transitions} transitions within ${bound.depth} moves and ${bound.faults} faults, ${seconds} s\n`,
);
let missed = 0;
if (GATE_PLANTS !== '0')
  for (const [index, { what, breaks }] of PLANTS.entries()) {
    const found = (await explored(`?plant=${index}`, SMALL)).wrong ?? 'nothing';
    if (!found.startsWith(breaks)) missed += 1;
    process.stdout.write(`${found.startsWith(breaks) ? 'found' : 'MISSED'}: ${what}\n  ${found}\n`);
  }
process.exitCode = wrong === null && missed === 0 ? 0 : 1;
