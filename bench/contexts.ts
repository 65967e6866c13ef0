import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createRuntime, defineTool, type Interpreter, type RunResult, type Runtime } from '../src/entries/index.ts';
import { launch, packageFiles, withLauncher } from '../src/sandbox/index.ts';
import { pureTools } from '../stdlib-tools/index.ts';
import { allowance } from './pace.ts';
import { type Summary, summarize } from './stats.ts';
import { short, spread, table } from './table.ts';

/** The cost of one use of contexts. */
export interface ContextRow {
  readonly what: string;
  readonly unit: 'ms' | 'µs' | 'ratio';
  readonly measured: Summary | null;
  /** The most that the median may be, on the reference machine of `pace.ts`; null without a promise. */
  readonly target: number | null;
  /** The same at the pace of this machine. */
  readonly allowed: number | null;
}

const PROCEDURES = 200;
const TARGETS = { turnMs: 2.5, lightUs: 20, callRatio: 1.5, pureUs: 3 } as const;

/** Procedure calls in one measurement: a light fork takes less than a microsecond. */
const LIGHT_CALLS = 50_000;
/** Calls of a pure tool in one measurement. */
const PURE_CALLS = 10_000;
/** Tool calls or round trips in one measurement, see {@link toolCalls}. */
const TRIPS = { stream: 3_000, burst: 300 } as const;
/** Pause between two turns, in which the worker makes its next isolate, as it does while a model thinks. */
const PAUSE_MS = 5;

/** Pause after which a worker has finished its work after a run. */
const REST_MS = 20;

/** Bytes of the frames that a call of `tool.bench.Echo` from two procedures down sends and receives. */
const QUESTION_BYTES = 120;
const ANSWER_BYTES = 24;

const ECHO = defineTool({
  name: 'tool.bench.Echo',
  description: 'gives back the number it gets',
  effects: 'none',
  args: [{ name: 'value', type: 'int' }],
  run: ({ value }) => value,
});

const command = (...lines: readonly string[]): string =>
  ['command', ...lines.map((line) => `  ${line}`), 'endcommand\n'].join('\n');

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
export async function benchContexts(quick: boolean): Promise<ContextRow[]> {
  await using runtime = await createRuntime({
    tools: [ECHO, ...pureTools('str')],
    policy: { allow: ['tool.bench.*', 'tool.str.*'] },
    limits: { fuel: 1e9, cpuMs: 60_000, wallMs: 120_000, toolCalls: 100_000, journalBytes: 2 ** 26 },
  });
  await using pipe = await BarePipe.open();
  const nested = runtime.interpreter();
  await nested.load(NESTED);
  const rows: Omit<ContextRow, 'allowed'>[] = [
    ...(await turns(runtime, quick ? 20 : 300)),
    ...(await insideCalls(nested, quick ? 3 : 10)),
    ...(await toolCalls(nested, pipe, ['stream', quick ? 2 : 16])),
    ...(await toolCalls(nested, pipe, ['burst', quick ? 2 : 16])),
  ];
  return rows.map((row) => ({ ...row, allowed: row.target === null ? null : allowance(row.unit, row.target) }));
}

async function turns(runtime: Runtime, rounds: number): Promise<Omit<ContextRow, 'allowed'>[]> {
  const bare = runtime.interpreter();
  const library = runtime.interpreter();
  await library.load(Array.from({ length: PROCEDURES }, (_, index) => procedure(index)).join('\n'));
  const lanes = [
    { what: 'turn fork, no procedures', root: bare, source: command('emit 1'), target: null, ms: [] as number[] },
    {
      what: `turn fork, ${PROCEDURES} procedures, one called`,
      root: library,
      source: command('emit step7(1, 2)'),
      target: TARGETS.turnMs,
      ms: [] as number[],
    },
  ];
  const warmup = Math.ceil(rounds / 5);
  for (let round = -warmup; round < rounds; round++)
    for (const { root, source, ms } of lanes) {
      const start = performance.now();
      succeeded(await root.fork().execute(source));
      if (round >= 0) ms.push(performance.now() - start);
      await sleep(PAUSE_MS);
    }
  return lanes.map(({ what, target, ms }) => ({ what, unit: 'ms', measured: summarize(ms), target }));
}

async function insideCalls(root: Interpreter, rounds: number): Promise<Omit<ContextRow, 'allowed'>[]> {
  const lights: number[] = [];
  const pures: number[] = [];
  for (let round = -1; round < rounds; round++) {
    const idle = (await looped(root, 'n', LIGHT_CALLS)) / LIGHT_CALLS;
    const light = (await looped(root, 'light(n)', LIGHT_CALLS)) / LIGHT_CALLS - idle;
    const pure = (await looped(root, 'n * tool.str.Length("x")', PURE_CALLS)) / PURE_CALLS - idle;
    if (round < 0) continue;
    lights.push(light * 1000);
    pures.push(pure * 1000);
  }
  return [
    { what: 'light fork', unit: 'µs', measured: summarize(lights), target: TARGETS.lightUs },
    { what: 'pure tool call', unit: 'µs', measured: summarize(pures), target: TARGETS.pureUs },
  ];
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
  [length, rounds]: readonly [keyof typeof TRIPS, number],
): Promise<Omit<ContextRow, 'allowed'>[]> {
  const trips = TRIPS[length];
  const idle = (await looped(root, 'n', LIGHT_CALLS)) / LIGHT_CALLS;
  const echoes: number[] = [];
  const tools: number[] = [];
  const ratios: number[] = [];
  for (let round = -1; round < rounds; round++) {
    // Without a pause, the worker of the run before would occupy a core by making its next isolate.
    await sleep(REST_MS);
    const echo = (await pipe.trips(trips, QUESTION_BYTES, ANSWER_BYTES)) / trips;
    await sleep(REST_MS);
    const tool = (await looped(root, 'outer(n)', trips)) / trips - idle;
    if (round < 0) continue;
    echoes.push(echo * 1000);
    tools.push(tool * 1000);
    ratios.push(tool / echo);
  }
  const target = length === 'stream' ? TARGETS.callRatio : null;
  return [
    { what: `${length} of ${trips}: bare round trip`, unit: 'µs', measured: summarize(echoes), target: null },
    { what: `${length} of ${trips}: tool call through two procedures`, unit: 'µs', measured: summarize(tools), target: null },
    { what: `${length} of ${trips}: tool call over bare round trip`, unit: 'ratio', measured: summarize(ratios), target },
  ];
}

/** Milliseconds of a loop that evaluates an expression of `n` in each of its passes. */
async function looped(root: Interpreter, expression: string, passes: number): Promise<number> {
  const lines = ['set n = 0', `while n < ${passes}`, `  set x = ${expression}`, '  set n = n + 1', 'endwhile', 'emit x'];
  const { usage, values } = succeeded(await root.fork().execute(command(...lines)));
  if (values[0] !== passes - 1) throw new Error(`${expression} gave ${JSON.stringify(values[0])} at last`);
  return usage.wallMs;
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
    const own = import.meta.url;
    const worker = fileURLToPath(new URL(own.endsWith('.ts') ? '../dist/bench/echo.js' : './echo.js', own));
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

/** The rows as a page of text. */
export function renderContexts(rows: readonly ContextRow[]): string {
  const cells = rows.map(({ what, unit, measured, target, allowed }) => [
    what,
    short(measured?.median ?? null),
    spread(measured),
    short(measured?.p95 ?? null),
    measured === null ? '-' : String(measured.samples),
    unit,
    target === null ? '-' : String(target),
    allowed === null || measured === null ? '-' : measured.median <= allowed ? 'pass' : 'FAIL',
  ]);
  const head = ['what', 'median', 'q1–q3', 'p95', 'samples', 'unit', 'at most', ''];
  return `${table(head, cells)}\n\nA turn fork is a fresh isolate; a light fork is a procedure call inside of one.\n`;
}

/** The broken promises. */
export function contextFailures(rows: readonly ContextRow[]): string[] {
  return rows.flatMap(({ what, unit, measured, allowed }) =>
    measured !== null && allowed !== null && measured.median > allowed
      ? [`${what}: ${short(measured.median)} ${unit}, at most ${short(allowed)} are promised`]
      : [],
  );
}
