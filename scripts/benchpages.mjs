// Writes the tables of reports into the pages that show them: `npm run --silent bench -- peers --json > peers.json`, the same for `capacity`, then
// `npx node scripts/benchpages.mjs peers.json capacity.json`. Measure on idle cores: a table says how busy the machine was.
import { readFileSync, writeFileSync } from 'node:fs';

/** Each benchmark with its page, and its table: the head, and the cells. */
const TABLES = {
  peers: ['docs/performance.md', peers],
  capacity: ['docs/performance.md', capacity],
};

const two = (value) =>
  value === null || value === undefined ? '-' : value < 1 ? value.toFixed(2) : value.toFixed(value < 100 ? 2 : 0);

const KEPT = "neuroscript, isolation 'tenant'";
const [FLOOR, FLOOR_KEPT] = ['smallest interpreter', 'smallest interpreter, kept'];

/** Of a busy machine the 10th percentiles: other work lengthens most runs, of each engine by another factor, and spares some of each. */
const shareOf = ({ stretch }) => (stretch > BUSY ? 'p10' : 'median');
const BUSY = 1.2;

function peers({ goals, rows, load }) {
  const share = shareOf(load);
  const ms = (row, engine) => rows.find((each) => each.row === row && each.engine === engine)?.ms?.[share];
  return [
    ['work', 'kept, ms', 'fresh, ms', 'theirs, ms', 'peer', 'goal', 'kept', 'floor', 'fresh', 'its floor', 'met'],
    ...goals.map(({ row, peer, most }) => {
      const [kept, least, fresh, freshLeast, theirs] = [KEPT, FLOOR_KEPT, 'neuroscript', FLOOR, peer].map((engine) =>
        ms(row, engine),
      );
      const ratios = [kept, least, fresh, freshLeast].map((each) => two(each / theirs));
      return [row, two(kept), two(fresh), two(theirs), peer, `≤ ${most}`, ...ratios, kept / theirs <= most ? 'yes' : 'no'];
    }),
  ];
}

function capacity({ rows }) {
  return [
    ['engine', 'in flight', 'turns a second', 'a core', 'p50, ms', 'p99, ms', 'MB'],
    ...rows.map(({ engine, inFlight, perSecond, perCore, p50, p99, megabytes }) => [
      ...[engine, String(inFlight), String(Math.round(perSecond)), String(Math.round(perCore))],
      ...[two(p50), two(p99), megabytes === null ? '-' : String(Math.round(megabytes))],
    ]),
  ];
}

/** A table as the formatter of the pages sets it. */
function markdown([head, ...cells]) {
  const widths = head.map((_, column) => Math.max(3, ...[head, ...cells].map((row) => row[column].length)));
  const line = (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`;
  return [line(head), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...cells.map(line)].join('\n');
}

for (const file of process.argv.slice(2)) {
  const report = JSON.parse(readFileSync(file, 'utf8'));
  const [page, table] = TABLES[report.bench] ?? [];
  if (page === undefined || report.quick) throw new Error(`${file} is no whole report of ${Object.keys(TABLES).join(' or ')}`);
  const { version, date, node, cpu, cores, memoryGb, platform, load } = report;
  const machine = `${cores} × ${cpu}, ${memoryGb} GB, ${platform}, Node ${node}`;
  const busy =
    shareOf(load) === 'p10'
      ? ' That is a busy machine: ratios of `bench peers` are those of 10th percentiles, and times do not count.'
      : '';
  const about = `Version ${version}, ${date.slice(0, 10)}, ${machine}; load average ${load.average.toFixed(1)}, a calibration loop took ${load.stretch.toFixed(1)} times its CPU time.${busy}`;

  const path = new URL(`../${page}`, import.meta.url);
  const [begin, end] = [`<!-- bench ${report.bench} -->`, `<!-- end of bench ${report.bench} -->`];
  const text = readFileSync(path, 'utf8');
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${page} has no place for bench ${report.bench}`);
  writeFileSync(path, `${text.slice(0, from + begin.length)}\n\n${markdown(table(report))}\n\n${about}\n\n${text.slice(to)}`);
}
