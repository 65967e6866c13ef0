import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { VERSION } from '../src/runtime/version.ts';
import { benchAgainst, COMPARABLE, type Comparable, ROUNDS, renderBuilds, slowerWorkloads } from './builds.ts';
import { type Candidate, closeAll, machine, type Opener, openAll, type Row } from './compare.ts';
import { benchContexts, renderContexts } from './contexts.ts';
import { benchInFlight, renderInFlight } from './inflight.ts';
import { busier, loadText, measureLoad } from './load.ts';
import { MONTY, OURS, OURS_KEPT, QUICKJS, QUICKJS_PROCESS, RAW_PROCESS } from './names.ts';
import { type Change, type Comparison, changes, OlderReportError, olderRows, renderChanges } from './older.ts';
import { openOurs } from './ours.ts';
import { peerQuotaPage, quotaPage } from './page.ts';
import { PeersMissing } from './peerprocess.ts';
import { benchPeerQuotas, peerQuotaFailures, programOf, renderPeerQuotas } from './peerquotas.ts';
import { openMonty, openQuickJs, openQuickJsProcess, openRawIsolate, openRawProcess } from './peers.ts';
import { benchPeers, peerFailures, renderPeers } from './peertable.ts';
import { benchPrices, renderPrices } from './prices.ts';
import { brokenPromises, type PromiseReport, type PromiseRow } from './promises.ts';
import { benchQuotas, type OnProgress, quotaFailures, renderQuotas } from './quotas.ts';
import { benchInterp, renderInterp } from './speed.ts';
import { benchTurns, renderTurns } from './turns.ts';

/** Usage line of `npm run bench`; `neuroscript bench` has five of the benchmarks. */
export const BENCH_USAGE =
  'usage: npm run bench -- quotas|peers|turns|interp|capacity|prices|contexts|tokens|loop|suspend|cluster [--json] [--quick] [--html FILE] [--peers [--program FILE]…] [--compare OLD.json] [--against DIR [--rounds N]]';

/** The form of the JSON of a report. It changes when a field gets another meaning. */
const SCHEMA = 1;

/** The result of a benchmark: the public JSON of `bench --json`, and the same as text. */
interface Report {
  readonly rows: readonly object[];
  readonly promises?: readonly object[];
  readonly growth?: readonly object[];
  readonly goals?: readonly object[];
  readonly turns?: readonly object[];
  readonly memory?: readonly object[];
  readonly text: string;
  /** Why the numbers do not count: a wrong result, a missing error, a run that failed after a breach. */
  readonly failures: readonly string[];
}

const OPENERS: Readonly<Record<string, Opener>> = {
  [OURS]: () => openOurs('run'),
  [OURS_KEPT]: () => openOurs('tenant'),
  [MONTY]: openMonty,
  [QUICKJS]: openQuickJs,
  [QUICKJS_PROCESS]: openQuickJsProcess,
  'isolated-vm (raw)': openRawIsolate,
  [RAW_PROCESS]: openRawProcess,
};

/** What a benchmark may use of the arguments. */
interface Setting {
  readonly quick: boolean;
  /** Where `quotas` writes its page. */
  readonly html: string | null;
  /** Whether `quotas` breaks the limits of the peers, too. */
  readonly peers: boolean;
  /** Programs that `quotas --peers` runs as well. */
  readonly programs: readonly string[];
  readonly onProgress: OnProgress;
}

type Bench = (setting: Setting) => Promise<Report>;

const BENCHES: ReadonlyMap<string, Bench> = new Map<string, Bench>([
  ['quotas', quotas],
  ['peers', peers],
  ['turns', sideBySide(benchTurns, renderTurns)],
  ['interp', sideBySide(benchInterp, renderInterp)],
  ['capacity', rowsOnly(benchInFlight, renderInFlight, () => [])],
  ['prices', promised(benchPrices, renderPrices)],
  ['contexts', promised(benchContexts, renderContexts)],
  [
    'tokens',
    late(async () => {
      const { benchTokens, renderTokens, tokenFailures } = await import('./tokens.ts');
      return rowsOnly(benchTokens, renderTokens, tokenFailures);
    }),
  ],
  [
    'loop',
    late(async () => {
      const { benchLoop, renderLoop } = await import('./loop.ts');
      return promised(benchLoop, renderLoop);
    }),
  ],
  [
    'suspend',
    late(async () => {
      const { benchSuspend, renderSuspend } = await import('./suspend.ts');
      return promised(benchSuspend, renderSuspend);
    }),
  ],
  ['cluster', cluster],
]);

/**
 * Runs one benchmark of {@link BENCHES} and writes its report to standard output; `--json` for machines, `--quick` for a sanity check with
 * few samples. A failure names the load of the machine. Resolves to the exit code: 0, 1 when a result was wrong or a limit did not hold, 2 when
 * the arguments were not understood.
 */
export async function benchMain(argv: readonly string[], onProgress: OnProgress = () => {}): Promise<number> {
  const asked = readArguments(argv);
  const bench = BENCHES.get(asked?.name ?? '');
  if (asked === null || bench === undefined) {
    process.stderr.write(`${BENCH_USAGE}\n`);
    return 2;
  }
  const before = measureLoad(asked.quick);
  const report = await reportOf(bench, asked, onProgress);
  if (typeof report === 'string') {
    process.stderr.write(`bench ${asked.name}: ${report}\n`);
    return 1;
  }
  const { text, ...found } = report;
  const load = busier(before, measureLoad(asked.quick));
  const failures = found.failures.map((failure) => `${failure} (${loadText(load)})`);
  // The end of the work: a status line makes room for the report.
  onProgress(1, 1);
  const { node, cores } = machine();
  const head = {
    bench: asked.name,
    schema: SCHEMA,
    version: VERSION,
    date: new Date().toISOString(),
    quick: asked.quick,
    ...machine(),
  };
  if (asked.json) process.stdout.write(`${JSON.stringify({ ...head, load, ...found, failures })}\n`);
  else
    process.stdout.write(
      `bench ${asked.name}, Node ${node}, ${cores} cores${asked.quick ? ', quick: do not quote' : ''}; ${loadText(load)}\n\n${text}`,
    );
  for (const failure of failures) process.stderr.write(`bench ${asked.name}: ${failure}\n`);
  return failures.length === 0 ? 0 : 1;
}

/** The report, or why there is none: peers that are not installed, or an older report that cannot be read. */
async function reportOf(bench: Bench, asked: Asked, onProgress: OnProgress): Promise<Report | string> {
  try {
    if (asked.against !== null) return await builds(asked.against);
    // A wrong file is told before the measurement.
    if (asked.compare !== null) olderRows(asked.compare, asked.name);
    return compared(await bench({ ...asked, onProgress }), asked);
  } catch (error) {
    if (error instanceof PeersMissing || error instanceof OlderReportError) return error.message;
    throw error;
  }
}

interface Asked extends Omit<Setting, 'onProgress'> {
  readonly name: string;
  readonly json: boolean;
  /** An older report of the same benchmark. */
  readonly compare: string | null;
  /** The checkout whose build this one is compared with. */
  readonly against: Against | null;
}

interface Against {
  readonly bench: Comparable;
  readonly checkout: string;
  readonly rounds: number;
}

function readArguments(argv: readonly string[]): Asked | null {
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        json: { type: 'boolean', default: false },
        quick: { type: 'boolean', default: false },
        html: { type: 'string' },
        peers: { type: 'boolean', default: false },
        program: { type: 'string', multiple: true, default: [] },
        compare: { type: 'string' },
        against: { type: 'string' },
        rounds: { type: 'string', default: String(ROUNDS.default) },
      },
    });
    const [name, ...more] = positionals;
    if (name === undefined || more.length > 0) return null;
    if (values.html !== undefined && name !== 'quotas') return null;
    const { peers, program: programs, compare = null } = values;
    if (peers && name !== 'quotas') return null;
    if (programs.length > 0 && (!peers || programs.some((file) => !/\.(ns|js|py)$/.test(file)))) return null;
    if (compare !== null && comparisonOf(name, peers) === undefined) return null;
    const asked = { name, json: values.json, quick: values.quick, html: values.html ?? null, peers, programs, compare };
    const { against: checkout } = values;
    if (checkout === undefined) return { ...asked, against: null };
    const rounds = Number(values.rounds);
    const bench = COMPARABLE.find((each) => each === name);
    if (bench === undefined || !Number.isInteger(rounds) || rounds < ROUNDS.least || rounds > ROUNDS.most) return null;
    return { ...asked, against: { bench, checkout, rounds } };
  } catch (error) {
    // parseArgs throws for unknown arguments. The usage line says more than its message.
    if (error instanceof TypeError) return null;
    throw error;
  }
}

/** What `--compare` compares: ratios of one run and distances to limits, which mean the same on another machine. */
const COMPARED: ReadonlyMap<string, Comparison> = new Map([
  ['peers', { names: ['row', 'engine'], values: ['ours'] }],
  ['quotas', { names: ['limit', 'program'], values: ['observed', 'overshoot'] }],
  ['quotas --peers', { names: ['program', 'engine'], values: ['overshoot', 'stall'] }],
]);

function comparisonOf(name: string, peers: boolean): Comparison | undefined {
  return COMPARED.get(peers ? `${name} --peers` : name);
}

/** The report with its changes since an older one. */
function compared(
  { text, ...found }: Report,
  { name, peers, compare: file }: Asked,
): Report & { readonly changes?: readonly Change[] } {
  const comparison = comparisonOf(name, peers);
  if (file === null || comparison === undefined) return { ...found, text };
  const changed = changes(found.rows, olderRows(file, name), comparison);
  return { ...found, changes: changed, text: `${text}${renderChanges(changed)}` };
}

/** Rounds of `peers`, and breaches of each limit in `quotas --peers`. */
const PEER_ROUNDS = { whole: 9, quick: 1 } as const;
const PEER_BREACHES = { whole: 10, quick: 1 } as const;

async function peers({ quick, onProgress }: Setting): Promise<Report> {
  const found = await benchPeers(PEER_ROUNDS[quick ? 'quick' : 'whole'], onProgress);
  return { ...found, text: renderPeers(found), failures: peerFailures(found) };
}

async function peerQuotas({ quick, html, programs, onProgress }: Setting): Promise<Report> {
  const own = programs.map(programOf).filter((program) => program !== null);
  const rows = await benchPeerQuotas(PEER_BREACHES[quick ? 'quick' : 'whole'], own, onProgress);
  if (html !== null) writeFileSync(html, await peerQuotaPage(rows, { node: machine().node, quick }));
  return { rows, text: renderPeerQuotas(rows), failures: peerQuotaFailures(rows) };
}

async function builds({ bench, checkout, rounds }: Against): Promise<Report> {
  const rows = await benchAgainst(bench, checkout, rounds);
  return { rows, text: renderBuilds(rows), failures: slowerWorkloads(rows) };
}

async function quotas(setting: Setting): Promise<Report> {
  if (setting.peers) return peerQuotas(setting);
  const { quick, html, onProgress } = setting;
  const found = await benchQuotas(quick, onProgress);
  if (html !== null) writeFileSync(html, quotaPage(found, { node: machine().node, quick }));
  return { ...found, text: renderQuotas(found), failures: quotaFailures(found, quick) };
}

/** A benchmark of the host loop. It is loaded when it is asked for, because the loop is a third of what all of them load. */
function late(load: () => Promise<Bench>): Bench {
  return async (setting) => (await load())(setting);
}

async function cluster({ quick }: Setting): Promise<Report> {
  const { benchCluster, clusterFailures, renderCluster } = await import('./cluster.ts');
  const found = await benchCluster(quick);
  return { ...found, text: renderCluster(found), failures: clusterFailures(found, quick) };
}

/** A benchmark whose result is rows only. */
function rowsOnly<T extends object>(
  measure: (quick: boolean) => Promise<readonly T[]>,
  render: (rows: readonly T[]) => string,
  failures: (rows: readonly T[]) => readonly string[],
): Bench {
  return async ({ quick }) => {
    const rows = await measure(quick);
    return { rows, text: render(rows), failures: failures(rows) };
  };
}

/** A benchmark of rows and promises. */
function promised<T extends PromiseReport<object>>(measure: (quick: boolean) => Promise<T>, render: (found: T) => string): Bench {
  return async ({ quick }) => {
    const found = await measure(quick);
    return { ...found, text: render(found), failures: brokenIn(found.promises, quick) };
  };
}

/** A ratio of times needs many samples. */
function brokenIn(promises: readonly PromiseRow[], quick: boolean): string[] {
  return brokenPromises(promises.filter(({ unit }) => !(quick && unit === 'x')));
}

/** A benchmark of ours beside other engines. */
function sideBySide<T extends PromiseReport<Row>>(
  measure: (candidates: readonly Candidate[], quick: boolean) => Promise<T>,
  render: (found: T) => string,
): Bench {
  return async ({ quick }) => {
    const candidates = await openAll(OPENERS);
    try {
      const found = await measure(candidates, quick);
      const failures = [...wrongResults(found.rows), ...brokenIn(found.promises, quick)];
      return { ...found, text: render(found), failures };
    } finally {
      await closeAll(candidates);
    }
  };
}

function wrongResults(rows: readonly Row[]): string[] {
  return rows.flatMap(({ workload, engine, note }) => (note?.startsWith('wrong') ? [`${engine}, ${workload}: ${note}`] : []));
}
