/** Explores the states of the gate, with `--moves` and `--faults` as far as they say. */
import { runExplorer } from '../../states/explorer.ts';
import { PLANTS } from './plants.ts';

const SYSTEM = ['node:fs', 'node:child_process', 'node:crypto'];

await runExplorer({
  here: new URL('./', import.meta.url).href,
  code: ['src/gate/'],
  plants: PLANTS,
  small: { moves: 2, faults: 1 },
  instead: (specifier) => (SYSTEM.includes(specifier) ? 'system.ts' : null),
});
