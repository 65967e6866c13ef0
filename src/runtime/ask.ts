import type { HostContext, StoreReaders, TurnContext } from '../context/index.ts';
import { type AskCall, type AskReply, callDepth } from '../tools/index.ts';
import type { CallIo } from '../wire/call.ts';
import { decode, isValueMap } from '../wire/codec.ts';
import { NS_CODES } from '../wire/codes.ts';
import type { LimitValues } from '../wire/limits.ts';
import type { AskLeft, CallSite, Diagnostic, ParsedFile, Source, TaggedJson } from '../wire/protocol.ts';
import type { Value, ValueMap } from '../wire/values.ts';
import type { Fork } from './fork.ts';
import type { ForkOptions } from './interpreter.ts';
import type { RunScope } from './perform.ts';

/** What the caller of an `ask` has left: a nested loop gets no more than that. Whole numbers from 0. */
export interface AskBudget {
  readonly fuel: number;
  readonly memoryBytes: number;
  readonly toolCalls: number;
  readonly cpuMs: number;
  readonly wallMs: number;
}

/** One `ask` of a script, with all that a nested loop is made from. */
export interface AskRequest {
  readonly model: string;
  readonly prompt: Value;
  /** What stands behind `with`; empty without it. */
  readonly options: ValueMap;
  readonly site: CallSite;
  /** Counts the calls of the asking run. */
  readonly seq: number;
  readonly left: AskBudget;
  /** Of the asking run. */
  readonly limits: LimitValues;
  /** Of the asking run: what is nested derives its context from it (CTX-4-1). */
  readonly turn: TurnContext;
  /** Aborted when the asking run ends before it has an answer. */
  readonly signal: AbortSignal;
  readonly host: HostContext;
  readonly stores: StoreReaders;
  /** Variables that nested programs find set: the globals of the asking run. */
  readonly globals: Readonly<Record<string, TaggedJson>>;
  /** A fork of the asking one, for one nested turn: its policies, with their counters, hold there too. */
  fork(options: ForkOptions): Fork;
  /** Definitions that the asking run was given beside those of its root. */
  definitions(): Promise<readonly Source[]>;
  /** Parses without executing; never waits for a worker that the asking run holds. */
  inspect(source: Source): Promise<{ readonly diagnostics: readonly Diagnostic[]; readonly files: readonly ParsedFile[] }>;
  /** Removes what tools kept for a nested session. */
  endSession(sessionId: string): Promise<void>;
}

/**
 * Answers `ask`: with the value, an error that the script can catch, or a halt, each with what was used up. Must not reject
 * for what a model or a nested program does; what it rejects with is a fault of the host. `askHandler` of
 * `neuroscript-runtime/loop` makes one.
 */
export type AskHandler = (request: AskRequest) => Promise<AskReply>;

/** What one run brings to its asks. */
export interface AskingRun {
  readonly scope: RunScope;
  readonly turn: TurnContext;
  readonly limits: LimitValues;
  readonly sources: readonly Source[];
  readonly globals: Readonly<Record<string, TaggedJson>>;
}

/** The asks of one run, which share what it has. */
export class Asks {
  readonly #run: AskingRun;
  readonly #handler: AskHandler;
  readonly #begun = performance.now();
  #nestedFuel = 0;
  #nestedCpuMs = 0;
  #definitions: Promise<readonly Source[]> | null = null;

  constructor(run: AskingRun, handler: AskHandler) {
    this.#run = run;
    this.#handler = handler;
  }

  /** Answers one. Rejects only for faults of the host. */
  async answer(call: AskCall, io: CallIo): Promise<AskReply> {
    const { scope, turn, limits, globals } = this.#run;
    const options = decode(call.options);
    if (options !== null && !isValueMap(options))
      return { t: 'error', code: NS_CODES.ArgMismatch, message: 'the options of ask are a map' };
    const { sandbox, host, readers, nested } = scope;
    const reply = await this.#handler({
      model: call.model,
      prompt: decode(call.prompt),
      options: options ?? Object.create(null),
      site: call.at,
      seq: call.seq,
      left: { ...this.#bounded(call.left), ...this.#time(io) },
      limits,
      turn,
      signal: io.signal,
      host,
      stores: readers,
      globals,
      fork: (fork) => nested(scope.guards, fork),
      definitions: () => this.#library(),
      inspect: (source) => sandbox.parse([source], limits.sourceBytes, callDepth()),
      endSession: (sessionId) => scope.resources.end(sessionId),
    });
    this.#nestedFuel += reply.spent?.fuel ?? 0;
    this.#nestedCpuMs += reply.spent?.cpuMs ?? 0;
    return reply;
  }

  /** What the isolate says that is left of its run, and no more than there can be: who has broken into it may say anything. */
  #bounded({ fuel, memoryBytes, toolCalls }: AskLeft): AskLeft {
    const { limits } = this.#run;
    return {
      fuel: Math.max(0, Math.min(fuel, limits.fuel - this.#nestedFuel)),
      memoryBytes: Math.min(memoryBytes, limits.memoryBytes),
      toolCalls: Math.min(toolCalls, limits.toolCalls),
    };
  }

  /** Time has no exact remainder: what the worker's own meter has not seen yet is still to be used. */
  #time(io: CallIo): { readonly cpuMs: number; readonly wallMs: number } {
    const { limits } = this.#run;
    const own = io.cpuMs?.() ?? 0;
    return {
      cpuMs: Math.max(0, Math.floor(limits.cpuMs - own - this.#nestedCpuMs)),
      wallMs: Math.max(0, Math.floor(limits.wallMs - (performance.now() - this.#begun))),
    };
  }

  /** Libraries among the run's own sources; a file of command blocks is for the run alone. */
  #library(): Promise<readonly Source[]> {
    this.#definitions ??= this.#findLibrary();
    return this.#definitions;
  }

  async #findLibrary(): Promise<readonly Source[]> {
    const { scope, sources, limits } = this.#run;
    const own = sources.filter((source) => !scope.libraries.includes(source));
    const { files } = await scope.sandbox.parse(own, limits.sourceBytes, callDepth());
    return own.filter((_, index) => files[index]?.kind === 'library');
  }
}
