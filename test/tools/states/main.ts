/** Explores what policies, bounds, approvals and limits answer to calls, with `--calls` as far as it says. */
import { runExplorer } from '../../states/explorer.ts';
import { PLANTS, SMALL } from './plants.ts';

await runExplorer({
  here: new URL('./', import.meta.url).href,
  code: ['src/tools/', 'src/runtime/', 'src/context/'],
  plants: PLANTS,
  small: SMALL,
});
