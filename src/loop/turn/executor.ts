import type { TurnContext, TurnInit } from '../../context/index.ts';
import type { Fork, Interpreter, RecordedRun, Runtime } from '../../runtime/index.ts';
import { VERSION } from '../../runtime/version.ts';
import { type LimitOptions, tighten } from '../../sandbox/index.ts';
import {
  type CallKeeper,
  catalogueDigest,
  digestIn,
  Halt,
  type PolicyOptions,
  resultJson,
  type ToolDefinition,
} from '../../tools/index.ts';
import { decodeOrdered } from '../../wire/codec.ts';
import { NeuroScriptError } from '../../wire/errors.ts';
import type { JournalEntry } from '../../wire/journal.ts';
import { LIMITS, type LimitValues } from '../../wire/limits.ts';
import type { Preview } from '../../wire/preview.ts';
import {
  type EventInput,
  type OutFrame,
  PROTOCOL_VERSION,
  type RunInput,
  type Source,
  type TaggedJson,
} from '../../wire/protocol.ts';
import type { RunResult } from '../../wire/result.ts';
import type { Diagnostic, ParsedFile } from '../../wire/sourcereports.ts';
import type { HostFacts } from '../record/record.ts';
import type { TenantPort } from '../tenant.ts';

/** Settings of one turn's sandbox. */
export interface TurnForkInit {
  /** Holds session, turn and nonce. The caller closes it. */
  readonly context: TurnContext;
  /** Tools of this turn alone, in addition to the host's. */
  readonly tools: readonly ToolDefinition[];
  /** The limits of the run. */
  readonly limits: LimitValues;
  /** Must admit every call in addition to the runtime's policy. */
  readonly policy?: PolicyOptions | undefined;
}

/** One execution of ACTIONS. */
export interface TurnExecution {
  /** The program: ACTIONS. */
  readonly source: Source;
  /** Definitions loaded before the source. */
  readonly definitions?: readonly Source[];
  /** Delivered to handlers after the source has run. */
  readonly events?: readonly EventInput[];
  /** Variables that are set when the program starts. */
  readonly globals: Readonly<Record<string, TaggedJson>>;
  /** Receives the output as it comes. */
  onOut(out: OutFrame): void;
  /** Called when a call to the host ends. */
  onCall(entry: JournalEntry): void;
  /** Called with the worker's input. A turn whose executor never calls this cannot be replayed. */
  onInput?(input: RunInput): void;
  /** A recorded run to execute instead of the above. */
  readonly recorded?: RecordedRun;
  /** Keeps the calls of the run while it goes on. */
  readonly keeper?: CallKeeper;
  /** Whether a tool may suspend the run. */
  readonly mayWait?: boolean;
  /** The preview to which the run is bound. */
  readonly bound?: Preview;
}

/** The sandbox of one turn: a fresh interpreter in a fresh isolate. */
export interface TurnFork {
  /** Why the policy denies a tool, or null. An unknown tool is not denied; it fails when it is called. */
  denied(tool: string): string | null;
  /** The host's software and policies, for the record. */
  facts?(): HostFacts;
  /**
   * Rejects only for misuse and state (`ConfigError`, `RuntimeClosedError`, `BusyError`). A failed program, a limit or a
   * cancellation is a result.
   */
  execute(execution: TurnExecution): Promise<RunResult>;
}

/** The part of a runtime that the loop uses. */
export interface TurnExecutor {
  /** Upper bounds for the limits of every turn. */
  readonly limits: LimitValues;
  /** Derives the context of one turn from the host's context. */
  context(init: TurnInit): TurnContext;
  /** Parses without executing. */
  inspect(source: Source): Promise<{ readonly diagnostics: readonly Diagnostic[]; readonly files: readonly ParsedFile[] }>;
  /** Makes the sandbox of one turn. */
  fork(init: TurnForkInit): TurnFork;
  /** Called when a session has ended, to remove what its tools keep for it. Never rejects. */
  end?(sid: string): Promise<void>;
  /** Digest of a tool's definition; null for an unknown tool. */
  promise?(tool: string): string | null;
  /** Whether a tool is declared idempotent; false for an unknown tool. */
  idempotent?(tool: string): boolean;
  /** The tenants of the host; absent when nothing counts their use. */
  readonly tenants?: TenantPort;
  /** Why a value cannot be a tool's result; null when it can, or when the tool itself will check it. */
  misfit?(tool: string, value: TaggedJson): Promise<string | null>;
}

/**
 * Runs each turn on a runtime, in a fork of `root`. A turn's program finds the definitions and globals of `root`. Output sizes
 * are limited by the protocol, or by the runtime where its limits are tighter.
 */
export function runtimeExecutor(runtime: Runtime, root: Interpreter = runtime.interpreter()): TurnExecutor {
  return {
    limits: tighten(runtime.limits, protocolSizes()),
    tenants: runtime,
    context: (init) => runtime.turn(init),
    inspect: (source) => runtime.check([source]),
    async end(sid) {
      try {
        await runtime.endSession(sid);
      } catch (error) {
        // The session has ended. A file that cannot be removed does not change the decision.
        root.host.logger.error({ error, sid }, 'the resources of a session could not be removed');
      }
    },
    idempotent: (tool) => root.fork().tools.lookup(tool)?.idempotent ?? false,
    promise: (tool) => digestIn(root.fork().tools, tool),
    misfit: async (tool, value) => misfit(root.fork(), tool, value),
    fork({ context, tools, limits, policy }) {
      const id = `${context.sessionId}#${context.turnIndex}`;
      const fork = root.fork({ turn: context, tools, limits, id, policy });
      return turnFork(fork);
    },
  };
}

/** Adapts a fork of a runtime to the sandbox of one turn. */
export function turnFork(fork: Fork): TurnFork {
  return {
    denied: (tool) => fork.denied(tool),
    facts: () => ({
      version: VERSION,
      node: process.version,
      protocol: PROTOCOL_VERSION,
      policies: fork.policies,
      catalogue: catalogueDigest(fork.tools),
    }),
    execute: ({
      source,
      definitions = [],
      events = [],
      globals,
      onOut,
      onCall,
      onInput,
      recorded,
      keeper,
      mayWait = false,
      bound,
    }) =>
      fork.runRequest({
        sources: [...definitions, source],
        events,
        globals,
        asTurn: true,
        onOut,
        onCall,
        mayWait,
        onInput,
        recorded,
        keeper,
        bound,
      }),
  };
}

async function misfit({ tools, limits }: Fork, name: string, value: TaggedJson): Promise<string | null> {
  const tool = tools.lookup(name);
  if (tool === undefined || tool.complete !== null) return null;
  try {
    await resultJson(tool, decodeOrdered(value), limits.toolBytes);
    return null;
  } catch (error) {
    if (error instanceof NeuroScriptError || error instanceof Halt) return error.message;
    throw error;
  }
}

/** The protocol's limits on the output of a turn. */
export function protocolSizes(): LimitOptions {
  return Object.fromEntries(LIMITS.flatMap(({ key, turnDefault }) => (turnDefault === undefined ? [] : [[key, turnDefault]])));
}
