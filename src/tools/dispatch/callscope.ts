import { AsyncLocalStorage } from 'node:async_hooks';
import type { TurnContext } from '../../context/index.ts';
import type { CallIo } from '../../wire/call.ts';
import { cancelledError } from '../../wire/errorinfo.ts';
import { Halt } from '../errors.ts';

/** The call on whose behalf the current code runs. */
const current = new AsyncLocalStorage<CallScope>();

/** Throws {@link Halt} when this process may not act any more: it was stopped or cut off for longer than its lease, and another one acts. */
export function mustAct(turn: Pick<TurnContext, 'mayAct'>): void {
  if (!turn.mayAct()) throw new Halt(cancelledError(CANNOT_ACT));
}

/** Why a run ends whose process has lost its session. */
export const CANNOT_ACT = "this process no longer holds the session's lease";

/** The number of nested scripts that wait for the call on whose behalf the current code runs; 0 outside of any call. */
export function callDepth(): number {
  const call = current.getStore();
  return call?.open === true ? call.depth : 0;
}

/** Work on behalf of a call. Until it ends, {@link callDepth} returns `depth` in all code that the work starts. */
export class CallScope {
  open = true;
  readonly depth: number;

  constructor(depth: number) {
    this.depth = depth;
  }

  run<T>(work: () => T): T {
    return current.run(this, work);
  }

  end(): void {
    this.open = false;
  }
}

/**
 * The outcome of `work`. Rejects with {@link Halt} when the call is over first: a tool or a validator that never settles must not keep
 * the record of the run alive. By then the sandbox has ended the call and ignores the answer.
 */
export function unlessOver<T>(io: CallIo, work: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    let over = false;
    const forget = io.whenOver(() => {
      over = true;
      reject(new Halt(cancelledError('the call was given up')));
    });
    if (over) return;
    work().then(
      (value) => {
        forget();
        resolve(value);
      },
      (error: unknown) => {
        forget();
        reject(error);
      },
    );
  });
}
