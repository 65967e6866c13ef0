/** The static cost estimate: the fuel that each block of a program takes, at least and at most. */

import type { Block, CommandBlock, EventHandler, Procedure, SourceFile } from '../syntax/ast.ts';
import { positionAt, type Span } from '../syntax/position.ts';
import { allOf, eachStatement, namesIn, setBy } from '../syntax/walk.ts';
import { ERROR_VARIABLES, SELF } from '../vocabulary/builtins.ts';
import type { FuelCosts } from './costs.ts';
import { type GivenJson, givenValue } from './given.ts';
import { RESULT } from './lookahead.ts';
import type { Defined } from './reach.ts';
import { type Call, type Called, type Cause, type Effort, Session, type Summary, TooLarge, USUAL_EFFORT } from './session.ts';
import { type Cost, type Endings, FREE, fuel, type Point, State, worse } from './state.ts';
import { follow } from './statements.ts';
import { Tally } from './tally.ts';
import { type Abstract, join, NOTHING, UNKNOWN } from './values.ts';

/** The estimate of a command block, or of a procedure or event handler that the host starts. */
export interface Estimate {
  /** The kind of block. */
  readonly kind: 'command' | 'procedure' | 'event';
  /** Name of the procedure; empty for other blocks. */
  readonly name: string;
  /** Name of the file that holds the block. */
  readonly file: string;
  /** 1-based line at which the block begins. */
  readonly line: number;
  /** 1-based column at which the block begins, in code points. */
  readonly column: number;
  /** Fuel that every run that reaches the end of the block takes. */
  readonly least: number;
  /** Fuel that no run exceeds; null without an upper bound. */
  readonly most: number | null;
  /** Why there is no upper bound, and at which place. */
  readonly because: { readonly message: string; readonly file: string; readonly line: number; readonly column: number } | null;
}

/** Knowledge about the host of the run. */
export interface EstimateOptions {
  /** Names of the globals, in addition to `self`. */
  readonly globals?: readonly string[];
  /** Canonical names of the tools that run inside the isolate. */
  readonly pure?: readonly string[];
  /** Canonical names of the tools that set no variables. Any other tool may set all variables of its caller. */
  readonly keeping?: readonly string[];
  /** Names of the global constants. */
  readonly constants?: readonly string[];
  /** Whether tools may define and change constants while the program runs. */
  readonly anyConstant?: boolean;
  /** Most steps of work. A lower number gives wider bounds. */
  readonly effort?: Partial<Effort>;
}

/**
 * Estimates all blocks of files that run together: command blocks in order, one after the other, then procedures and event
 * handlers that the host calls with any arguments. A block does not include loading (the names of events) or what passes
 * between host and block (arguments, payloads, the returned value).
 *
 * The bounds hold under the default limits of depth, for the named globals and constants (tools may define more constants),
 * and while all values, including globals, constants and arguments, take fewer bytes than `recountBytes`. The estimate takes
 * bounded time for any program: a block that is too large to follow has no upper bound.
 */
export function estimate(files: readonly SourceFile[], costs: FuelCosts, options: EstimateOptions = {}): readonly Estimate[] {
  const session = sessionOf(files, costs, options);
  if (session === undefined) return [];
  const blocks = commands(session, files);
  // The result of a called procedure is known when its callers are followed, however deep they call each other.
  const procedures = new Map(session.reach.calleesFirst().map((each) => [each.procedure, procedureCost(session, each)]));
  const own = (file: SourceFile) => file.procedures.flatMap((procedure) => procedures.get(procedure) ?? []);
  return [...blocks, ...files.flatMap((file) => [...own(file), ...events(session, file)])];
}

/** The session that all estimates of files that run together share; undefined without files. */
export function sessionOf(
  files: readonly SourceFile[],
  costs: FuelCosts,
  options: EstimateOptions & { readonly given?: ReadonlyMap<string, GivenJson> },
): Session | undefined {
  const [first] = files;
  if (first === undefined) return undefined;
  const given = new Map([...(options.given ?? [])].map(([name, json]) => [name, givenValue(json)]));
  const globalNames = new Set([SELF, ...given.keys(), ...(options.globals ?? [])]);
  const names = [...globalNames, ...(options.constants ?? [])];
  const globals = new State(new Map(names.map((name) => [name, given.get(name) ?? UNKNOWN])));
  const procedures = new Map<string, Defined>();
  for (const file of files) for (const procedure of file.procedures) procedures.set(procedure.name.name, { procedure, file });
  return new Session(files, {
    costs,
    procedures,
    globals: options.anyConstant === true ? State.any : globals,
    globalNames,
    pure: new Set(options.pure),
    keeping: new Set(['ask', 'promptuser', ...(options.keeping ?? [])]),
    call,
    effort: { ...USUAL_EFFORT, ...options.effort },
    file: first,
    frameBytes: frameBytes(files, costs),
  });
}

/** A command block of the run. */
interface Unit {
  readonly file: SourceFile;
  readonly command: CommandBlock;
  /** To be called once, in order. */
  readonly follow: () => Cost;
}

/** All command blocks. They share their variables. */
export function commandCosts(session: Session, files: readonly SourceFile[]): readonly Unit[] {
  let state = session.globals;
  let bytes = 0;
  return files.flatMap((file) =>
    file.commands.map((command) => ({
      file,
      command,
      follow: () => {
        const start: Point = { ...FREE, state, bytes };
        // After the estimator gives up on a block, nothing is known of the variables.
        state = State.any;
        const endings = follow(session, command.body, start, false);
        state = resumed(endings)?.state ?? State.any;
        bytes = worst(endings).bytes;
        return total(session, endings, command);
      },
    })),
  );
}

function commands(session: Session, files: readonly SourceFile[]): Estimate[] {
  return commandCosts(session, files).map(({ file, command, follow }) =>
    bounded(session, file, { kind: 'command', name: '', at: command }, follow),
  );
}

/** One delivery of an event to a handler. */
export function handling(session: Session, event: EventHandler): Cost {
  const state = event.as === undefined ? session.globals : session.globals.with(event.as.name, UNKNOWN);
  const start = { ...fuel(session.costs.steps.call.amount), state };
  return total(session, follow(session, event.body, start, true), event);
}

function procedureCost(session: Session, { procedure, file }: Defined): Estimate {
  return bounded(session, file, { kind: 'procedure', name: procedure.name.name, at: procedure.name }, () => {
    const args = [...procedure.needs, ...procedure.optional].map(() => UNKNOWN);
    return call(session, { procedure, file }, args, procedure.name).cost;
  });
}

function events(session: Session, file: SourceFile): Estimate[] {
  return file.events.map((event) =>
    bounded(session, file, { kind: 'event', name: '', at: event }, () => handling(session, event)),
  );
}

/** Follows a call of a procedure: with its arguments, or after much work only once for all arguments. */
const call: Call = (session, defined, args, at) => {
  const { procedure } = defined;
  if (session.stack.includes(procedure)) {
    const most = session.unbounded(`\`${procedure.name.name}\` calls itself an unknown number of times`, at);
    const least = session.costs.steps.call.amount;
    const calls = session.reach.of(defined);
    return { value: UNKNOWN, cost: { least, most, bytes: most, output: most, scratch: most, calls, certain: Tally.none } };
  }
  const known = session.exact
    ? followedOnce(session, defined, args, at)
    : (session.summaries.get(procedure) ?? summarised(session, defined, at));
  session.cause ??= known.cause;
  return known;
};

/** The result of a call; that of the last call of the procedure when it had the same arguments under the same conditions. */
function followedOnce(session: Session, defined: Defined, args: readonly Abstract[], at: Span): Summary {
  const { path } = session;
  const last = session.last.get(defined.procedure);
  if (last?.path === path && last.args.every((arg, index) => arg === args[index]) && last.args.length === args.length)
    return last;
  const known = { ...withCause(session, () => followed(session, defined, args, at)), path, args };
  session.last.set(defined.procedure, known);
  return known;
}

/** The result of a procedure for any arguments. */
function summarised(session: Session, defined: Defined, at: Span): Summary {
  const { path } = session;
  session.path = null;
  const { needs, optional } = defined.procedure;
  const args = [...needs, ...optional].map(() => UNKNOWN);
  const summary = withCause(session, () => followed(session, defined, args, at));
  session.path = path;
  session.summaries.set(defined.procedure, summary);
  return summary;
}

/** A result with its own cause. */
function withCause(session: Session, work: () => Called): Summary {
  const { cause } = session;
  session.cause = undefined;
  const summary = { ...work(), cause: session.cause };
  session.cause = cause;
  return summary;
}

function followed(session: Session, { procedure, file }: Defined, args: readonly Abstract[], at: Span): Called {
  const caller = session.file;
  const { name } = procedure;
  session.file = file;
  session.stack.push(procedure);
  const start: Point = { ...fuel(session.costs.steps.call.amount), state: bind(session, procedure, args) };
  const body = (): Endings => follow(session, procedure.body, start, true);
  const endings = session.under({ kind: 'procedure', at: name, name: name.name }, body);
  const cost = total(session, endings, at);
  session.stack.pop();
  session.file = caller;
  return { value: resultOf(endings), cost };
}

/** Binds the parameters in order, the needed ones first. The last parameter of a name wins. */
function bind(session: Session, { needs, optional }: Procedure, args: readonly Abstract[]): State {
  const values = new Map([...needs, ...optional].map(({ name }, index) => [name, args[index] ?? NOTHING]));
  if (values.size === 0) return session.globals;
  session.step(values.size >> 3);
  return session.globals.map(values.keys(), (_, name) => values.get(name) ?? NOTHING);
}

function resultOf(endings: Endings): Abstract {
  const end = resumed(endings);
  return end === undefined ? NOTHING : end.state.get(RESULT);
}

/** The point after a body that ended without an error. */
function resumed(endings: Endings): Point | undefined {
  const normal = endings.get('normal');
  const returned = endings.get('return');
  if (normal === undefined || returned === undefined) return normal ?? returned;
  const state = normal.state.join(returned.state).with(RESULT, join(normal.state.get(RESULT), returned.state.get(RESULT)));
  return { ...normal, state, least: Math.min(normal.least, returned.least), certain: normal.certain.both(returned.certain) };
}

/** The highest cost of reaching any end, errors included. */
function worst(endings: Endings): Cost {
  let all: Cost | undefined;
  for (const [, point] of endings.all()) all = all === undefined ? point : worse(all, point);
  return all ?? FREE;
}

function total(session: Session, endings: Endings, at: Span): Cost {
  const all = worst(endings);
  const { least, certain } = resumed(endings) ?? all;
  const recounted = all.most !== Number.POSITIVE_INFINITY && all.bytes + session.frameBytes > session.costs.recountBytes;
  const most = recounted
    ? session.unbounded('its values may take so much memory that the interpreter recounts them', at)
    : all.most;
  return { ...all, least, certain, most };
}

function bounded(
  session: Session,
  file: SourceFile,
  { kind, name, at }: { readonly kind: Estimate['kind']; readonly name: string; readonly at: Span },
  run: () => Cost,
): Estimate {
  session.begin(file);
  const cost = attempt(run);
  const own = { kind, name, file: file.name, ...positionAt(file.lines, at.s) };
  const least = Math.min(cost?.least ?? 0, Number.MAX_SAFE_INTEGER);
  if (cost !== undefined && cost.most <= Number.MAX_SAFE_INTEGER) return { ...own, least, most: cost.most, because: null };
  const message = cost === undefined ? 'it is too large to follow' : 'the bound is too large to count';
  const cause: Cause = (cost === undefined ? undefined : session.cause) ?? { file, message, s: at.s, e: at.e };
  const because = { message: cause.message, file: cause.file.name, ...positionAt(cause.file.lines, cause.s) };
  return { ...own, least, most: null, because };
}

/** Undefined for a unit that is too large to follow. */
export function attempt(run: () => Cost): Cost | undefined {
  try {
    return run();
  } catch (error) {
    // The stack may be too short if the caller itself is deep.
    if (error instanceof TooLarge || error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The most bytes that the frames of a program take. */
/** Bytes of one frame of every procedure and of the outermost frame. Without recursion no more frames exist at once. */
function frameBytes(files: readonly SourceFile[], { values }: FuelCosts): number {
  const of = (names: ReadonlySet<string>): number => values.frame.amount + values.slot.amount * names.size;
  let outermost = of(slotNames(files.flatMap(({ commands }) => commands.map(({ body }) => body))));
  let bytes = 0;
  for (const { procedures, events } of files) {
    for (const { needs, optional, body } of procedures)
      bytes += of(slotNames([body])) + values.slot.amount * (needs.length + optional.length);
    for (const { body } of events) outermost = Math.max(outermost, of(slotNames([body])) + values.slot.amount);
  }
  return bytes + outermost;
}

/** The variables that the blocks mention, and one for each loop. */
function slotNames(blocks: readonly Block[]): ReadonlySet<string> {
  const names = new Set<string>(ERROR_VARIABLES);
  let loops = 0;
  for (const block of blocks) {
    eachStatement(block, (stmt) => {
      for (const name of [...setBy(stmt), ...namesIn(allOf(stmt))]) names.add(name);
      if (stmt.k === 'for') names.add(`loop ${++loops}`);
    });
  }
  return names;
}
