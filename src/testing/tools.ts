import { type HostContextInit, SILENT_LOGGER, type TurnInit } from '../context/index.ts';
import { checkSettings, type Interpreter } from '../runtime/index.ts';
import { Runtime } from '../runtime/runtime.ts';
import type { LimitOptions } from '../sandbox/index.ts';
import { type AuditRecord, type PolicyOptions, type ToolDefinition, ToolError } from '../tools/index.ts';
import { decode, encode } from '../wire/codec.ts';
import { NeuroScriptError } from '../wire/errors.ts';
import { anything, checker, checkFunction, checkList, checkObject, checkText } from '../wire/options.ts';
import type { TaggedJson } from '../wire/protocol.ts';
import type { Value } from '../wire/values.ts';
import { CallSandbox } from './sandbox.ts';

/** What surrounds the tools of a test. */
export interface ToolBenchOptions {
  /** Absent: every tool is allowed, everything granted, and tools that require trust are admitted. */
  readonly policy?: PolicyOptions;
  readonly limits?: LimitOptions;
  /** Session, turn, deadline and values that the tools find in their turn context. */
  readonly turn?: TurnInit;
  /** On whose behalf; fields of a host context besides. */
  readonly host?: Partial<HostContextInit>;
  /** Unix milliseconds; `new FakeClock().now` stands still. */
  readonly now?: () => number;
  /** Variables that the program which calls would have. */
  readonly vars?: Readonly<Record<string, unknown>>;
}

const checkBenchOptions = checker<ToolBenchOptions>({
  policy: anything,
  limits: anything,
  turn: anything,
  host: checkObject,
  now: checkFunction,
  vars: checkObject,
});

/** Everything is allowed and granted, and trusted tools are admitted. */
export const ALLOW_ALL: PolicyOptions = Object.freeze({ context: 'config', allow: ['*'], grants: ['*:*:*'] });

/**
 * Calls tools as a program would, without a program: policy, coercion, checks, bounds, session and errors are those of a
 * runtime, and no process is started. Calls of one bench belong to one root interpreter; close it when done (`await using`).
 */
export class ToolBench implements AsyncDisposable {
  /** The variables of the program: what tools read and set. */
  readonly vars: Map<string, unknown>;
  /** Every call so far, those that tools made included. */
  readonly calls: AuditRecord[] = [];
  readonly #sandbox = new CallSandbox();
  readonly #runtime: Runtime;
  readonly #root: Interpreter;
  readonly #turn: TurnInit;
  #queue: Promise<unknown> = Promise.resolve();

  /** Throws `ConfigError` (`ERR_CONFIG`) for tools and options that cannot be used. */
  constructor(tools: readonly ToolDefinition[], options: ToolBenchOptions = {}) {
    checkBenchOptions('the options of a bench', options);
    const { policy = ALLOW_ALL, limits = {}, turn = {}, host = {}, now, vars = {} } = options;
    const audit = (record: AuditRecord): void => void this.calls.push(record);
    const settings = checkSettings({ tools, policy, limits, audit, ...(now === undefined ? {} : { now }) });
    this.#runtime = new Runtime(this.#sandbox, settings);
    this.#root = this.#runtime.interpreter({ host: { logger: SILENT_LOGGER, ...host } });
    this.#turn = turn;
    this.vars = new Map(Object.entries(vars));
  }

  /**
   * What a program gets for a call; calls are made one after the other, as a program makes them. Rejects with
   * {@link ToolError} where `on error` would see one, and with {@link NeuroScriptError} for what ends a run (`ERR_QUOTA`,
   * `ERR_TIMEOUT`, `ERR_CANCELLED`).
   */
  call(name: string, args: readonly unknown[] = []): Promise<Value> {
    const made = this.#queue.then(() => {
      checkText('the name of a tool', name);
      checkList('the arguments of a call', args);
      return this.#call(
        name,
        args.map((arg) => encode(arg)),
      );
    });
    this.#queue = made.catch(() => null);
    return made;
  }

  async #call(name: string, args: readonly TaggedJson[]): Promise<Value> {
    using turn = this.#runtime.turn(this.#turn);
    const reply = await this.#sandbox.makeCall({ name, args, variables: this.vars }, () =>
      this.#root.fork({ turn }).runRequest({}),
    );
    if (reply.t === 'ok') return decode(reply.value);
    if (reply.t === 'error') throw new ToolError(reply.code, reply.message, reply.hint);
    throw new NeuroScriptError(reply.error.code, reply.error.message);
  }

  /** Ends what the tools keep: handles and session directories. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#runtime.close();
  }
}

/** One call of one tool, as {@link ToolBench.call} makes it. */
export async function callTool(
  tool: ToolDefinition,
  args: readonly unknown[] = [],
  options: ToolBenchOptions = {},
): Promise<Value> {
  await using bench = new ToolBench([tool], options);
  return await bench.call(tool.name, args);
}
