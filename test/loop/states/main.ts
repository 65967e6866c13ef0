/** Explores the states of sessions, with `--moves` and `--steps` as far as they say. */
import { runExplorer } from '../../states/explorer.ts';
import { PLANTS, SMALL } from './plants.ts';

await runExplorer({
  here: new URL('./', import.meta.url).href,
  code: ['src/aeiou/', 'src/loop/'],
  plants: PLANTS,
  small: SMALL,
});
