import { setTimeout as sleep } from 'node:timers/promises';
import { createRuntime, defineTool, type Runtime } from '../src/entries/index.ts';
import type { Candidate, Row } from './compare.ts';
import type { Engine } from './engine.ts';
import { measureFuel } from './fuel.ts';
import { judged, type PromiseRow } from './promises.ts';
import { GROWING, library, nested, type Sized, sums } from './sizes.ts';
import { summarize } from './stats.ts';
import { CALLS, LOOP } from './workloads.ts';

/** Pause between runs, in which the worker discards its isolate and makes the next, as it does between turns. */
const REST_MS = 20;
const MONTY = '@pydantic/monty';
const SIZE = 10_000;
const LINES = 5_000;
const DEPTH = 95;
const TERMS = 4_000;
const MB = 1024 * 1024;
/** Factor by which two measurements of the same work differ on a machine that does other things too. */
const NOISE = 1.1;

/** Everything that is promised about speed. `rows` are those of the engines, measured side by side before. */
export async function measurePromises(
  rows: readonly Row[],
  candidates: readonly Candidate[],
  quick: boolean,
): Promise<PromiseRow[]> {
  const rounds = quick ? 3 : 15;
  await using runtime = await createRuntime({ tools: [MARK], policy: { allow: ['tool.bench.mark'] } });
  return [
    againstMonty(`${LOOP.name}, cold, by Monty's time`, rows, LOOP.name, 1),
    againstMonty(`${CALLS.name}, cold, by Monty's time`, rows, CALLS.name, 1),
    await again(runtime, candidates, rounds),
    ...(await growth(runtime, rounds)),
    ...(await parsing(runtime, rounds)),
    ...(await measureFuel(rounds)),
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
    await emitted(runtime, [CALLS.neuroscript.library ?? '', source], CALLS.result);
    ours.push((marks[1] ?? Number.NaN) - (marks[0] ?? Number.NaN));
    if (peer !== undefined) theirs.push((await peer.run(CALLS)).ms);
  }
  const ratio = peer === undefined ? null : median(ours) / median(theirs);
  const promised = { unit: 'x', bound: 'most', target: 0.5 } as const;
  return judged(`${CALLS.name}, again in the same isolate, by Monty's time`, ratio, promised, rounds);
}

/** Text to result in a fresh isolate, at one size and at ten times that size. */
async function growth(runtime: Runtime, rounds: number): Promise<PromiseRow[]> {
  const found: PromiseRow[] = [];
  for (const work of GROWING) {
    const [small, large] = await sideBySide(rounds, [() => grown(runtime, work, SIZE), () => grown(runtime, work, 10 * SIZE)]);
    const what = `${SIZE} ${work.name}, cold`;
    found.push(judged(what, median(small), { unit: 'ms', bound: 'most', target: 10 }, rounds));
    const ratio = median(large) / median(small);
    found.push(judged(`${10 * SIZE} ${work.name} by ${SIZE}`, ratio, { unit: 'x', bound: 'most', target: 12 }, rounds));
  }
  return found;
}

const grown = (runtime: Runtime, { source, result }: Sized, size: number): Promise<number> =>
  emitted(runtime, [source(size)], result(size));

/** From the text of a library to the result of an empty program: lexing, parsing, checking, transfer to the isolate, building. */
async function parsing(runtime: Runtime, rounds: number): Promise<PromiseRow[]> {
  const text = library(LINES);
  const alone: number[] = [];
  for (let round = 0; round < rounds; round++) {
    await sleep(REST_MS);
    alone.push(await emitted(runtime, unseen(text), 1));
  }
  const speed = text.length / MB / (median(alone) / 1000);
  const doubled = (what: string, ratio: number): PromiseRow =>
    judged(`${what}, by half of it`, ratio, { unit: 'x', bound: 'most', target: 2 * NOISE }, rounds);
  return [
    judged(`parse and build of ${LINES} lines, warm`, speed, { unit: 'MB/s', bound: 'least', target: 2 }, rounds),
    doubled(`parse and build of ${2 * LINES} lines`, await built(runtime, rounds, text, library(2 * LINES))),
    doubled(`nesting of ${2 * DEPTH}`, await built(runtime, rounds, nested(DEPTH), nested(2 * DEPTH))),
    doubled(`a sum of ${2 * TERMS} terms`, await built(runtime, rounds, sums(TERMS), sums(2 * TERMS))),
  ];
}

/** The second library's time divided by that of the first right before it: the median of all rounds, because each may meet a garbage collection. */
async function built(runtime: Runtime, rounds: number, first: string, second: string): Promise<number> {
  const run = (text: string) => () => emitted(runtime, unseen(text), 1);
  const [once, twice] = await sideBySide(rounds, [run(first), run(second)]);
  return median(once.map((ms, index) => (twice[index] ?? Number.NaN) / ms));
}

let texts = 0;

/** A library and an empty program. The text is new each time, because a worker keeps the trees of libraries and would parse nothing. */
function unseen(text: string): readonly string[] {
  return [`${text}# ${performance.timeOrigin} ${texts++}\n`, 'command\nemit 1\nendcommand\n'];
}

async function sideBySide(
  rounds: number,
  [first, second]: readonly [() => Promise<number>, () => Promise<number>],
): Promise<readonly [number[], number[]]> {
  const times: readonly [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    await sleep(REST_MS);
    times[0].push(await first());
    await sleep(REST_MS);
    times[1].push(await second());
  }
  return times;
}

/** Milliseconds of one run in a fresh isolate, from text to result. Throws when the run emits anything but the expected result. */
async function emitted(runtime: Runtime, sources: readonly string[], result: number): Promise<number> {
  const fork = runtime.interpreter().fork();
  const start = performance.now();
  const { error, values } = await fork.runRequest({ sources: sources.map((text, index) => ({ name: `${index}.ns`, text })) });
  const ms = performance.now() - start;
  if (error !== null) throw new Error(`${error.code}: ${error.message}`);
  if (values[0] !== result) throw new Error(`a program emitted ${JSON.stringify(values[0])} instead of ${result}`);
  return ms;
}

function median(values: readonly number[]): number {
  return summarize(values)?.median ?? Number.NaN;
}
