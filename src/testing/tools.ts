import { type HostContextInit, SILENT_LOGGER, type TurnInit } from '../context/index.ts';
import { checkSettings, type Interpreter, Runtime } from '../runtime/index.ts';
import type { LimitOptions } from '../sandbox/index.ts';
import { type AuditRecord, type PolicyOptions, type ToolDefinition, ToolError } from '../tools/index.ts';
import { decode, encode } from '../wire/codec.ts';
import { NeuroScriptError } from '../wire/errors.ts';
import { anything, checker, checkFunction, checkList, checkObject, checkText } from '../wire/options.ts';
import type { TaggedJson } from '../wire/protocol.ts';
import type { Value } from '../wire/values.ts';
import { CallSandbox } from './sandbox.ts';

/** Options of a {@link ToolBench}. */
export interface ToolBenchOptions {
  /** If absent, every tool and grant is allowed, also tools that require trust. */
  readonly policy?: PolicyOptions;
  /** Limits of every script; the defaults when absent. */
  readonly limits?: LimitOptions;
  /** The turn context of the tools: session, turn, deadline and values. */
  readonly turn?: TurnInit;
  /** Fields of the host context, such as the actor. */
  readonly host?: Partial<HostContextInit>;
  /** Returns Unix milliseconds; `new FakeClock().now` does not advance by itself. */
  readonly now?: () => number;
  /** The variables of the calling program. */
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

/** A policy that allows every tool and grants everything, also tools that require trust. */
export const ALLOW_ALL: PolicyOptions = Object.freeze({ context: 'config', allow: ['*'], grants: ['*:*:*'] });

/**
 * Calls tools as a program would, without a program and without a process. Policy, coercion, checks, bounds, session and errors
 * are those of a runtime. All calls of a bench belong to one root interpreter. Close the bench after use (`await using`).
 *
 * @example
 * ```ts
 * import { equal } from 'node:assert/strict';
 * import { defineTool } from 'neuroscript-runtime';
 * import { ToolBench } from 'neuroscript-runtime/testing';
 *
 * const twice = defineTool({ name: 'tool.t.Twice', args: [{ name: 'n', type: 'number' }], run: ({ n }) => n * 2 });
 * await using bench = new ToolBench([twice]);
 * equal(await bench.call('tool.t.Twice', [21]), 42);
 * ```
 */
export class ToolBench implements AsyncDisposable {
  /** The variables of the program, which tools read and set. */
  readonly vars: Map<string, unknown>;
  /** Every call so far, including calls that tools made. */
  readonly calls: AuditRecord[] = [];
  readonly #sandbox = new CallSandbox();
  readonly #runtime: Runtime;
  readonly #root: Interpreter;
  readonly #turn: TurnInit;
  #queue: Promise<unknown> = Promise.resolve();

  /** Throws `ConfigError` (`ERR_CONFIG`) for invalid tools and options. */
  constructor(tools: readonly ToolDefinition[], options: ToolBenchOptions = {}) {
    checkBenchOptions('the options of a bench', options);
    const { policy = ALLOW_ALL, limits = {}, turn = {}, host = {}, now, vars = {} } = options;
    const audit = (record: AuditRecord): void => void this.calls.push(record);
    const settings = checkSettings({ tools, policy, limits, audit, now });
    this.#runtime = new Runtime(this.#sandbox, settings);
    this.#root = this.#runtime.interpreter({ host: { logger: SILENT_LOGGER, ...host } });
    this.#turn = turn;
    this.vars = new Map(Object.entries(vars));
  }

  /**
   * Makes a call and returns its result. Calls run one after the other, as in a program. Rejects with {@link ToolError} for
   * errors that a program can catch, and with {@link NeuroScriptError} for errors that end a run (`ERR_QUOTA`, `ERR_TIMEOUT`,
   * `ERR_CANCELLED`).
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

  /** Releases handles and session directories of the tools. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#runtime.close();
  }
}

/** Makes one call of one tool, in a bench of its own. */
export async function callTool(
  tool: ToolDefinition,
  args: readonly unknown[] = [],
  options: ToolBenchOptions = {},
): Promise<Value> {
  await using bench = new ToolBench([tool], options);
  return await bench.call(tool.name, args);
}
