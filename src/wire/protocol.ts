/**
 * The messages at the two boundaries of a run: host process ↔ worker process (length-prefixed JSON frames) and worker realm ↔
 * isolate (JSON texts). Only strings and numbers cross the second boundary. Values of scripts travel as tagged JSON (`TaggedJson`,
 * see `codec.ts`), never as live objects.
 *
 * In one run the host sends `run`. The worker parses the sources in its own realm, passes the trees to an isolate, and answers
 * with any number of `out` and call frames and one `result`. A `together` frame makes several calls at once. While a call is open, one
 * side sends at a time: the worker waits for a `GuestReply`. It answers `var.get`, `var.set` and `const` with a `var` frame; `ok`,
 * `error` and `halt` close the call, and `all` closes a `together` frame.
 */

import type { Block, CommandBlock, EventHandler, LineTable, Procedure, SourceFile } from '../../grammar/index.ts';
import type { CompiledFrame } from './codecache.ts';
import type { ErrorInfo } from './errors.ts';
import type { HeatFrame, Probe, Step } from './heat.ts';
import type { AnswerLabels, CallLabels, FlowInput, SaidLabels } from './labels.ts';
import type { LimitValues } from './limits.ts';
import type { Admission, CheckReport, ForeseenReport, FormatReport, ParsedFile } from './sourcereports.ts';

/** Changes with the protocol; a worker with another version is refused. */
export const PROTOCOL_VERSION = 1;

/** What the host will do with a program. */
export type { ForeseeOptions } from '../../grammar/index.ts';

/** A script's value as JSON, with tags for values that JSON lacks; see `codec.ts`. */
export type TaggedJson = null | boolean | number | string | readonly TaggedJson[] | { readonly [key: string]: TaggedJson };

/** A NeuroScript source: its text, and the name that positions in it show. */
export interface Source {
  /** The name in positions: the path that the user gave, `-` for standard input, `lib`, `src`, `ACTIONS`. */
  readonly name: string;
  /** The text. */
  readonly text: string;
  /** True for a library. A command block in it is a usage error, and nothing runs. */
  readonly definitions?: boolean;
  /** True for an input at a prompt: bare statements form one command block, and a bare expression is emitted. */
  readonly interactive?: boolean;
}

/** An event that the host delivers. Handlers match its name exactly. */
export interface EventInput {
  /** The name, which handlers match exactly. */
  readonly name: string;
  /** Where the event comes from, which handlers see. */
  readonly source: string;
  /** What the event carries, as tagged JSON. */
  readonly payload: TaggedJson;
  /** The unique `ID` in the handler; a count within the run when absent. */
  readonly id?: string | undefined;
  /** The `TS` in the handler, Unix nanoseconds; nil when absent, because an isolate has no clock. */
  readonly ts?: number | undefined;
}

/** A variable of the command blocks with its value. */
export interface Variable {
  readonly name: string;
  readonly value: TaggedJson;
  /** Names of the labels that it carries, under rules about origin; absent for none. */
  readonly labels?: readonly string[] | undefined;
}

/** The variables of the command blocks at their end. */
export interface Variables {
  readonly kept: readonly Variable[];
  /** Names of variables whose values are too large or too deeply nested to leave the isolate. */
  readonly lost: readonly string[];
}

/** The input of one run. Everything that varies is part of it, so that a run can be replayed. */
export interface RunInput {
  /** All sources share one sandbox: first come all definitions, then command blocks in order, then `call`, then `events`. */
  readonly sources: readonly Source[];
  readonly globals: Readonly<Record<string, TaggedJson>>;
  /** Global constants for all forks; a variable of the same name hides a constant. None when absent. */
  readonly constants?: Readonly<Record<string, TaggedJson>> | undefined;
  /** Canonical names of the pure tools that the program may call; they run inside the isolate. The host runs all other tools. */
  readonly pure?: readonly string[] | undefined;
  readonly call: { readonly name: string; readonly args: readonly TaggedJson[] } | null;
  readonly events: readonly EventInput[];
  /** The variables that the command blocks start with; when present, the result has those that they end with. */
  readonly variables?: readonly Variable[] | undefined;
  /** A procedure replaces an earlier one of the same name; without this, that is code 42. */
  readonly redefine?: boolean;
  readonly limits: LimitValues;
  /** Id of the fork; light forks inside the isolate are named `<forkId>.<n>`. */
  readonly forkId: string;
  /** True in a turn: output beyond a size limit is `ERR_ENV_SIZE`, and the source must be exactly one command block. */
  readonly turn: boolean;
  /** True when the host can answer `prompt` calls. */
  readonly stdin: boolean;
  /** For a recorded run that a clock stopped: the fuel at that moment, and the clock. Then no clock stops the run otherwise. */
  readonly stopAt?: { readonly fuel: number; readonly clock: 1 | 2 };
  /** The labels that the run begins with, under flow rules. Absent without flow rules. */
  readonly flow?: FlowInput | undefined;
  /** Measures the run, which changes neither its result nor its journal. A recorded input has none. */
  readonly probe?: Probe | undefined;
  /** What the sources must be before the program starts. A recorded input has none. */
  readonly admission?: Admission | undefined;
}

/** The input of a run without a program. */
export const EMPTY_RUN = {
  sources: [],
  globals: {},
  call: null,
  events: [],
  forkId: 'empty',
  turn: false,
  stdin: false,
} as const;

/**
 * The input of the guest: {@link RunInput} with parsed sources. A number stands for a part of a file that the worker keeps until the
 * guest asks for it, because most runs call few procedures of a library.
 */
export interface GuestInput extends Omit<RunInput, 'sources' | 'admission'> {
  readonly files: readonly GuestFile[];
}

/** The part of a parsed file that the guest uses. */
export interface GuestFile extends Pick<SourceFile, 'name'> {
  readonly lines: LineTable | number;
  /** A bare name stands for a procedure that the worker keeps under its index in this list. */
  readonly procedures: readonly (GuestProcedure | string)[];
  readonly events: readonly (Pick<EventHandler, 's' | 'event' | 'named' | 'as'> & { readonly body: Block | number })[];
  readonly commands: readonly (Pick<CommandBlock, 's'> & { readonly body: GuestBlock })[];
}

/** A block, of which the worker keeps the later statements in parts: each is read when it is compiled, and forgotten then. */
export interface GuestBlock extends Block {
  /** Parts of the file, each with the next statements. */
  readonly more?: readonly number[];
}

/** The part of a procedure that the guest uses. */
export type GuestProcedure = Pick<Procedure, 's' | 'name' | 'needs' | 'optional' | 'body'>;

/** The phase in which a run ended or failed. */
export type Phase = 'request' | 'parse' | 'load' | 'exec' | 'call' | 'events';

/** What a run used; part of every result. */
export interface Usage {
  /** Fuel that was used. */
  readonly fuel: number;
  /** CPU time of the isolate, milliseconds, since the program's start (after parsing). */
  readonly cpuMs: number;
  /** Elapsed milliseconds since the program's start (after parsing), tool calls included. */
  readonly wallMs: number;
  /** Most bytes of script values alive at once, by the published cost table; not the memory of the process. */
  readonly peakMemoryBytes: number;
  /** Calls of tools, without those that tools made. */
  readonly toolCalls: number;
  /** Bytes of all emits with their line feeds, in UTF-8. */
  readonly outputBytes: number;
  /** Milliseconds that the run waited for a worker, before `wallMs` begins. */
  readonly queueMs: number;
  /** US dollars for calls, and for the model tokens of what the run asked; absent for none. */
  readonly cost?: number | undefined;
}

/** What a worker can know of {@link Usage}. */
export type WorkerUsage = Omit<Usage, 'queueMs' | 'cost'>;

/** An error that an event handler did not clear. It does not fail the run. */
export interface EventError {
  /** Name of the event. */
  readonly event: string;
  /** The error. */
  readonly error: ErrorInfo;
}

/** How a run ended. Its output has been sent before, in `out` frames. */
export interface GuestResult {
  readonly ok: boolean;
  readonly phase: Phase;
  readonly result: TaggedJson;
  readonly eventErrors: readonly EventError[];
  readonly error: ErrorInfo | null;
  /** Present when the input had `variables` and the command blocks ran to their end. */
  readonly variables?: Variables | undefined;
  /** Labels of what was said. Present under flow rules. */
  readonly labels?: SaidLabels | undefined;
  readonly fuel: number;
  readonly peakMemoryBytes: number;
  readonly toolCalls: number;
  readonly outputBytes: number;
}

/** One whispered text and its target. */
export interface Whisper {
  /** The handle that it was whispered to. */
  readonly to: string;
  /** The text. */
  readonly text: string;
}

/** Output since the last `out` frame, in order within each stream. Sent before every call and before the result. */
export interface OutFrame {
  readonly t: 'out';
  /** The text of each `emit`. */
  readonly emits: readonly string[];
  /** The value of each `emit`, as tagged JSON. */
  readonly values: readonly TaggedJson[];
  /** What was whispered. */
  readonly whispers: readonly Whisper[];
}

/** The place of a call to the host in a script. */
export interface CallSite {
  /** Id of the fork that made the call; `var.get` and `var.set` refer to its variables. */
  readonly fork: string;
  /** Name of the source. */
  readonly source: string;
  /** 1-based line. */
  readonly line: number;
  /** 1-based column, in code points. */
  readonly column: number;
  /** For a call of a `together` block: the `seq` of the first call of the block. Absent for a call that runs alone. */
  readonly together?: number | undefined;
}

/** A request of the guest to the host. The script waits for the answer. */
export type GuestCall =
  | {
      readonly t: 'tool';
      readonly seq: number;
      readonly name: string;
      readonly args: readonly TaggedJson[];
      readonly at: CallSite;
      /** Labels of the arguments; absent when there are none. */
      readonly labels?: CallLabels | undefined;
    }
  | { readonly t: 'prompt'; readonly seq: number; readonly text: string; readonly at: CallSite }
  | {
      readonly t: 'ask';
      readonly seq: number;
      readonly model: string;
      readonly prompt: TaggedJson;
      readonly options: TaggedJson;
      readonly left: AskLeft;
      readonly at: CallSite;
      /** Labels of what is asked; absent when there are none. */
      readonly labels?: CallLabels | undefined;
    };

export type ToolGuestCall = Extract<GuestCall, { readonly t: 'tool' }>;

/**
 * Tool calls that run at the same time. Each is a branch: a fork with an id of its own. Their `seq` are consecutive. The script waits
 * until all have ended; the answer has their ends in the order of the calls.
 */
export interface TogetherFrame {
  readonly t: 'together';
  readonly calls: readonly ToolGuestCall[];
}

/** A failure that the script may catch. `code` is a numeric code of the language (`NS_CODES`). */
type CallFailure = { readonly code: number; readonly message: string; readonly hint?: string | undefined };

/** How a call of a {@link TogetherFrame} ended. */
export type BranchEnd = Labelled & ({ readonly value: TaggedJson } | CallFailure);

/** What a run has left at an `ask`: the bounds of the nested loop. */
export interface AskLeft {
  readonly fuel: number;
  readonly memoryBytes: number;
  readonly toolCalls: number;
}

/** What a nested loop used. Its caller pays for it. */
export interface AskSpent {
  readonly fuel: number;
  readonly toolCalls: number;
  /** CPU time of its isolates, milliseconds, with fractions. */
  readonly cpuMs: number;
  /** Turns that began, those of nested loops included. */
  readonly turns: number;
  /** Model tokens of all replies that its agents report, those of nested loops included. */
  readonly tokens: number;
  /** US dollars for calls and model tokens; absent for none. */
  readonly cost?: number | undefined;
}

/**
 * A part of what a measured run says of itself. Lists of numbers have rows of a fixed length, and name frames by their number: that of
 * the frame in all frames that were sent so far. Frame 0 and node 0 are the run itself.
 */
export interface ProbeFrame {
  readonly t: 'probe';
  readonly frames: readonly HeatFrame[];
  /** Begins and ends in the order of time: frame or -1, microseconds and fuel since the mark before. */
  readonly marks: readonly number[];
  /** Frame, number of the node around it, count, fuel, microseconds. */
  readonly nodes: readonly number[];
  /** What counts for the lines of frames: frame, visits, fuel, microseconds. */
  readonly spent: readonly number[];
  /** In the last part. */
  readonly end?: {
    readonly steps: number;
    /** Begins that are not among the marks, and entries of frames that have no node or line of their own. */
    readonly unmarked: number;
    readonly folded: number;
    readonly step: Step | null;
  };
}

/** A frame of the guest, which the worker passes to the host. `var` answers a `var.get`, `var.set` or `const`. */
export type GuestFrame =
  | OutFrame
  | GuestCall
  | TogetherFrame
  | ProbeFrame
  | { readonly t: 'var'; readonly found: boolean; readonly value: TaggedJson; readonly error: string | null };

/** What the host says of an answer under flow rules. */
interface Labelled {
  /** Absent for an answer that only carries the labels of the arguments. */
  readonly labels?: AnswerLabels | undefined;
}

/** Work that the host did for a call. */
interface HostWork {
  /** Its fuel, which the program pays; absent for none. */
  readonly work?: number | undefined;
}

/** The host's answer to a call, or a question about variables and constants while the call is open. */
export type GuestReply =
  | (HostWork & Labelled & { readonly t: 'ok'; readonly value: TaggedJson; readonly spent?: AskSpent })
  | (HostWork & Labelled & CallFailure & { readonly t: 'error'; readonly spent?: AskSpent })
  /** Closes a {@link TogetherFrame}. */
  | (HostWork & { readonly t: 'all'; readonly ends: readonly BranchEnd[] })
  /** A failure that no script can catch: policy breach under `halt`, cancellation, wall time, a quota of the host. */
  | { readonly t: 'halt'; readonly error: ErrorInfo }
  | { readonly t: 'var.get'; readonly name: string }
  | { readonly t: 'var.set'; readonly name: string; readonly value: TaggedJson }
  /**
   * Defines a global constant during the call of a trusted tool; with `redefine` it replaces an existing one. The answer is `var`,
   * whose `error` says why the name is not available.
   */
  | { readonly t: 'const'; readonly name: string; readonly value: TaggedJson; readonly redefine: boolean };

/** Worker process → host process. */
export type WorkerFrame =
  | {
      readonly t: 'hello';
      readonly version: number;
      readonly pid: number;
      readonly node: string;
      /** Scopes of Node's permission model that the worker found closed before it sent this frame. */
      readonly dropped: readonly string[];
      readonly cachesUsed?: boolean;
    }
  | CompiledFrame
  /** The sources are parsed and the program starts. The times of `usage` and the host's wall timer count from here. */
  | { readonly t: 'started'; readonly id: number }
  | GuestFrame
  | {
      readonly t: 'result';
      readonly id: number;
      readonly result: GuestResult;
      readonly usage: WorkerUsage;
      readonly errors: CheckReport['diagnostics'];
      /** The calls for which the sources were rejected; absent when there are none. */
      readonly findings?: CheckReport['findings'] | undefined;
      /** The isolate exceeded a hard limit: unsent output is lost, and the worker exits after this frame. */
      readonly last: boolean;
    }
  | {
      readonly t: 'parsed';
      readonly id: number;
      readonly diagnostics: CheckReport['diagnostics'];
      readonly files: readonly ParsedFile[];
      /** Names of sources that may only be incomplete; absent when there are none. */
      readonly open?: readonly string[];
    }
  | ({ readonly t: 'checked'; readonly id: number } & CheckReport)
  | ({ readonly t: 'foreseen'; readonly id: number } & ForeseenReport)
  | ({ readonly t: 'formatted'; readonly id: number } & FormatReport)
  /** The worker cannot continue and exits after this frame. */
  | { readonly t: 'fatal'; readonly message: string };
