import { setTimeout as sleep } from 'node:timers/promises';
import { createRuntime, defineTool, type Runtime } from '../src/entries/index.ts';
import { pureTools } from '../stdlib-tools/index.ts';
import { type Candidate, compare, type Engine, type Row } from './compare.ts';
import { measureFuel } from './fuel.ts';
import { MONTY, RAW_PROCESS } from './names.ts';
import { performRight, textsOf } from './ours.ts';
import { PEER_ROWS } from './peerrows.ts';
import { judged, type PromiseReport, type PromiseRow, ratio, renderPromises } from './promises.ts';
import { RawProcess } from './rawprocess.ts';
import { GROWING, library, nested, rawLibrary, sums } from './sizes.ts';
import { inTurns, median, summarize } from './stats.ts';
import { short, spread, table } from './table.ts';
import { CALLS, LOOP, WORKLOADS } from './workloads.ts';

/** Pause between runs, in which the worker discards its isolate and makes the next, as it does between turns. */
const REST_MS = 20;
/** Sizes of the programs. `rawLines` of JavaScript take about as long as `lines`: equal times suffer alike from a busy machine. */
const SIZES = {
  whole: { items: 10_000, lines: 5_000, rawLines: 20_000, depth: 95, terms: 4_000 },
  quick: { items: 2_000, lines: 1_000, rawLines: 4_000, depth: 95, terms: 800 },
} as const;
type Sizes = (typeof SIZES)[keyof typeof SIZES];
/** Factor by which two measurements of the same work differ on a machine that does other things too. */
const NOISE = 1.1;

/** Everything that is promised about speed. `rows` are those of the engines, measured side by side before. */
export async function measurePromises(
  rows: readonly Row[],
  candidates: readonly Candidate[],
  quick: boolean,
): Promise<PromiseRow[]> {
  const rounds = quick ? 1 : 15;
  const sizes = SIZES[quick ? 'quick' : 'whole'];
  await using runtime = await createRuntime({ tools: [MARK], policy: { allow: ['tool.bench.mark'] } });
  await using raw = await RawProcess.open();
  return [
    againstMonty(`${LOOP.name}, cold, by Monty's time`, rows, LOOP.name, 1),
    againstMonty(`${CALLS.name}, cold, by Monty's time`, rows, CALLS.name, 1),
    await again(runtime, candidates, rounds),
    ...(await growth(runtime, raw, rounds, sizes)),
    ...(await parsing(runtime, raw, rounds, sizes)),
    ...(await measureFuel(rounds, quick)),
    ...(await measureRules(rounds)),
  ];
}

function againstMonty(what: string, rows: readonly Row[], workload: string, target: number): PromiseRow {
  const monty = rows.find((row) => row.workload === workload && row.engine === MONTY);
  const ratio = monty?.ratio ?? null;
  return judged(what, ratio === null ? null : 1 / ratio, { unit: 'x', bound: 'most', target }, monty?.ms?.samples ?? 0);
}

/** Times at which a program passed a mark, by the host's clock, because a program has none. */
const marks: number[] = [];
const MARK = defineTool({
  name: 'tool.bench.Mark',
  description: 'notes the time',
  effects: 'none',
  args: [],
  run: () => marks.push(performance.now()),
});

/** The second of two equal pieces of work in one isolate, divided by a run of Monty right after it. */
async function again(runtime: Runtime, candidates: readonly Candidate[], rounds: number): Promise<PromiseRow> {
  const monty = candidates.flatMap((candidate): Engine[] => ('engine' in candidate ? [candidate.engine] : []));
  const peer = monty.find(({ name }) => name === MONTY);
  const work = ['emit fib(25)', 'call tool.bench.Mark()'];
  const source = `command\n${[...work, ...work].join('\n')}\nendcommand\n`;
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < rounds; round++) {
    marks.length = 0;
    await performRight(runtime, [CALLS.neuroscript.library ?? '', source], CALLS.result);
    ours.push((marks[1] ?? Number.NaN) - (marks[0] ?? Number.NaN));
    if (peer !== undefined) theirs.push((await peer.run(CALLS)).ms);
  }
  const ratio = peer === undefined ? null : median(ours) / median(theirs);
  const promised = { unit: 'x', bound: 'most', target: 0.5 } as const;
  return judged(`${CALLS.name}, again in the same isolate, by Monty's time`, ratio, promised, rounds);
}

/** CPU time of a cold program in a fresh isolate: beside the smallest interpreter, and beside ten times the size. */
async function growth(runtime: Runtime, raw: RawProcess, rounds: number, { items }: Sizes): Promise<PromiseRow[]> {
  const found: PromiseRow[] = [];
  for (const { name, source, floor, result, most } of GROWING) {
    const cpuMs = (size: number) => async () => (await performRight(runtime, [source(size)], result(size))).usage.cpuMs;
    const bare = async () => (await raw.run(floor(items))).usedMs;
    const [small, large, yardstick] = await inTurns({ rounds, pauseMs: REST_MS }, [cpuMs(items), cpuMs(10 * items), bare]);
    const of = (what: string) => `${what}, CPU time in the isolate`;
    found.push(
      ratio(of(`${items} ${name}, cold, by the smallest interpreter`), [small, yardstick], 'ms', ['most', most]),
      ratio(of(`${10 * items} ${name} by ${items}`), [large, small], 'ms', ['most', 12]),
    );
  }
  return found;
}

/** From the text of a library to the result of an empty program: lexing, parsing, checking, transfer to the isolate, building. */
async function parsing(
  runtime: Runtime,
  raw: RawProcess,
  rounds: number,
  { lines, rawLines, depth, terms }: Sizes,
): Promise<PromiseRow[]> {
  const text = library(lines);
  const script = rawLibrary(rawLines);
  const ours = async () => (await performRight(runtime, unseen(text), 1)).ms;
  const bare = async () => (await raw.run(`// ${texts++}\n${script}`)).ms;
  const pair = await inTurns({ rounds, pauseMs: REST_MS }, [ours, bare]);
  const doubled = (what: string, measured: number): PromiseRow =>
    judged(`${what}, by half of it`, measured, { unit: 'x', bound: 'most', target: 2 * NOISE }, rounds);
  const what = `parse and build of ${lines} lines, warm, by ${rawLines} lines of JavaScript in ${RAW_PROCESS}`;
  return [
    ratio(what, [pair[0], pair[1]], 'ms', ['most', 1.8]),
    doubled(`parse and build of ${2 * lines} lines`, await built(runtime, rounds, text, library(2 * lines))),
    doubled(`nesting of ${2 * depth}`, await built(runtime, rounds, nested(depth), nested(2 * depth))),
    doubled(`a sum of ${2 * terms} terms`, await built(runtime, rounds, sums(terms), sums(2 * terms))),
  ];
}

/** The second library's time divided by that of the first right before it: the median of all rounds, because each may meet a garbage collection. */
async function built(runtime: Runtime, rounds: number, first: string, second: string): Promise<number> {
  const run = async (text: string) => {
    await sleep(REST_MS);
    return (await performRight(runtime, unseen(text), 1)).ms;
  };
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round++) ratios.push(1 / ((await run(first)) / (await run(second))));
  return median(ratios);
}

let texts = 0;

/** A library and an empty program. The text is new each time, because a worker keeps the trees of libraries and would parse nothing. */
function unseen(text: string): readonly string[] {
  return [`${text}# ${performance.timeOrigin} ${texts++}\n`, 'command\nemit 1\nendcommand\n'];
}

/** Measures every workload on every engine, then the promises. */
export async function benchInterp(candidates: readonly Candidate[], quick: boolean): Promise<PromiseReport<Row>> {
  const rows: Row[] = [];
  for (const workload of WORKLOADS) rows.push(...(await compare(workload, candidates, quick ? 1 : 15, quick ? 0 : 3)));
  return { rows, promises: await measurePromises(rows, candidates, quick) };
}

export function renderInterp({ rows, promises }: PromiseReport<Row>): string {
  const about = WORKLOADS.map(({ name, about }) => `${name}: ${about}`).join('; ');
  const cells = rows.map((row) => [
    row.workload,
    row.engine,
    row.ms === null ? (row.note ?? '-') : short(row.ms.median),
    spread(row.ms),
    row.ms === null ? '-' : String(row.ms.samples),
    row.ratio === null ? '-' : `${short(row.ratio)}x`,
  ]);
  return `${table(['workload', 'engine', 'median ms', 'q1–q3 ms', 'runs', 'vs ours'], cells)}\n\nvs ours: how often our median fits into theirs. ${about}.\n\n${renderPromises(promises)}\n`;
}

/** The workloads that compute, once each. */
const NAMES = [
  'loop 1 M',
  'fib(25)',
  '30 calls deep × 1,000',
  'append 10 k',
  'map set 10 k',
  'text of 20 k pieces',
  'split + sort 100 k',
  'words of 1 MB',
  '10 k records transformed',
];

const MAIL = defineTool({ name: 'tool.mail.Send', args: [{ name: 'to', type: 'string' }], run: () => null });
const FLOW = { labels: { 'tool.web.*': ['web'] }, sinks: { 'tool.mail.Send': { refuse: ['web'] } } };

/** CPU time of each workload under rules about origin, divided by that without. No value of a workload carries a label. */
async function measureRules(rounds: number): Promise<PromiseRow[]> {
  const tools = [...pureTools('str', 'list'), MAIL];
  await using plain = await createRuntime({ tools, policy: { allow: ['*'] } });
  await using ruled = await createRuntime({ tools, policy: { allow: ['*'], flow: FLOW } });
  const found: PromiseRow[] = [];
  for (const name of NAMES) {
    const times = [plain, ruled].map((runtime) => ({ runtime, ms: [] as number[] }));
    for (let round = 0; round < rounds; round++)
      for (const { runtime, ms } of round % 2 === 0 ? times : times.toReversed()) ms.push(await cpuMs(runtime, name));
    const [without, under] = times.map(({ ms }) => summarize(ms));
    found.push(ratio(`${name}, CPU time under rules about origin`, [under ?? null, without ?? null], 'ms', ['most', 1.3]));
  }
  return found;
}

async function cpuMs(runtime: Runtime, name: string): Promise<number> {
  const row = PEER_ROWS.find((each) => each.name === name);
  if (row === undefined) throw new Error(`there is no workload ${name}`);
  return (await performRight(runtime, textsOf(row.neuroscript), row.result)).usage.cpuMs;
}
