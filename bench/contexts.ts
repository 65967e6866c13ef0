import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createRuntime, defineTool, type Interpreter, type RunResult, type Runtime } from '../src/entries/index.ts';
import { launch, packageFiles, withLauncher } from '../src/sandbox/index.ts';
import { pureTools } from '../stdlib-tools/index.ts';
import { timed } from './compare.ts';
import { floorCalls } from './floor.ts';
import { RAW_PROCESS } from './names.ts';
import { type PromiseReport, ratio, renderPromises } from './promises.ts';
import { ADDITIONS, RawProcess } from './rawprocess.ts';
import { usedCpuMs } from './residence.ts';
import { inTurns, type Summary, summarize } from './stats.ts';
import { short, spread, table } from './table.ts';
import { command } from './workloads.ts';

/** The cost of one use of contexts. */
export interface ContextRow {
  readonly what: string;
  readonly unit: 'ms' | 'µs';
  readonly measured: Summary | null;
}

const PROCEDURES = 200;
/** The promises: multiples of what was measured in alternation. */
const MOST = { turn: 0.9, light: 1, pure: 5, call: 20 } as const;
/** Tool calls whose cost is compared with that of the loop. */
const CALLS = 1_000;

/** Passes of one measurement: a call takes a fraction of a microsecond, and V8 compiles the loop during the first ones. */
const PASSES = { whole: 1_000_000, quick: 50_000 } as const;
/** Tool calls or round trips in one measurement, see {@link toolCalls}. */
const TRIPS = { whole: { stream: 3_000, burst: 300 }, quick: { stream: 500, burst: 50 } } as const;
/** Pause between two turns, in which the worker makes its next isolate, as it does while a model thinks. */
const PAUSE_MS = 5;

/** Pause after which a worker has finished its work after a run. */
const REST_MS = 20;

/** Bytes of the frames that a call of `tool.bench.Echo` from two procedures down sends and receives. */
const QUESTION_BYTES = 120;
const ANSWER_BYTES = 24;

/** What is measured: this build, or the same functions of another. */
export interface Library {
  readonly createRuntime: typeof createRuntime;
  readonly defineTool: typeof defineTool;
  readonly pureTools: typeof pureTools;
}

/** A procedure of ordinary size. */
const procedure = (index: number): string => `
func step${index}(needs a, b optional c returns r) means
  set total = 0
  for each x in [a, b, 3, 4]
    if x > 2 and total < 100
      set total = total + x * 2
    else
      set total = total - 1
    endif
  endfor
  set m = {"name": "step${index}", "total": total}
  return m["total"] + len("text of ${index}")
endfunc
`;

const NESTED = `
func light(needs n returns r) means
  return n
endfunc
func inner(needs n returns r) means
  return tool.bench.Echo(n)
endfunc
func outer(needs n returns r) means
  return inner(n)
endfunc
`;

/**
 * Measures a turn's fork of a root with many procedures beside one of an empty root; a light fork, which every procedure call makes; a
 * call of a pure tool; and a validated tool call from two procedures down, beside a bare pipe's round trip of as many bytes.
 */
export async function benchContexts(
  quick: boolean,
  library: Library = { createRuntime, defineTool, pureTools },
): Promise<PromiseReport<ContextRow>> {
  const echo = library.defineTool({
    name: 'tool.bench.Echo',
    description: 'gives back the number it gets',
    effects: 'none',
    args: [{ name: 'value', type: 'int' }],
    run: ({ value }) => value,
  });
  await using runtime = await library.createRuntime({
    tools: [echo, ...library.pureTools('str')],
    policy: { allow: ['tool.bench.*', 'tool.str.*'] },
    limits: { fuel: 1e9, cpuMs: 60_000, wallMs: 120_000, toolCalls: 100_000, journalBytes: 2 ** 26 },
  });
  await using pipe = await BarePipe.open();
  await using raw = await RawProcess.open();
  const size = quick ? 'quick' : 'whole';
  const nested = runtime.interpreter();
  await nested.load(NESTED);
  const parts = [
    await turns(runtime, raw, quick ? 5 : 300),
    await insideCalls(nested, raw, quick ? 1 : 10, PASSES[size]),
    await toolCalls(nested, pipe, raw, ['stream', TRIPS[size].stream, quick ? 2 : 16]),
    await toolCalls(nested, pipe, raw, ['burst', TRIPS[size].burst, quick ? 5 : 16]),
  ];
  return { rows: parts.flatMap(({ rows }) => rows), promises: parts.flatMap(({ promises }) => promises) };
}

/** The library of the turns in JavaScript, and a call of one of its functions. */
const RAW_LIBRARY = `${Array.from(
  { length: PROCEDURES },
  (_, index) => `function step${index}(a, b, c) {
  let total = 0;
  for (const x of [a, b, 3, 4]) {
    if (x > 2 && total < 100) {
      total = total + x * 2;
    } else {
      total = total - 1;
    }
  }
  const m = { name: "step${index}", total };
  return m.total + "text of ${index}".length;
}
`,
).join('')}step7(1, 2)`;

async function turns(runtime: Runtime, raw: RawProcess, rounds: number): Promise<PromiseReport<ContextRow>> {
  const bare = runtime.interpreter();
  const library = runtime.interpreter();
  await library.load(Array.from({ length: PROCEDURES }, (_, index) => procedure(index)).join('\n'));
  const forked = (root: Interpreter, source: string) => async () => succeeded(await root.fork().execute(source));
  const lanes = [
    { what: 'turn fork, no procedures', run: forked(bare, command('emit 1')) },
    { what: `turn fork, ${PROCEDURES} procedures, one called`, run: forked(library, command('emit step7(1, 2)')) },
    { what: `${RAW_PROCESS}, ${PROCEDURES} functions`, run: () => raw.run(RAW_LIBRARY) },
  ];
  const pieces = lanes.map((lane) => async () => (await timed(() => lane.run())).ms);
  const times = await inTurns({ rounds, warmup: Math.ceil(rounds / 5), pauseMs: PAUSE_MS }, pieces);
  const rows = lanes.map(({ what }, index) => ({ what, unit: 'ms', measured: times[index] ?? null }) as const);
  const [, fork, yardstick] = rows.map(({ measured }) => measured);
  const what = `turn fork of ${PROCEDURES} procedures by ${RAW_PROCESS} with as many functions`;
  return { rows, promises: [ratio(what, [fork, yardstick], 'ms', ['most', MOST.turn])] };
}

/** Loops with a procedure call and with a pure call in each pass, beside the smallest interpreter with a procedure call. Each is CPU time in an isolate. */
async function insideCalls(
  root: Interpreter,
  raw: RawProcess,
  rounds: number,
  passes: number,
): Promise<PromiseReport<ContextRow>> {
  const lanes = [
    { what: 'passes with a light fork', expression: 'light(n)', most: MOST.light },
    { what: 'passes with a pure tool call', expression: 'n * tool.str.Length("x")', most: MOST.pure },
  ];
  const own = lanes.map(
    ({ expression }) =>
      async () =>
        (await looped(root, expression, passes)).cpuMs,
  );
  const floor = async () => (await raw.run(floorCalls(passes))).usedMs;
  const [yardstick, ...times] = await inTurns({ rounds, warmup: 1 }, [floor, ...own]);
  const found = lanes.map(({ what, most }, index) => ({ what: `${passes} ${what}`, most, measured: times[index] ?? null }));
  return {
    rows: found.map(({ what, measured }) => ({ what, unit: 'ms', measured })),
    promises: found.map(({ what, most, measured }) =>
      ratio(`${what} by the smallest interpreter, CPU time`, [measured, yardstick], 'ms', ['most', most]),
    ),
  };
}

/**
 * Tool calls beside bare round trips. At first the system runs two processes that answer each other on one core, where a bare trip takes
 * some 10 µs. A few milliseconds later each gets a core of its own, where waking takes several times as long. So two series are compared:
 * a stream of thousands, as of a script that computes, and a burst of some hundreds, as of a turn with a few calls. Nothing is promised
 * for the burst.
 */
async function toolCalls(
  root: Interpreter,
  pipe: BarePipe,
  raw: RawProcess,
  [length, trips, rounds]: readonly ['stream' | 'burst', number, number],
): Promise<PromiseReport<ContextRow>> {
  const lanes = { trip: [] as number[], call: [] as number[], added: [] as number[], loop: [] as number[] };
  for (let round = -1; round < rounds; round++) {
    // Without a pause, the worker of the run before would occupy a core by making its next isolate.
    await sleep(REST_MS);
    const trip = await withCpu(() => pipe.trips(trips, QUESTION_BYTES, ANSWER_BYTES));
    await sleep(REST_MS);
    const call = await withCpu(async () => (await looped(root, 'outer(n)', trips)).wallMs);
    if (round < 0) continue;
    for (const [us, { ms }] of [
      [lanes.trip, trip],
      [lanes.call, call],
    ] as const)
      us.push((ms * 1000) / trips);
    lanes.loop.push((await raw.run(ADDITIONS)).usedMs);
    if (trip.cpuMs !== null && call.cpuMs !== null) lanes.added.push(((call.cpuMs - trip.cpuMs) * CALLS) / trips);
  }
  const of = (what: string) => `${length} of ${trips}: ${what}`;
  const what = of(`CPU time that ${CALLS} tool calls add to bare round trips, by that of a plain loop of V8`);
  return {
    rows: [
      { what: of('bare round trip'), unit: 'µs', measured: summarize(lanes.trip) },
      { what: of('tool call through two procedures'), unit: 'µs', measured: summarize(lanes.call) },
    ],
    promises:
      length === 'stream'
        ? [ratio(what, [summarize(lanes.added), summarize(lanes.loop)], 'ms', ['most', MOST.call], 'median')]
        : [],
  };
}

/** Elapsed milliseconds of a piece of work, as it tells them, and the CPU time of all processes for it. */
async function withCpu(work: () => Promise<number>): Promise<{ readonly ms: number; readonly cpuMs: number | null }> {
  const before = usedCpuMs();
  const ms = await work();
  const after = usedCpuMs();
  return { ms, cpuMs: before === null || after === null ? null : after - before };
}

/** What a loop used that evaluates an expression of `n` in each of its passes. */
async function looped(root: Interpreter, expression: string, passes: number): Promise<RunResult['usage']> {
  const lines = ['set n = 0', `while n < ${passes}`, `  set x = ${expression}`, '  set n = n + 1', 'endwhile', 'emit x'];
  const { usage, values } = succeeded(await root.fork().execute(command(...lines)));
  if (values[0] !== passes - 1) throw new Error(`${expression} gave ${JSON.stringify(values[0])} at last`);
  return usage;
}

function succeeded(result: RunResult): RunResult {
  if (result.error !== null) throw new Error(`${result.error.code}: ${result.error.message}`);
  return result;
}

/**
 * A process that is started like a worker, in the same sandbox with the same filter of system calls, and blocks on its pipe like one, but
 * does nothing else.
 */
class BarePipe implements AsyncDisposable {
  readonly #socket: Socket;
  readonly #gone: Promise<unknown>;

  constructor(socket: Socket, gone: Promise<unknown>) {
    this.#socket = socket;
    this.#gone = gone;
  }

  static async open(): Promise<BarePipe> {
    const worker = fileURLToPath(new URL('dist/bench/echo.js', import.meta.resolve('#package')));
    return withLauncher('auto', async ({ cage }) => {
      const { child, frames, stderr } = launch({ ...packageFiles(), worker }, 0, cage);
      stderr.pipe(process.stderr);
      const pipe = new BarePipe(frames, new Promise((resolve) => child.once('exit', resolve)));
      await pipe.trips(1, 1, 1); // it is up
      return pipe;
    });
  }

  /** Elapsed milliseconds of `count` round trips that the child begins. */
  trips(count: number, asked: number, answered: number): Promise<number> {
    const answer = new Uint8Array(answered);
    const order = new DataView(new ArrayBuffer(12));
    for (const [index, value] of [count, asked, answered].entries()) order.setUint32(index * 4, value);
    return new Promise((resolve) => {
      let start = 0;
      let held = 0;
      let done = 0;
      const onData = (chunk: Uint8Array): void => {
        if (start === 0) start = performance.now();
        for (held += chunk.length; held >= asked; held -= asked) {
          this.#socket.write(answer);
          done++;
        }
        if (done < count) return;
        this.#socket.off('data', onData);
        resolve(performance.now() - start);
      };
      this.#socket.on('data', onData);
      this.#socket.write(new Uint8Array(order.buffer));
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.end();
    await this.#gone;
  }
}

export function renderContexts({ rows, promises }: PromiseReport<ContextRow>): string {
  const cells = rows.map(({ what, unit, measured }) => [
    what,
    short(measured?.median ?? null),
    spread(measured),
    short(measured?.p95 ?? null),
    measured === null ? '-' : String(measured.samples),
    unit,
  ]);
  const head = ['what', 'median', 'q1–q3', 'p95', 'samples', 'unit'];
  return `${table(head, cells)}\n\nA turn fork is a fresh isolate; a light fork is a procedure call inside of one.\n\n${renderPromises(promises)}\n`;
}
