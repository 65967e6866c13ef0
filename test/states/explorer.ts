/**
 * What programs that explore states have in common: they print how many states there are, or the path to one in which the code is wrong.
 * Then they plant each bug of a list in the code and print how it is found.
 */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { parseArgs } from 'node:util';

/** How far an exploration goes, by what is bounded. */
export type Bound = Readonly<Record<string, number>>;

export interface Exploration {
  readonly states: number;
  readonly transitions: number;
  /** The requirement that is broken, what was seen instead, and the moves that lead there; null when all holds. */
  readonly wrong: string | null;
}

/** A bug to plant. The exploration finds it. */
export interface Plant {
  readonly what: string;
  /** From the root of the repository. */
  readonly file: string;
  /** What stands in the file, once, and what takes its place. */
  readonly from: string;
  readonly to: string;
  /** The requirement that is seen to be broken first. */
  readonly breaks: string;
}

export interface Explorer {
  /** The URL of the folder with `explore.ts`, whose `explore` takes a bound. */
  readonly here: string;
  /** The folders of the code that is explored, from the root of the repository. */
  readonly code: readonly string[];
  readonly plants: readonly Plant[];
  /** The bound of `npm test`, and of the search for bugs. A flag of the command line changes one of its numbers for the code as it is. */
  readonly small: Bound;
  /** The module that a module of the code gets instead of the one that it names; null for the one that it names. */
  readonly instead?: (specifier: string) => string | null;
}

const ROOT = new URL('../../', import.meta.url);

/** The part of a URL that says which bug is planted. Every module with a bug is loaded anew with its importers. */
const QUERY = /\?plant=(\d+)$/;

/** Whether a bug can be planted: what it replaces stands in its file once. */
export const fits = ({ file, from }: Plant): boolean => readFileSync(new URL(file, ROOT), 'utf8').split(from).length === 2;

function registerPlants({ here, code, plants, instead = () => null }: Explorer): void {
  const own = code.map((folder) => new URL(folder, ROOT).href);
  const folders = [...own, here];
  registerHooks({
    resolve: (specifier, context, next) => {
      const { parentURL = '' } = context;
      const query = QUERY.exec(parentURL)?.[0] ?? '';
      const other = own.some((folder) => parentURL.startsWith(folder)) ? instead(specifier) : null;
      if (other !== null) return { url: new URL(other + query, here).href, format: 'module-typescript', shortCircuit: true };
      const found = next(specifier, context);
      return folders.some((folder) => found.url.startsWith(folder)) && !QUERY.test(found.url)
        ? { ...found, url: found.url + query }
        : found;
    },
    load: (url, context, next) => {
      const loaded = next(url, context);
      const plant = plants[Number(QUERY.exec(url)?.[1] ?? -1)];
      if (plant === undefined || url.replace(QUERY, '') !== new URL(plant.file, ROOT).href) return loaded;
      if (!fits(plant)) throw new Error(`${plant.file} does not have this exactly once: ${plant.from}`);
      return { ...loaded, source: readFileSync(new URL(plant.file, ROOT), 'utf8').replace(plant.from, () => plant.to) };
    },
  });
}

/** Explores the code as it is in this process, where its modules are loaded already. */
export async function exploreHere(explore: (bound: Bound) => Promise<Exploration>, bound: Bound): Promise<Exploration> {
  const { stackTraceLimit } = Error;
  // The code throws thousands of errors, and nothing reads their stacks.
  Error.stackTraceLimit = 0;
  try {
    const { states, transitions, wrong } = await explore(bound);
    return { states, transitions, wrong };
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Explores the code, prints what is found, and sets the exit code. With `--no-plants`, plants nothing. */
export async function runExplorer(explorer: Explorer): Promise<void> {
  const { here, plants, small } = explorer;
  const numbers = Object.fromEntries(Object.keys(small).map((name) => [name, { type: 'string' as const }]));
  const { values } = parseArgs({ options: { ...numbers, 'no-plants': { type: 'boolean' as const } } });
  const flags: Readonly<Record<string, string | boolean | undefined>> = values;
  const bound = Object.fromEntries(Object.entries(small).map(([name, number]) => [name, Number(flags[name] ?? number)]));
  registerPlants(explorer);
  const explored = async (query: string, within: Bound): Promise<Exploration> => {
    const { explore }: { readonly explore: (bound: Bound) => Promise<Exploration> } = await import(`${here}explore.ts${query}`);
    return exploreHere(explore, within);
  };
  const start = performance.now();
  const { states, transitions, wrong } = await explored('', bound);
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  const within = Object.entries(bound).map(([name, number]) => `${number} ${name}`);
  process.stdout.write(wrong === null ? '' : `WRONG ${wrong}\n`);
  process.stdout.write(`${states} states and ${transitions} transitions within ${within.join(' and ')}, ${seconds} s\n`);
  let missed = 0;
  for (const [index, { what, breaks }] of flags['no-plants'] === true ? [] : plants.entries()) {
    const found = (await explored(`?plant=${index}`, small)).wrong ?? 'nothing';
    if (!found.startsWith(breaks)) missed += 1;
    process.stdout.write(`${found.startsWith(breaks) ? 'found' : 'MISSED'}: ${what}\n  ${found}\n`);
  }
  process.exitCode = wrong === null && missed === 0 ? 0 : 1;
}
