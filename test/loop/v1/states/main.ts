/** Explores the states of loops of the v1 profile, with `--turns` and `--lines` as far as they say. */
import { runExplorer } from '../../../states/explorer.ts';
import { PLANTS, SMALL } from './plants.ts';

await runExplorer({
  here: new URL('./', import.meta.url).href,
  code: ['src/loop/'],
  plants: PLANTS,
  small: SMALL,
});
