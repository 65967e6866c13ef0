/*
 * What a measured run says of itself: heat by line and procedure, a flame graph, a trace, and one step. Plain data, public JSON. Fuel is
 * exact: the same program with the same answers spends the same fuel at the same lines. Time comes from the worker's clock; it is
 * elapsed time, calls to the host included, and differs from run to run.
 */

/** Heap for a statement or call of a trace, with its line and its path. */
const EVENT_BYTES = 512;

/** Memory that a run needs to be measured, beside that of its values. */
export function probeBytes({
  probe,
  limits,
}: {
  readonly probe?: Probe | undefined;
  readonly limits: { readonly traceEvents: number };
}): number {
  return probe === undefined ? 0 : EVENT_BYTES * limits.traceEvents;
}

/** Sizes of a step; what is beyond is cut or counted. Texts are in UTF-16 units. */
export const STEP_SIZES = {
  forks: 100,
  variables: 200,
  name: 200,
  /** The text of one variable. */
  text: 4000,
  /** Names and texts of all variables. */
  all: 200_000,
} as const;

/** Fuel, and microseconds. */
export interface HeatCost {
  /** Units of work. */
  readonly fuel: number;
  /** Elapsed microseconds. */
  readonly us: number;
}

/** What is measured besides heat. Part of the input of a run; no record contains it. */
export interface Probe {
  /** Whether the run has a {@link Trace}. */
  readonly trace?: boolean;
  /** The statement before which the variables are shown. */
  readonly at?: StepPlace;
}

/** A statement of a run: by its number among all executed statements, or as the so-manieth visit of a line; both from 1. */
export type StepPlace =
  | {
      /** Number of the statement. */
      readonly step: number;
    }
  | {
      /** Name of the source; `ACTIONS` for the program of a turn. */
      readonly source: string;
      /** Line at which the statement begins. */
      readonly line: number;
      /** Which of its executions. */
      readonly visit: number;
    };

/** What the statement that begins at one line spent: its own work and its calls of tools, without procedures and nested statements. */
export interface LineHeat extends HeatCost {
  /** Name of the source. */
  readonly source: string;
  /** Line of the source, from 1. */
  readonly line: number;
  /** How often it was executed. */
  readonly visits: number;
  /** What it spent together with nested statements and the procedures that it called. */
  readonly total: HeatCost;
}

/** What a procedure, an event handler or the command blocks of a source spent. Recursion counts once in `total`. */
export interface ProcedureHeat extends HeatCost {
  /** What it is. */
  readonly kind: 'commands' | 'procedure' | 'event';
  /** As in the stack of an error. */
  readonly name: string;
  /** Name of the source. */
  readonly source: string;
  /** Where it is defined. */
  readonly line: number;
  /** How often it ran. */
  readonly calls: number;
  /** With what it called. `fuel` and `us` of the heat itself are those of its own statements. */
  readonly total: HeatCost;
}

/**
 * A frame of a flame graph or trace. `host`: the host calls a procedure or delivers an event, or an event's name is evaluated; `handler`: an
 * `on error` block; `together`: several calls at the same time.
 */
export interface HeatFrame {
  /** What it is. */
  readonly kind: ProcedureHeat['kind'] | 'statement' | 'handler' | 'tool' | 'prompt' | 'ask' | 'together' | 'host';
  /** Of a statement its first keyword, of a call the tool or model, else the name in a stack of an error. */
  readonly name: string;
  /** Null for the calls of a tool, prompt or model, and for the bottom of the graph, `run`. */
  readonly source: string | null;
  /** Line of the source, from 1; null without a source. */
  readonly line: number | null;
}

/** A path of calls. `fuel` and `us` are its own, without those of the nodes below it. */
export interface FlameNode extends HeatCost {
  /** Index into {@link Flame.frames}. */
  readonly frame: number;
  /** Index of the node around it, which stands earlier in the list; null at the bottom. */
  readonly parent: number | null;
  /** How often it was entered. */
  readonly count: number;
}

/** All paths of calls of a run. The nodes together spent what the run spent. */
export interface Flame {
  /** What the nodes refer to. */
  readonly frames: readonly HeatFrame[];
  /** The paths. The first is the run itself. */
  readonly nodes: readonly FlameNode[];
}

/** Where a run spent its fuel and time. */
export interface Heat extends HeatCost {
  /** Executed statements: the number of the last step. */
  readonly steps: number;
  /** In the order of sources and lines. The fuel of all lines and of `outside` is the fuel of the run. */
  readonly lines: readonly LineHeat[];
  /** What no line spent: taking globals and arguments from the host. */
  readonly outside: HeatCost;
  /** In the order of sources and lines. */
  readonly procedures: readonly ProcedureHeat[];
  /** All paths of calls and statements. */
  readonly flame: Flame;
  /** What was left out or summed up, in words; empty for most runs. */
  readonly notices: readonly string[];
}

/** Begins and ends of frames in the order of time; columns of equal length. An end closes the frame that was opened last. */
export interface Trace {
  /** What the marks refer to. */
  readonly frames: readonly HeatFrame[];
  /** Index into `frames`; -1 for an end. */
  readonly marks: Int32Array;
  /** Microseconds since the start of the program. */
  readonly us: Float64Array;
  /** Fuel spent until then. */
  readonly fuel: Float64Array;
}

/** A variable, or the beginning of its value. */
export interface ShownVariable {
  /** Its name; at most 200 characters. */
  readonly name: string;
  /** Its type, by the name that `typeof` gives it. */
  readonly type: string;
  /** What `emit` prints of it; when it is cut, its beginning. */
  readonly text: string;
  /** Whether `text` is only the beginning. */
  readonly cut: boolean;
  /** Characters of a text (UTF-16 units), items of a list, entries of a map; null for other values. */
  readonly size: number | null;
}

/** A fork on the stack of a step, with its variables. */
export interface StepFork {
  /** As in the stack of an error. */
  readonly name: string;
  /** Name of the source. */
  readonly source: string;
  /** The line that it has reached. */
  readonly line: number;
  /** The variables that are set. */
  readonly variables: readonly ShownVariable[];
  /** Variables that are not shown. */
  readonly more: number;
}

/** A moment of a run: just before a statement is executed. */
export interface Step {
  /** Number of the statement among all executed ones, from 1. */
  readonly step: number;
  /** Name of the source. */
  readonly source: string;
  /** Line of the statement, from 1. */
  readonly line: number;
  /** Column of the statement in code points, from 1. */
  readonly column: number;
  /** Which visit of this line it is, from 1. */
  readonly visit: number;
  /** Fuel spent before the statement, its own price not included. */
  readonly fuel: number;
  /** The forks, the innermost first. */
  readonly stack: readonly StepFork[];
  /** Outer forks that are not shown. */
  readonly more: number;
}

/** Everything that a measured run says of itself. */
export interface RunProfile {
  /** Where fuel and time went. */
  readonly heat: Heat;
  /** Null when none was asked for. */
  readonly trace: Trace | null;
  /** Null when none was asked for, and when the run did not come to that statement. */
  readonly step: Step | null;
}

/** A recorded turn that was executed again, without tools, to measure it. */
interface MeasuredTurn {
  /** Id of the session. */
  readonly sid: string;
  /** Number of the turn, from 1. */
  readonly turn: number;
  /** The verdict of the replay (`TurnReplay`): only with `same` and `prefix` is the measurement that of the recorded turn. */
  readonly verdict: string;
  /** Why it could not be executed, or where it differs; null when it is the same. */
  readonly why: string | null;
}

/** The heat of a recorded turn. */
export interface TurnHeat extends MeasuredTurn {
  /** The sources in the order of the run: libraries, then `ACTIONS`. */
  readonly sources: readonly { readonly name: string; readonly text: string }[];
  /** Null for a turn that could not be executed. */
  readonly heat: Heat | null;
}

/** One moment of a recorded turn. The statement before it has the number `step.step - 1`. */
export interface TurnStep extends MeasuredTurn {
  /** Executed statements of the turn: the number of the last step. 0 for a turn that could not be executed. */
  readonly steps: number;
  /** Executions of the statement at the line that was asked for, or at the line of the step. */
  readonly visits: number;
  /** Null when the turn did not come there. */
  readonly step: Step | null;
}
