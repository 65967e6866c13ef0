import { hash } from 'node:crypto';
import type { TurnContext, TurnInit } from '../../context/index.ts';
import type { Fork, Interpreter, RunRequest, Runtime } from '../../runtime/index.ts';
import { VERSION } from '../../runtime/version.ts';
import { type LimitOptions, tighten } from '../../sandbox/index.ts';
import {
  catalogueDigest,
  checkedGrant,
  digestIn,
  Halt,
  type LibraryEntry,
  type PolicyOptions,
  resultJson,
  type ToolDefinition,
} from '../../tools/index.ts';
import { decodeOrdered } from '../../wire/codec.ts';
import { NeuroScriptError } from '../../wire/errors.ts';
import type { WaitingCall } from '../../wire/journal.ts';
import { LIMITS, type LimitValues } from '../../wire/limits.ts';
import { PROTOCOL_VERSION, type Source, type TaggedJson } from '../../wire/protocol.ts';
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

/** The sandbox of one turn: a fresh interpreter in a fresh isolate. */
export interface TurnFork {
  /** The host's software and policies, for the record. */
  facts?(): HostFacts;
  /**
   * Runs a turn. With `checkFirst`, rejects a program that is not exactly one command block or calls a denied tool, before it runs:
   * `errors` or `findings` of the result have the reasons. A rejected or failed program, a limit and a cancellation are results; the
   * promise rejects only for misuse and state (`ConfigError`, `RuntimeClosedError`, `BusyError`).
   */
  execute(request: RunRequest): Promise<RunResult>;
  /** The result of a program that `execute` would reject, without running it: a human is not asked to approve it. Null for any other. */
  rejection?(request: RunRequest): Promise<RunResult | null>;
}

/** The part of a runtime that the loop uses. */
export interface TurnExecutor {
  /** Upper bounds for the limits of every turn. */
  readonly limits: LimitValues;
  /** Derives the context of one turn from the host's context. */
  context(init: TurnInit): TurnContext;
  /** Makes the sandbox of one turn. */
  fork(init: TurnForkInit): TurnFork;
  /** The tools that programs of turns may call, for the text that agents get; none when absent. */
  readonly tools?: readonly ToolDefinition[];
  /** The loaded procedures that programs of turns may call, for the same text; none when absent. */
  readonly library?: readonly LibraryEntry[];
  /** Called when a session has ended, to remove what its tools keep for it. Never rejects. */
  end?(sid: string): Promise<void>;
  /** Digest of a tool's definition; null for an unknown tool. */
  promise?(tool: string): string | null;
  /** Whether a tool is declared idempotent; false for an unknown tool. */
  idempotent?(tool: string): boolean;
  /** Whether a tool may change something; true for an unknown tool, and when absent. */
  hasEffects?(tool: string): boolean;
  /** The tenants of the host; absent when nothing counts their use. */
  readonly tenants?: TenantPort;
  /** Why a value cannot be a tool's result; null when it can, or when the tool itself will check it. */
  misfit?(tool: string, value: TaggedJson): Promise<string | null>;
}

/** An executor that also parses without executing, for AEIOU v1. */
export interface V1Executor extends TurnExecutor {
  /** Parses a source. */
  inspect(source: Source): Promise<{ readonly diagnostics: readonly Diagnostic[]; readonly files: readonly ParsedFile[] }>;
}

/**
 * Runs each turn on a runtime, in a fork of `root`. A turn's program finds the definitions and globals of `root`. Output sizes
 * are limited by the protocol, or by the runtime where its limits are tighter.
 */
export function runtimeExecutor(runtime: Runtime, root: Interpreter = runtime.interpreter()): V1Executor {
  return {
    limits: tighten(runtime.limits, protocolSizes()),
    tenants: runtime,
    get tools() {
      return root.fork().callable;
    },
    get library() {
      return root.library;
    },
    context: (init) => runtime.turn(init),
    inspect: (source) => runtime.parse([source]),
    async end(sid) {
      try {
        await runtime.endSession(sid);
      } catch (error) {
        // The session has ended. A file that cannot be removed does not change the decision.
        root.host.logger.error({ error, sid }, 'the resources of a session could not be removed');
      }
    },
    idempotent: (tool) => root.fork().tools.lookup(tool)?.idempotent ?? false,
    hasEffects: (tool) => (root.fork().tools.lookup(tool)?.effects ?? 'write') === 'write',
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
    facts: () => ({
      version: VERSION,
      node: process.version,
      protocol: PROTOCOL_VERSION,
      policies: fork.policies,
      catalogue: catalogueDigest(fork.tools),
    }),
    execute: fork.runRequest.bind(fork),
    rejection: (request) => fork.rejection(request),
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

/** What the tool of a call that waits promises, or all tools of the plan that it waits for; null where that is not known. */
export function promiseFor(
  { promise }: Pick<TurnExecutor, 'promise'>,
  { tool, plan }: Pick<WaitingCall, 'tool' | 'plan'>,
): string | null {
  if (promise === undefined || plan === undefined) return promise?.(tool) ?? null;
  const tools = new Set(checkedGrant('the stored plan', plan).calls.map((call) => call.tool));
  return hash('sha256', JSON.stringify([...tools].sort().map((name) => [name, promise(name)])), 'base64url');
}
