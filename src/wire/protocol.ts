/**
 * What crosses the two boundaries of a run: host process ↔ worker process (length-prefixed JSON frames) and worker
 * realm ↔ isolate (JSON text). Only strings and numbers cross the second one. Values of scripts travel as tagged JSON
 * (`TaggedJson`, see `codec.ts`), never as live objects.
 *
 * One run: the host sends `run`; the worker parses the sources in its own realm, hands the trees to a fresh isolate, and
 * answers with any number of `out` and `call` frames, then one `result`. While a `call` is open exactly one side speaks:
 * the worker waits for one `GuestReply`; `var.get`, `var.set` and `const` are answered with a `var` frame and do not close the
 * call, `ok`, `error` and `halt` do.
 */

import type {
  Block,
  CommandBlock,
  Environment,
  Estimate,
  EventHandler,
  Finding,
  LineTable,
  Procedure,
  SourceFile,
  SyntaxDiagnostic,
} from '../../grammar/index.ts';
import type { ErrorInfo } from './errors.ts';
import type { LimitValues } from './limits.ts';

/** Raised when the two sides of a pipe were built from different sources. */
export const PROTOCOL_VERSION = 1;

/** A script value as JSON, with tags for what JSON lacks (DESIGN 5); see `codec.ts`. */
export type TaggedJson = null | boolean | number | string | readonly TaggedJson[] | { readonly [key: string]: TaggedJson };

/** One NeuroScript source with the name that positions show. */
export interface Source {
  /** Shown in positions: the path as the user gave it, `-` for standard input, `lib`, `src`, `ACTIONS`. */
  readonly name: string;
  readonly text: string;
  /** True for a library: a command block in it is a usage error, before anything runs. */
  readonly definitions?: boolean;
  /** True for what was typed at a prompt: statements alone are one command block, an expression alone is emitted. */
  readonly interactive?: boolean;
}

/** A source of a run: as it is, or the number under which the worker keeps it. */
export type SentSource = Source | { readonly kept: number };

/** An event that the host delivers: exact-match name, who sent it, and what came with it (language.md 6.13). */
export interface EventInput {
  readonly name: string;
  readonly source: string;
  readonly payload: TaggedJson;
  /** What the handler finds as `ID`: a name no other event has. Counted within the run when absent. */
  readonly id?: string;
  /** What the handler finds as `TS`: when it happened, Unix nanoseconds. nil when absent: an isolate has no clock. */
  readonly ts?: number;
}

/** A variable of the command blocks with its value. */
export interface Variable {
  readonly name: string;
  readonly value: TaggedJson;
}

/** The variables of the command blocks at their end. */
export interface Variables {
  readonly kept: readonly Variable[];
  /** Names of those whose value cannot leave the isolate: it is too large or nests too deeply. */
  readonly lost: readonly string[];
}

/** What a worker needs to know for one run; everything that varies comes in here, so that a run can be replayed. */
export interface RunInput {
  /** All files share one sandbox: definitions of all, then command blocks in order, then `call`, then `events`. */
  readonly sources: readonly Source[];
  readonly globals: Readonly<Record<string, TaggedJson>>;
  /** Global constants: every fork reads them, a variable of the same name hides them (language.md 5.5). None when absent. */
  readonly constants?: Readonly<Record<string, TaggedJson>>;
  /** Canonical names of the pure tools that the program may call; they run inside the isolate. Every other tool is the host's. */
  readonly pure?: readonly string[];
  readonly call: { readonly name: string; readonly args: readonly TaggedJson[] } | null;
  readonly events: readonly EventInput[];
  /** What the command blocks find set; then the result has what they leave set. */
  readonly variables?: readonly Variable[];
  /** A procedure takes the place of an earlier one of its name; otherwise that is code 42. */
  readonly redefine?: boolean;
  readonly limits: LimitValues;
  /** Id of the turn's fork; light forks inside the isolate are named `<forkId>.<n>`. */
  readonly forkId: string;
  /** True in a turn: breaching a size limit of the output is `ERR_ENV_SIZE`, and sources must be exactly one command block. */
  readonly turn: boolean;
  /** True when the host can answer `prompt` calls (P35). */
  readonly stdin: boolean;
  /** When a recorded run was stopped by a clock: the fuel that it had spent, and which clock. The clocks then say nothing else. */
  readonly stopAt?: { readonly fuel: number; readonly clock: 1 | 2 };
}

/**
 * What the worker hands to the guest: as {@link RunInput}, parsed. A number stands for a part of a file that the worker keeps
 * until the guest asks for it: most procedures of a library are not called in most runs.
 */
export interface GuestInput extends Omit<RunInput, 'sources'> {
  readonly files: readonly GuestFile[];
}

/** What the guest uses of a parsed file. */
export interface GuestFile extends Pick<SourceFile, 'name'> {
  readonly lines: LineTable | number;
  /** A name alone stands for a procedure that the worker keeps under the number of its place here. */
  readonly procedures: readonly (GuestProcedure | string)[];
  readonly events: readonly (Pick<EventHandler, 's' | 'event' | 'named' | 'as'> & { readonly body: Block | number })[];
  readonly commands: readonly Pick<CommandBlock, 's' | 'body'>[];
}

/** What the guest uses of a procedure. */
export type GuestProcedure = Pick<Procedure, 's' | 'name' | 'needs' | 'optional' | 'body'>;

/** How far a run came: where it ended, or where it failed. */
export type Phase = 'request' | 'parse' | 'load' | 'exec' | 'call' | 'events';

/** What a run used up; always part of a result. */
export interface Usage {
  readonly fuel: number;
  /** CPU time of the isolate, milliseconds, since the program's start (after parsing). */
  readonly cpuMs: number;
  /** Elapsed milliseconds since the program's start (after parsing), tool calls included. */
  readonly wallMs: number;
  /** Most bytes of script values alive at once, by the published accounting; not the process's memory. */
  readonly peakMemoryBytes: number;
  readonly toolCalls: number;
  readonly outputBytes: number;
}

/** An uncleared error of an event handler; it does not fail the run (ruling 16). */
export interface EventError {
  readonly event: string;
  readonly error: ErrorInfo;
}

/** How a run ended, without what was emitted, which went ahead in `out` frames. */
export interface GuestResult {
  readonly ok: boolean;
  readonly phase: Phase;
  readonly result: TaggedJson;
  readonly eventErrors: readonly EventError[];
  readonly error: ErrorInfo | null;
  /** After command blocks that were given `variables` and came to their end. */
  readonly variables?: Variables;
  readonly fuel: number;
  readonly peakMemoryBytes: number;
  readonly toolCalls: number;
  readonly outputBytes: number;
}

/** One whispered text and whom it was for. */
export interface Whisper {
  readonly to: string;
  readonly text: string;
}

/** What scripts said since the last `out` frame, in order within each stream. Sent ahead of every `call` and of the end. */
export interface OutFrame {
  readonly t: 'out';
  readonly emits: readonly string[];
  readonly values: readonly TaggedJson[];
  readonly whispers: readonly Whisper[];
}

/** Where in a script a call to the host was made. */
export interface CallSite {
  /** Id of the fork that made the call: its variables are the ones `var.get` and `var.set` mean. */
  readonly fork: string;
  readonly source: string;
  readonly line: number;
  readonly column: number;
}

/** A request of the guest to the host; the script stands still until it is answered. */
export type GuestCall =
  | {
      readonly t: 'tool';
      readonly seq: number;
      readonly name: string;
      readonly args: readonly TaggedJson[];
      readonly at: CallSite;
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
    };

/** What a run has left where it asks: a nested loop gets no more than that (P34). */
export interface AskLeft {
  readonly fuel: number;
  readonly memoryBytes: number;
  readonly toolCalls: number;
}

/** What a nested loop used up, which its caller pays. */
export interface AskSpent {
  readonly fuel: number;
  readonly toolCalls: number;
  /** CPU time of its isolates, milliseconds; fractions count. */
  readonly cpuMs: number;
  /** Turns that were begun, those of loops within it included. */
  readonly turns: number;
  /** Model tokens of all its replies, as far as its agents tell; those of loops within it included. */
  readonly tokens: number;
}

/** What the guest writes to the worker, and the worker passes on to the host. `var` answers a `var.get`, `var.set` or `const`. */
export type GuestFrame =
  | OutFrame
  | GuestCall
  | { readonly t: 'var'; readonly found: boolean; readonly value: TaggedJson; readonly error: string | null };

/** The host's answer to a `GuestCall`, or a question about variables and constants while the call is open. */
export type GuestReply =
  | { readonly t: 'ok'; readonly value: TaggedJson; readonly spent?: AskSpent }
  /** A failure the script may catch. `code` is a language code (`NS_CODES`). */
  | { readonly t: 'error'; readonly code: number; readonly message: string; readonly hint?: string; readonly spent?: AskSpent }
  /** A failure no script can catch: policy breach under `halt`, cancellation, wall time, host-side quota. */
  | { readonly t: 'halt'; readonly error: ErrorInfo }
  | { readonly t: 'var.get'; readonly name: string }
  | { readonly t: 'var.set'; readonly name: string; readonly value: TaggedJson }
  /**
   * Defines a global constant while a trusted tool's call is open (language.md 9.8); `redefine` lets one that exists get
   * another value. Answered with `var`, whose `error` says why the name cannot be had.
   */
  | { readonly t: 'const'; readonly name: string; readonly value: TaggedJson; readonly redefine: boolean };

/** Host process → worker process. */
export type HostFrame =
  | {
      readonly t: 'run';
      readonly id: number;
      readonly input: Omit<RunInput, 'sources'> & { readonly sources: readonly SentSource[] };
    }
  /** Keeps a source for runs to come, which only name its number; not answered. */
  | { readonly t: 'keep'; readonly number: number; readonly source: Source }
  | { readonly t: 'drop'; readonly number: number }
  /** There is time to make the next run's isolate now; not answered. Without this it is made when the run comes. */
  | { readonly t: 'prepare' }
  | { readonly t: 'parse'; readonly id: number; readonly sources: readonly Source[]; readonly sourceBytes: number }
  | {
      readonly t: 'check';
      readonly id: number;
      readonly sources: readonly Source[];
      readonly sourceBytes: number;
      readonly environment: Environment;
    }
  | { readonly t: 'format'; readonly id: number; readonly source: Source; readonly sourceBytes: number }
  | GuestReply
  | { readonly t: 'exit' };

/** Worker process → host process. */
export type WorkerFrame =
  | {
      readonly t: 'hello';
      readonly version: number;
      readonly pid: number;
      readonly node: string;
      /** Scopes of Node's permission model that the worker found closed just before this frame. */
      readonly dropped: readonly string[];
    }
  /** The sources are parsed; the program starts now. Clock of `usage` and of the host's wall timer. */
  | { readonly t: 'started'; readonly id: number }
  | GuestFrame
  | {
      readonly t: 'result';
      readonly id: number;
      readonly result: GuestResult;
      readonly usage: Usage;
      readonly errors: readonly Diagnostic[];
      /** The isolate hit a hard limit: what it had not sent is lost, and the worker exits after this frame. */
      readonly last: boolean;
    }
  | {
      readonly t: 'parsed';
      readonly id: number;
      readonly diagnostics: readonly Diagnostic[];
      readonly files: readonly ParsedFile[];
      /** Names of the sources that may only lack their rest; absent when there are none. */
      readonly open?: readonly string[];
    }
  | ({ readonly t: 'checked'; readonly id: number } & CheckReport)
  | ({ readonly t: 'formatted'; readonly id: number } & FormatReport)
  /** The worker cannot go on; it exits after this frame. */
  | { readonly t: 'fatal'; readonly message: string };

/** A syntax error with the file it is in. */
export interface Diagnostic extends SyntaxDiagnostic {
  readonly file: string;
}

/** What surrounds a program when it runs, as far as a check is told. */
export type CheckEnvironment = Environment;

/** Something the linter says about a place. Its code is one of the table in `docs/lints.md`. */
export interface LintFinding extends Omit<Finding, 'code'> {
  readonly code: string;
}

/** Fuel that a block takes, at least and at most; from the worker, so nothing but advice. */
export type FuelEstimate = Estimate;

/** Everything that can be said about files without running them. */
export interface CheckReport {
  /** Syntax errors; when there are any, nothing else is looked for. */
  readonly diagnostics: readonly Diagnostic[];
  /** The files that parse. */
  readonly files: readonly ParsedFile[];
  readonly findings: readonly LintFinding[];
  readonly estimates: readonly FuelEstimate[];
}

/** A formatted source; null when it has syntax errors. */
export interface FormatReport {
  readonly text: string | null;
  readonly diagnostics: readonly Diagnostic[];
}

/** What the host may know of a parsed file without seeing its tree. */
export interface ParsedFile {
  readonly name: string;
  readonly kind: SourceFile['kind'];
  readonly commandBlocks: number;
  readonly procedures: readonly string[];
  /** How each of {@link procedures} is called: `name(a, [b])`. */
  readonly signatures: readonly string[];
  readonly metadata: SourceFile['metadata'];
  readonly events: number;
  /** Canonical names of the tools it calls, sorted, each once. */
  readonly tools: readonly string[];
  /** What was typed at a prompt without `command` around it. */
  readonly typed?: NonNullable<SourceFile['typed']>;
}
