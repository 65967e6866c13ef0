import type { Coming, ExclusiveContext, SdkErrors } from '../../src/restate/sdk.ts';

class TerminalError extends Error {}
class CancelledError extends TerminalError {}

/** The errors of an SDK. */
export const ERRORS: SdkErrors = { TerminalError, CancelledError };

/** The process of a handler died. */
export class Died extends Error {}

/**
 * One invocation of a handler for a key, as Restate keeps it: results of steps, state and what was sent. A handler that is called again
 * with it gets the results of the steps that are there.
 */
export class Invocation {
  readonly steps: { readonly name: string; readonly result: unknown }[] = [];
  readonly sent: number[] = [];
  readonly state: Map<string, unknown>;
  readonly resolved: string[] = [];
  /** Called before a turn gets its awakeable. */
  beforeAwakeable: () => Promise<void> = async () => {};
  /** The process dies when it has done this many steps more, before anybody knows. */
  diesAfter = Number.POSITIVE_INFINITY;
  readonly #key: string;

  constructor(key: string, state: Map<string, unknown> = new Map()) {
    this.#key = key;
    this.state = state;
  }

  /** The context of one attempt. */
  attempt(): ExclusiveContext {
    let done = 0;
    let ready = Promise.resolve();
    const before = new Map(this.state);
    return {
      key: this.#key,
      get: async (name) => before.get(name) ?? null,
      set: (name, value) => void this.state.set(name, value),
      clearAll: () => this.state.clear(),
      run: async (name, step) => {
        await ready;
        const known = this.steps[done++];
        // What the handler gets was stored as JSON.
        if (known !== undefined) return JSON.parse(JSON.stringify(known.result));
        const result = await step();
        if (this.diesAfter-- <= 0) throw new Died();
        this.steps.push({ name, result });
        return result;
      },
      awakeable: () => {
        ready = this.beforeAwakeable();
        return { id: `awakeable-${done}`, promise: NEVER };
      },
      resolveAwakeable: (id) => void this.resolved.push(id),
      objectSendClient: () => ({ turn: (number) => void this.sent.push(number) }),
    };
  }
}

/** Nobody resolves it, and its time does not end. */
const never = new Promise<never>(() => {});
const NEVER: Coming = Object.assign(never, { orTimeout: () => never });
