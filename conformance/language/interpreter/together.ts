/** Calls of tools that run together: all arguments are evaluated first, then all calls are made, then all results are stored. */
import type { Block, Stmt } from '../../../grammar/index.ts';
import { Failure, type Place } from './meter.ts';
import { callsOf } from './statements.ts';
import type { ToolCall, Tools } from './tools.ts';
import type { Value } from './values.ts';

/** What the calls need of the statements around them. */
export interface Caller {
  readonly tools: Tools;
  /** Evaluates the arguments of a call, after its cost is charged. */
  evaluate(prepared: ReturnType<typeof callsOf>[number]): ToolCall;
  /** Stores the result of a call. */
  store(stmt: Stmt, value: Value): void;
}

/** The calls of one statement. */
export class Together {
  readonly #caller: Caller;
  readonly #prepared: { readonly call: ToolCall; readonly stmt: Stmt; readonly bind: () => void }[] = [];

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Evaluates the arguments of the calls of a body. `bind` sets the variables of their pass. */
  prepare(body: Block, bind: () => void): void {
    for (const each of callsOf(body)) {
      const call = this.#caller.evaluate(each);
      this.#caller.tools.write(call);
      this.#prepared.push({ call, stmt: each.stmt, bind });
    }
  }

  /** Makes the calls, then stores their results. The first error is raised when the last result is stored. */
  join(at: Place): void {
    const answers = this.#caller.tools.callTogether(
      this.#prepared.map(({ call }) => call),
      at,
    );
    let failure: Failure | undefined;
    for (const [index, { call, stmt, bind }] of this.#prepared.entries()) {
      bind();
      const answer = answers[index];
      if (answer === undefined || ('code' in answer && failure !== undefined)) continue;
      try {
        this.#caller.store(stmt, this.#caller.tools.valueOf(answer, call));
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        failure ??= error;
      }
    }
    if (failure !== undefined) throw failure;
  }
}
