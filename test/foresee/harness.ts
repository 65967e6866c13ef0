import { GLOBALS, NAMES } from '../../conformance/language/generate/expressions.ts';
import { type Program, program } from '../../conformance/language/generate/programs.ts';
import { Random } from '../../conformance/language/generate/random.ts';
import { type Foreseen, type ForeseenCall, foresee, parse } from '../../grammar/index.ts';
import { ForeseenOrder } from '../../src/runtime/foreseenorder.ts';
import { grantOf } from '../../src/runtime/grant.ts';
import type { Grant } from '../../src/tools/index.ts';
import { BOUNDING_COSTS, whisperedBytes } from '../../src/wire/costs.ts';
import { fits } from '../../src/wire/foreseen.ts';
import type { TaggedJson } from '../../src/wire/protocol.ts';
import { type Driven, type DriveOptions, driveFiles, Raise, type TestTool } from '../guest/driver.ts';
import { Gate, misjudged, narrower, partsOf, toolOf } from './gate.ts';
import { paidFor, statedCost } from './prices.ts';

/** The tools that set no variables. */
export const KEEPING: readonly string[] = ['tool.a.get', 'tool.a.put', 'tool.b.send', 'tool.none.at'];

export interface Tally {
  programs: number;
  runs: number;
  refused: number;
  calls: number;
  /** Calls of which tool, arguments and number were foreseen exactly. */
  exact: number;
  /** Runs that made exactly the calls that were foreseen. */
  tight: number;
  /** Bounds of fuel that were finite. */
  bounded: number;
  /** Calls that were refused in runs under a grant that is narrower by one. */
  outside: number;
  /** Runs that cost something. */
  priced: number;
  /** For those whose stated cost has a bound: how many times as much as they cost was stated. */
  readonly looseness: number[];
  readonly escapes: Escape[];
}

/** Something that happened and was not foreseen. */
export interface Escape {
  readonly seed: number;
  readonly what: string;
  readonly source: string;
}

export function tally(): Tally {
  return {
    programs: 0,
    runs: 0,
    refused: 0,
    calls: 0,
    exact: 0,
    tight: 0,
    bounded: 0,
    outside: 0,
    priced: 0,
    looseness: [],
    escapes: [],
  };
}

/** Runs of each program, with other results of the tools: the last one is under a grant that is narrower by one. */
export const RUNS = 4;

/** Runs the program of a seed, and compares what happened with what was foreseen. */
export function examine(seed: number, found: Tally, analysis: Analysis = foresee): void {
  examineProgram(program(seed, { tools: true }), seed, found, analysis);
}

/** The analysis, or one with a planted error. */
export type Analysis = typeof foresee;

/** So little work that the analysis must give up following calls and loops, or whole blocks. */
const LITTLE = [{}, {}, {}, { exact: 40 }, { unit: 60 }];

/** Any program. `seed` decides what tools do. */
export function examineProgram(made: Program, seed: number, found: Tally, analysis: Analysis = foresee): void {
  const { source, call, events } = made;
  const parsed = parse(source, { name: 'test.ns' });
  if (!parsed.ok) {
    found.refused++;
    return;
  }
  found.programs++;
  const files = [parsed.file];
  const given = { globals: seed % 3 !== 0, events: seed % 2 !== 0 };
  const foreseen = analysis([{ file: parsed.file, text: parsed.text }], BOUNDING_COSTS, {
    ...(given.globals ? { values: GLOBALS } : { globals: Object.keys(GLOBALS) }),
    keeping: KEEPING,
    effort: LITTLE[seed % LITTLE.length] ?? {},
    ...(call === null ? {} : { call: { name: call, args: [] } }),
    ...(given.events ? { events: events.map(({ name }) => name) } : {}),
  });
  if (foreseen.fuel !== null) found.bounded++;
  const [grant, cost] = [grantFor(foreseen, /\bon\s+error\b|\btogether\b/i.test(source)), statedCost(foreseen)];
  for (let run = 0; run < RUNS; run++) {
    const less = run === RUNS - 1 ? narrower(grant, new Random(Math.imul(seed, 0x2545f491))) : null;
    const gate = new Gate(less ?? grant);
    const driven = driveFiles(files, {
      call,
      limits: { fuel: 5000 },
      ...surroundings(made, given, seed, run),
      ...world(seed, run),
      ...gate.hooks,
    });
    const what =
      escapeOf(foreseen, driven) ??
      (less === null ? refusalOf(gate) : misjudged(less, gate.passed)) ??
      dearer(cost, driven, gate, found);
    found.runs++;
    if (less !== null) found.outside += gate.passed.filter(({ refusal }) => refusal !== null).length;
    if (what !== null) found.escapes.push({ seed, what, source });
    measure(foreseen, driven, found);
    if (what !== null) return;
  }
}

/** The first thing that happened outside of what was foreseen. */
export function escapeOf(foreseen: Foreseen, driven: Driven): string | null {
  const { calls, fuel, memoryBytes, outputBytes, scratchBytes } = foreseen;
  if (driven.error?.kind === 'internal') return `internal: ${driven.error.message}`;
  const sites = new Map<string, number>();
  for (const made of driven.calls) {
    const [name, args] = partsOf(made);
    const { line, column } = made.at;
    const here = calls.filter((one) => one.line === line && one.column === column && one.name === name);
    const shown = `${name}(${JSON.stringify(args)}) at ${line}:${column}`;
    const further = calls.some((one) => one.elsewhere);
    if (!further && !here.some((one) => covers(one, args)))
      return `${shown} is not among ${JSON.stringify(here.map((one) => one.args))}`;
    const site = `${name} ${line} ${column}`;
    const times = (sites.get(site) ?? 0) + 1;
    sites.set(site, times);
    const most = here.reduce((sum, one) => sum + (one.most ?? Number.POSITIVE_INFINITY), 0);
    if (!further && times > most) return `${shown} is call ${times}, and ${most} were foreseen`;
  }
  const scratch = driven.whispers.reduce(
    (sum, { to, text }) => sum + whisperedBytes(Buffer.byteLength(to), Buffer.byteLength(text)),
    0,
  );
  const over = [
    ['fuel', driven.fuel, fuel],
    ['memory', driven.peakMemoryBytes, memoryBytes],
    ['output', driven.outputBytes, outputBytes],
    ['scratch', scratch, scratchBytes],
  ] as const;
  for (const [what, used, most] of over) if (most !== null && used > most) return `${what} ${used}, and ${most} was foreseen`;
  return null;
}

/** Why a run stopped that is bound to the grant of its own program; null when it did not. */
export function refusalOf({ refused }: Gate): string | null {
  return refused === undefined ? null : `${refused.shown}: ${refused.refusal}`;
}

/** How a run cost more than was stated, or less although it ended well; null when it did not. */
function dearer(
  { least, most }: ReturnType<typeof statedCost>,
  { error }: Driven,
  { passed, refused }: Gate,
  found: Tally,
): string | null {
  const paid = paidFor(passed.filter(({ refusal }) => refusal === null));
  if (most !== null && paid > most) return `it cost ${paid}, and ${most} was stated`;
  if (error === null && refused === undefined && paid < least) return `it cost ${paid}, and at least ${least} was stated`;
  if (paid > 0) found.priced++;
  if (most !== null && paid > 0) found.looseness.push(most / paid);
  return null;
}

/** The grant that allows what was foreseen of a program, whose tools all have the same arguments. */
export function grantFor(foreseen: Foreseen, catches = true): Grant {
  const calls = foreseen.calls.map((call, index) => {
    return { ...call, number: index + 1, effects: 'write', verdict: null, limitedBy: null } as const;
  });
  const files = [...new Set(calls.map(({ file }) => file))];
  const order = new ForeseenOrder({ calls: foreseen.calls, files, past: {}, catches });
  return grantOf({
    preview: { sources: [], calls, because: null, cost: { least: 0, most: 0, by: 'program' } },
    foreseen,
    order,
    toolOf,
    guards: [],
  });
}

function covers({ args: known }: ForeseenCall, args: readonly TaggedJson[]): boolean {
  return known === null || (known.length === args.length && known.every((one, index) => fits(one, args[index] ?? null)));
}

/** A call is exact when its row says each argument and as many calls as there were. */
function measure({ calls }: Foreseen, driven: Driven, found: Tally): void {
  const used = new Map<ForeseenCall, number>();
  for (const made of driven.calls) {
    const [name, args] = partsOf(made);
    const row = calls.find(
      (one) =>
        one.name === name && one.line === made.at.line && one.column === made.at.column && isExact(one) && covers(one, args),
    );
    if (row !== undefined) used.set(row, (used.get(row) ?? 0) + 1);
  }
  for (const [row, count] of used) if (row.most === count) found.exact += count;
  found.calls += driven.calls.length;
  if (calls.every((one) => used.get(one) === one.most)) found.tight++;
}

function isExact({ args }: ForeseenCall): boolean {
  return (args ?? [{}]).every((arg) => isConstant(arg));
}

/** Whether all of a value is known. */
export function isConstant({ value, items, entries }: Partial<NonNullable<ForeseenCall['args']>[number]>): boolean {
  if (value !== undefined) return true;
  const parts = items ?? entries?.map(([, entry]) => entry);
  return parts?.every(isConstant) ?? false;
}

/** Variables that a tool sets. */
const SET = [...NAMES, 'nobody', 'g'];

const RESULTS: readonly TaggedJson[] = [
  null,
  0,
  1,
  2,
  'k',
  'text',
  '',
  true,
  false,
  [],
  [1, 2],
  ['a', 'b', 'c'],
  { k: 1 },
  { k: { j: [1] }, a: 'x' },
  { $fuzzy: 0.5 },
  { $error: { code: 5, message: 'm' } },
];

/** What the analysis is told in full. */
interface Given {
  readonly globals: boolean;
  readonly events: boolean;
}

/** Globals, events and lines of a run. The first run has those of the program; in the others, whatever the analysis is not told differs. */
function surroundings({ globals, events, stdin }: Program, given: Given, seed: number, run: number): DriveOptions {
  if (run === 0) return { globals, events, stdin };
  const random = new Random(Math.imul(seed, 0xc2b2ae35) + run);
  const delivered = given.events
    ? events
    : random.several(0, 4, () => ({ ...EVENT, name: random.pick(['x', 'y', 'x1', 'text', '1']) }));
  return {
    globals: given.globals ? globals : Object.fromEntries(Object.keys(globals).map((name) => [name, random.pick(RESULTS)])),
    events: delivered.map((event) => ({ ...event, payload: random.pick(RESULTS) })),
    stdin: stdin === null ? null : random.several(0, 20, () => random.pick(['line', '', '12', 'k'])),
  };
}

const EVENT = { source: 'src', id: 'event', ts: 5 };

/** Tools whose results depend on the seed, the run and the number of the call alone. */
function world(seed: number, run: number): { readonly tools: Readonly<Record<string, TestTool>>; readonly ask: TestTool } {
  const answer: TestTool = (_args, { call: { seq } }) => {
    const random = new Random(Math.imul(seed, 0x9e3779b1) ^ (seq + 1000 * run));
    if (random.once(5)) throw new Raise(random.pick([4, 7, 22, 1003]), 'refused');
    return random.pick(RESULTS);
  };
  const setting: TestTool = (args, io) => {
    const random = new Random(Math.imul(seed, 0x85ebca6b) ^ (io.call.seq + 1000 * run));
    for (let count = random.int(3); count > 0; count--) io.setVar(random.pick(SET), random.pick(RESULTS));
    return answer(args, io);
  };
  return {
    tools: { 'tool.a.get': answer, 'tool.a.put': answer, 'tool.b.send': answer, 'tool.set.any': setting },
    ask: answer,
  };
}
