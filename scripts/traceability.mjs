// Which requirements are proved and which are still due. `--prune` takes the proved ones out of planned.txt; nothing ever
// adds to it. Needs a Node that strips types: run it as `npx node scripts/traceability.mjs`.
import { mentions, planned, prune, requirements } from '../test/traceability/ids.ts';

const options = process.argv.slice(2);
if (options.length > 1 || (options.length === 1 && options[0] !== '--prune')) {
  process.stderr.write('usage: traceability.mjs [--prune]\n');
  process.exit(2);
}
if (options[0] === '--prune') {
  const { removed, left } = prune();
  process.stdout.write(`${removed.length} ids taken out of planned.txt, ${left} left\n`);
}
const proved = new Set(mentions().map(({ id }) => id));
const all = requirements();
process.stdout.write(
  `${all.filter((id) => proved.has(id)).length} of ${all.length} requirements proved, ${planned().length} planned\n`,
);
