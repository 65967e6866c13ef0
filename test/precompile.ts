// Loads the sources and uses them a little. Node's compile cache then has them, with the functions that most tests call (`environment.ts`).
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { simulate } from '../src/testing/index.ts';
import { checkSources, foreseeSources, formatSource } from '../src/worker/check.ts';
import { shop } from './simulate/shop.ts';

const SOURCE = { name: 'src', text: 'command\n  for each x in [1, 2]\n    emit x + len("a")\n  endfor\nendcommand\n' };
const BYTES = 1024;
const ENVIRONMENT = { globals: [], constants: [], tools: [] };

const entries = globSync('src/entries/*.ts', { cwd: fileURLToPath(new URL('..', import.meta.url)) });
await Promise.all(entries.map((file) => import(new URL(`../${file}`, import.meta.url).href)));
checkSources([SOURCE], BYTES, ENVIRONMENT);
foreseeSources([SOURCE], BYTES, ENVIRONMENT);
formatSource(SOURCE, BYTES);
await simulate(shop, { seeds: 10 });
