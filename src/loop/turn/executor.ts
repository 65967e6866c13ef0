import type { TurnContext, TurnInit } from '../../context/index.ts';
import type { Fork, Interpreter, RecordedRun, Runtime } from '../../runtime/index.ts';
import { version } from '../../runtime/version.ts';
import { type LimitOptions, tighten } from '../../sandbox/limits.ts';
import { catalogueDigest, digestIn, Halt, type PolicyOptions, resultJson, type ToolDefinition } from '../../tools/index.ts';
import { decode } from '../../wire/codec.ts';
import { NeuroScriptError } from '../../wire/errors.ts';
import type { JournalEntry } from '../../wire/journal.ts';
import { LIMITS, type LimitValues } from '../../wire/limits.ts';
import {
  type Diagnostic,
  type EventInput,
  type OutFrame,
  type ParsedFile,
  PROTOCOL_VERSION,
  type RunInput,
  type Source,
  type TaggedJson,
} from '../../wire/protocol.ts';
import type { RunResult } from '../../wire/result.ts';
import type { HostFacts } from '../replay/facts.ts';

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
  /** Called with what the worker is given; a turn of an executor that never calls it cannot be executed again. */
  onInput?(input: RunInput): void;
  /** A recorded run in place of the above. */
  readonly again?: RecordedRun;
  /** Whether a tool may put the run aside. */
  readonly mayWait?: boolean;
}

/** The sandbox of one turn: a fresh interpreter, in a fresh isolate (A3-2-4). */
export interface TurnFork {
  /** Why a tool of this name must not be called, or null; an unknown tool is not denied, it fails when it is called. */
  denied(tool: string): string | null;
  /** What the host is made of, for the record. */
  facts?(): HostFacts;
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
  /** Called once a session has ended: what its tools kept for it goes. Never rejects. */
  end?(sid: string): Promise<void>;
  /** Digest of what a tool of the host promises; null for an unknown one. */
  promise?(tool: string): string | null;
  /** Why a value cannot be the result of a tool; null when it can, or when the tool itself will say. */
  misfit?(tool: string, value: TaggedJson): Promise<string | null>;
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
    async end(sid) {
      try {
        await runtime.endSession(sid);
      } catch (error) {
        // The session has been decided; a file that cannot be removed changes nothing about it.
        root.host.logger.error({ error, sid }, 'what the tools of a session kept could not be removed');
      }
    },
    promise: (tool) => digestIn(root.fork().tools, tool),
    misfit: async (tool, value) => misfit(root.fork(), tool, value),
    fork({ context, tools, limits, policy }) {
      const id = `${context.sessionId}#${context.turnIndex}`;
      const fork = root.fork({ turn: context, tools, limits, id, ...(policy === undefined ? {} : { policy }) });
      return turnFork(fork, context);
    },
  };
}

/** A fork of a runtime as the sandbox of one turn. */
export function turnFork(fork: Fork, context: TurnContext): TurnFork {
  return {
    denied: (tool) => fork.denied(tool),
    facts: () => ({
      version: version(),
      node: process.version,
      protocol: PROTOCOL_VERSION,
      policies: fork.policies,
      catalogue: catalogueDigest(fork.tools),
    }),
    execute: ({ source, definitions = [], events = [], globals, onOut, onCall, onInput, again, mayWait = false }) =>
      fork.runRequest({
        sources: [...definitions, source],
        events,
        globals,
        turn: true,
        onOut,
        onCall,
        mayWait,
        signal: context.signal,
        ...(onInput === undefined ? {} : { onInput }),
        ...(again === undefined ? {} : { recorded: again }),
      }),
  };
}

async function misfit({ tools, limits }: Fork, name: string, value: TaggedJson): Promise<string | null> {
  const tool = tools.lookup(name);
  if (tool === undefined || tool.complete !== null) return null;
  try {
    await resultJson(tool, decode(value), limits.toolBytes);
    return null;
  } catch (error) {
    if (error instanceof NeuroScriptError || error instanceof Halt) return error.message;
    throw error;
  }
}

/** Sizes of what a turn may say: the protocol's. */
export function protocolSizes(): LimitOptions {
  return Object.fromEntries(LIMITS.flatMap(({ key, turnDefault }) => (turnDefault === undefined ? [] : [[key, turnDefault]])));
}
