import type { TurnContext, TurnInit } from '../context/index.ts';
import type { Interpreter, Runtime } from '../runtime/index.ts';
import { LIMITS, type LimitOptions, tighten } from '../sandbox/limits.ts';
import type { PolicyOptions, ToolDefinition } from '../tools/index.ts';
import type { JournalEntry } from '../wire/journal.ts';
import type { Diagnostic, EventInput, LimitValues, OutFrame, ParsedFile, Source, TaggedJson } from '../wire/protocol.ts';
import type { RunResult } from '../wire/result.ts';

/** What the sandbox of one turn is made for. */
export interface TurnForkInit {
  /** Session, turn and nonce; the caller closes it. */
  readonly context: TurnContext;
  /** Tools of this turn alone, next to the host's own. */
  readonly tools: readonly ToolDefinition[];
  readonly limits: LimitValues;
  /** Must admit every call in addition to the runtime's policy. */
  readonly policy?: PolicyOptions;
}

/** One execution of ACTIONS. */
export interface TurnExecution {
  readonly source: Source;
  /** Definitions that come before the source. */
  readonly definitions?: readonly Source[];
  /** Delivered to handlers once the source has run. */
  readonly events?: readonly EventInput[];
  /** Variables that the program finds set. */
  readonly globals: Readonly<Record<string, TaggedJson>>;
  onOut(out: OutFrame): void;
  /** Called when a call to the host has ended. */
  onCall(entry: JournalEntry): void;
}

/** The sandbox of one turn: a fresh interpreter, in a fresh isolate (A3-2-4). */
export interface TurnFork {
  /** Why a tool of this name must not be called, or null; an unknown tool is not denied, it fails when it is called. */
  denied(tool: string): string | null;
  /**
   * Rejects for misuse and state alone (`ConfigError`, `RuntimeClosedError`, `BusyError`); what a program, a limit or a
   * cancellation does is a result.
   */
  execute(execution: TurnExecution): Promise<RunResult>;
}

/** What the loop needs of a runtime. */
export interface TurnExecutor {
  /** The limits every turn gets at most. */
  readonly limits: LimitValues;
  /** A context for one turn, derived from the host's own and never from nothing. */
  context(init: TurnInit): TurnContext;
  /** Parses without executing. */
  inspect(source: Source): Promise<{ readonly diagnostics: readonly Diagnostic[]; readonly files: readonly ParsedFile[] }>;
  fork(init: TurnForkInit): TurnFork;
}

/**
 * Turns on a real runtime: each in a fork of `root`, whose loaded definitions and globals a turn's program finds. Sizes of
 * what a turn may say are the protocol's, or the runtime's where those are tighter (A3-3.4-7, AMB-23).
 */
export function runtimeExecutor(runtime: Runtime, root: Interpreter = runtime.interpreter()): TurnExecutor {
  return {
    limits: tighten(runtime.limits, protocolSizes()),
    context: (init) => runtime.turn(init),
    inspect: (source) => runtime.check([source]),
    fork({ context, tools, limits, policy }) {
      const id = `${context.sessionId}#${context.turnIndex}`;
      const fork = root.fork({ turn: context, tools, limits, id, ...(policy === undefined ? {} : { policy }) });
      return {
        denied: (tool) => fork.denied(tool),
        execute: ({ source, definitions = [], events = [], globals, onOut, onCall }) =>
          fork.perform({ sources: [...definitions, source], events, globals, turn: true, onOut, onCall, signal: context.signal }),
      };
    },
  };
}

function protocolSizes(): LimitOptions {
  return Object.fromEntries(LIMITS.flatMap(({ key, turnDefault }) => (turnDefault === undefined ? [] : [[key, turnDefault]])));
}
