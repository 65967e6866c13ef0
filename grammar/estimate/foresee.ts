/** Foresees the effects of a program: every call of the host that it can make, and its maximum usage. */
import type { CheckedFile } from '../lint/index.ts';
import type { EventHandler, SourceFile } from '../syntax/ast.ts';
import { positionAt, type Span } from '../syntax/position.ts';
import type { CallRow, Condition } from './calls.ts';
import { Charges } from './charges.ts';
import type { FuelCosts } from './costs.ts';
import { describe, type ForeseenValue } from './describe.ts';
import { attempt, commandCosts, type EstimateOptions, handling, sessionOf } from './estimate.ts';
import { Evaluation } from './expressions.ts';
import { type GivenJson, givenCost, givenValue } from './given.ts';
import { eventNameFuel } from './operations.ts';
import { Origins } from './origins.ts';
import type { Defined } from './reach.ts';
import { type CallOrigins, type ToolKinds, TooMany } from './scope.ts';
import type { Session } from './session.ts';
import { type Cost, FREE, fuel, repeated, sum } from './state.ts';
import type { Sources } from './taint.ts';
import { Tally } from './tally.ts';
import { asText } from './values.ts';

/** The host's plan for the program. */
export interface ForeseeOptions extends EstimateOptions {
  /** Globals whose values are known, as tagged JSON; `globals` names others. */
  readonly values?: Readonly<Record<string, GivenJson>>;
  /** The procedure that the host calls after the command blocks, with these arguments; none when absent. */
  readonly call?: { readonly name: string; readonly args: readonly GivenJson[] };
  /** The events that the host delivers, each once. When absent: any events, any number of times. */
  readonly events?: readonly string[];
}

/** A condition that held on the way to a call. The program may have changed its variables since. */
export interface ForeseenCondition {
  /**
   * `if`, `while`: the expression was true; `unless`: it was not; `each`: for each item of the expression; `error`: in this handler, after
   * an error; `event`: the event is delivered; `procedure`: this procedure is called.
   */
  readonly kind: Condition['kind'];
  /** The expression, shortened, or the name of the procedure. */
  readonly text: string;
  /** The file of the condition. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
}

/** A place that brings a value into a program. */
export interface ForeseenOrigin {
  /** Canonical name of a tool, `ask`, `promptuser`, `event NAME`, or `userdata` with the names that lead to a part of it. */
  readonly from: string;
  /** The file of the place. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
}

/** Where the arguments of a call may come from, also by conditions that decide what they are. */
export interface ForeseenOrigins {
  /** By argument. */
  readonly args: readonly (readonly ForeseenOrigin[])[];
  /** Of the conditions that decide whether and how often the call is made. */
  readonly deciding: readonly ForeseenOrigin[];
}

/** Calls that a program can make at one place. */
export interface ForeseenCall {
  /** Canonical name of a tool, or `ask` or `promptuser`. */
  readonly name: string;
  /** The file of the place. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in code points. */
  readonly column: number;
  /** Whether it also covers calls at other places, because there are very many. */
  readonly elsewhere: boolean;
  /** Null where nothing is known of the arguments. */
  readonly args: readonly ForeseenValue[] | null;
  /** Most calls; null if the program sets no bound. */
  readonly most: number | null;
  /** How many of these calls every run makes at least that ends without an error. */
  readonly least: number;
  /** The conditions that held on the way to the call. */
  readonly when: readonly ForeseenCondition[];
  /** Absent where nothing is known of them. */
  readonly origins?: ForeseenOrigins | undefined;
}

/** The maximum effects of a program. */
export interface Foreseen {
  /** All possible calls. `from` of an argument numbers them from 1. */
  readonly calls: readonly ForeseenCall[];
  /** Most fuel; null without a bound. */
  readonly fuel: number | null;
  /** Most memory; null without a bound. */
  readonly memoryBytes: number | null;
  /** Most bytes emitted; null without a bound. */
  readonly outputBytes: number | null;
  /** Most bytes whispered; null without a bound. */
  readonly scratchBytes: number | null;
  /** Why there is no bound of the fuel, and at which place. */
  readonly because: { readonly message: string; readonly file: string; readonly line: number; readonly column: number } | null;
}

/**
 * Foresees the run of files: loading, all command blocks in order, then the call, then the events. The result holds for any values of the
 * globals, any results of tools and any errors. The work is bounded for any program; beyond the bound the result is less exact. The
 * bounds of fuel and memory hold under the same conditions as those of an estimate.
 */
export function foresee(sources: readonly CheckedFile[], costs: FuelCosts, options: ForeseeOptions = {}): Foreseen {
  const files = sources.map(({ file }) => file);
  const { values = {}, globals = [], constants = [] } = options;
  const session = sessionOf(files, costs, { ...options, given: new Map(Object.entries(values)) });
  if (session === undefined) return { calls: [], fuel: 0, memoryBytes: 0, outputBytes: 0, scratchBytes: 0, because: null };
  let all = received(session, Object.values(values));
  let because: Foreseen['because'] = null;
  const unit = (file: SourceFile, at: Span, follow: () => Cost): void => {
    session.begin(file);
    const cost = attempt(follow) ?? unfollowed(session, at);
    all = sum(all, cost);
    const { cause } = session;
    if (cost.most === Number.POSITIVE_INFINITY && cause !== undefined)
      because ??= { message: cause.message, file: cause.file.name, ...positionAt(cause.file.lines, cause.s) };
  };
  const handlers: { readonly file: SourceFile; readonly event: EventHandler; readonly name: string | undefined }[] = [];
  for (const file of files)
    for (const event of file.events)
      unit(file, event, () => {
        const place = handlers.push({ file, event, name: undefined }) - 1;
        const { cost, name } = registered(session, event);
        handlers[place] = { file, event, name };
        return cost;
      });
  for (const { file, command, follow } of commandCosts(session, files)) unit(file, command, follow);
  const { call } = options;
  const called = call === undefined ? undefined : session.procedures.get(call.name);
  if (call !== undefined && called !== undefined)
    unit(called.file, called.procedure, () => calledByHost(session, called, call.args));
  for (const { file, event, name } of handlers) {
    const count = options.events?.filter((one) => name === undefined || one === name).length ?? Number.POSITIVE_INFINITY;
    if (count > 0) unit(file, event, () => repeated(delivered(session, event), count));
  }
  const unknown = globals.length + constants.length > 0 || options.anyConstant === true;
  const memory = unknown ? Number.POSITIVE_INFINITY : all.bytes + session.frameBytes;
  const recounted = memory > costs.recountBytes && because === null;
  if (recounted) because = { message: unknown ? UNKNOWN_GLOBALS : RECOUNT, file: files[0]?.name ?? '', line: 1, column: 1 };
  return {
    calls: callsOf(session, all, sources, originsOf(files, session)),
    fuel: recounted ? null : finite(all.most),
    memoryBytes: finite(memory),
    outputBytes: finite(all.output),
    scratchBytes: finite(all.scratch),
    because,
  };
}

const UNKNOWN_GLOBALS = 'globals and constants may have any size';
const RECOUNT = 'its values may take so much memory that the interpreter recounts them';

/** Reading the host's values comes before the first statement. */
function received(session: Session, values: readonly GivenJson[]): Cost {
  let all = FREE;
  for (const value of values) all = sum(all, { ...FREE, ...givenCost(value, session.costs) });
  return all;
}

/** A unit that is too large to follow. */
function unfollowed(session: Session, at: Span): Cost {
  const most = session.unbounded('it is too large to follow', at);
  return { least: 0, most, bytes: most, output: most, scratch: most, calls: session.reach.everything, certain: Tally.none };
}

/** Loading a handler evaluates the name of its event. */
function registered(session: Session, { event }: EventHandler): { readonly cost: Cost; readonly name: string | undefined } {
  const evaluation = new Evaluation(session, session.globals);
  const value = evaluation.value(event);
  evaluation.shown(value, event);
  const { known } = asText(value);
  const cost = sum(fuel(eventNameFuel(session.costs, event)), evaluation.cost);
  return { cost, name: typeof known === 'string' ? known : undefined };
}

function calledByHost(session: Session, called: Defined, args: readonly GivenJson[]): Cost {
  const { procedure } = called;
  const { value, cost } = session.call(session, called, args.map(givenValue), procedure.name);
  const charges = new Charges(session);
  charges.add(sum(cost, received(session, args)));
  charges.handed(value, `what \`${procedure.name.name}\` returns`, procedure.name);
  return charges.cost;
}

function delivered(session: Session, event: EventHandler): Cost {
  const condition = { kind: 'event', at: event, expr: event.event } as const;
  const cost = session.under(condition, () => handling(session, event));
  return sum(cost, anySize(session, 'an event may have any size, and be delivered any number of times', event.event));
}

function anySize(session: Session, message: string, at: Span): Cost {
  const most = session.unbounded(message, at);
  return { ...FREE, most, bytes: most };
}

function finite(bound: number): number | null {
  return bound <= Number.MAX_SAFE_INTEGER ? Math.ceil(bound) : null;
}

/** The sources of all calls of a program; null when it is too large. */
function originsOf(files: readonly SourceFile[], kinds: ToolKinds): Origins | null {
  try {
    return new Origins(files, kinds);
  } catch (error) {
    if (error instanceof TooMany || error instanceof RangeError) return null;
    throw error;
  }
}

function callsOf(
  session: Session,
  { calls, certain }: Cost,
  sources: readonly CheckedFile[],
  origins: Origins | null,
): readonly ForeseenCall[] {
  const least = new Map(certain.entries());
  const counts = [...calls.entries()].filter(([, count]) => count > 0);
  const rows = counts.flatMap(([index, count]) => {
    const row = session.calls.rows[index];
    return row === undefined ? [] : [{ row, count, least: Math.min(least.get(index) ?? 0, Number.MAX_SAFE_INTEGER) }];
  });
  const numbers = new Map<number, number[]>();
  for (const [index, { row }] of rows.entries()) {
    const same = numbers.get(row.place);
    if (same === undefined) numbers.set(row.place, [index + 1]);
    else same.push(index + 1);
  }
  // Where a row stands for calls at several places, nobody knows which row an answer belongs to.
  const answering = rows.some(({ row }) => row.elsewhere) ? new Map<number, number[]>() : numbers;
  const shown = shortened(sources);
  const placed = origins === null ? null : new PlacedOrigins(origins, session, numbers);
  return rows.map(({ row, count, least: sure }) => ({
    ...callOf(row, count, { numbers, answering }, shown, placed),
    least: sure,
  }));
}

function callOf(
  { name, node, file, elsewhere, args, when }: CallRow,
  count: number,
  numbers: Numbers,
  shown: (condition: Condition) => string,
  placed: PlacedOrigins | null,
): Omit<ForeseenCall, 'least'> {
  const sources = elsewhere ? null : (placed?.calls.get(node) ?? null);
  return {
    name,
    file: file.name,
    ...positionAt(file.lines, node.s),
    elsewhere,
    args:
      args?.map((arg, index) => {
        const known = numbered(describe(arg), numbers);
        return placed === null ? known : placed.added(known, sources?.args[index] ?? 0n);
      }) ?? null,
    most: finite(count),
    when: when.map((condition) => ({
      kind: condition.kind,
      text: shown(condition),
      file: condition.file.name,
      line: positionAt(condition.file.lines, condition.at.s).line,
    })),
    origins: sources === null ? undefined : placed?.of(sources),
  };
}

/** Sources as places of the text, and as numbers of calls. */
class PlacedOrigins {
  readonly calls: Origins['calls'];
  readonly #all: readonly { readonly origin: ForeseenOrigin; readonly calls: readonly number[] }[];

  constructor({ sources, calls }: Origins, session: Session, numbers: ReadonlyMap<number, readonly number[]>) {
    this.calls = calls;
    this.#all = sources.map(({ from, file, node }) => ({
      origin: { from, file: file.name, line: positionAt(file.lines, node.s).line },
      calls: numbers.get(session.calls.place(node)) ?? [],
    }));
  }

  /** The origins of a call; undefined for very many. */
  of({ args, deciding }: CallOrigins): ForeseenOrigins | undefined {
    const [decides = [], ...each] = [deciding, ...args].map((sources) => this.#in(sources).map(({ origin }) => origin));
    return [decides, ...each].some(({ length }) => length > MOST_ORIGINS) ? undefined : { args: each, deciding: decides };
  }

  /** The description with the calls among the sources of the value. */
  added(known: ForeseenValue, sources: Sources): ForeseenValue {
    const within = new Set(
      [...(known.items ?? []), ...(known.entries?.map(([, entry]) => entry) ?? [])].flatMap(({ from = [] }) => from),
    );
    const own = this.#in(sources).flatMap(({ calls }) => calls.filter((call) => !within.has(call)));
    const calls = [...new Set([...(known.from ?? []), ...own])].sort((a, b) => a - b);
    return calls.length === 0 ? known : { ...known, from: calls.slice(0, MOST_FROM) };
  }

  #in(sources: Sources) {
    return this.#all.filter((_, index) => (sources & (1n << BigInt(index))) !== 0n);
  }
}

interface Numbers {
  readonly numbers: ReadonlyMap<number, readonly number[]>;
  /** Of the places at which one knows to which call an answer belongs. */
  readonly answering: Numbers['numbers'];
}

/** Replaces the numbers of places by those of calls. */
function numbered(value: ForeseenValue, places: Numbers): ForeseenValue {
  const { from, items, each, entries, returned, ...rest } = value;
  const calls = [...new Set(from?.flatMap((place) => places.numbers.get(place) ?? []))].sort((a, b) => a - b);
  const [call, ...others] = returned === undefined ? [] : (places.answering.get(returned.call) ?? []);
  return {
    ...rest,
    items: items?.map((item) => numbered(item, places)),
    each: each === undefined ? undefined : numbered(each, places),
    entries: entries?.map(([key, entry]) => [key, numbered(entry, places)] as const),
    ...(calls.length === 0 ? {} : { from: calls.slice(0, MOST_FROM) }),
    ...(call === undefined || others.length > 0 ? {} : { returned: { call, part: returned?.part } }),
  };
}

/** Most origins of an argument that are listed. */
const MOST_ORIGINS = 32;

/** Most calls that `from` of a value lists. */
const MOST_FROM = 8;

const MOST_CHARACTERS = 80;

/** The text of a condition, as the source has it. */
function shortened(sources: readonly CheckedFile[]): (condition: Condition) => string {
  const texts = new Map(sources.map(({ file, text }) => [file, text]));
  return ({ expr, name, file }) => {
    if (expr === undefined) return name ?? '';
    const text = texts.get(file)?.slice(expr.s, expr.e) ?? '';
    const characters = [...text.slice(0, 2 * MOST_CHARACTERS + 2).replaceAll('\n', ' ')];
    return characters.length <= MOST_CHARACTERS ? characters.join('') : `${characters.slice(0, MOST_CHARACTERS).join('')}…`;
  };
}
