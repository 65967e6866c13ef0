import type { Logger, TurnContext } from '../context/index.ts';
import { callBack } from '../wire/callback.ts';
import type { RunRequest } from './request.ts';

/**
 * The callbacks of a request. The first failure of a callback, thrown or rejected, ends the run, which then rejects with it. The log
 * receives a rejection that comes after the end of the run.
 */
export class Callbacks {
  readonly #turn: TurnContext;
  readonly #logger: Logger;
  #failure: Error | null = null;
  #ended = false;

  constructor(turn: TurnContext, logger: Logger) {
    this.#turn = turn;
    this.#logger = logger;
  }

  guard(request: RunRequest): RunRequest {
    const { onOut, onCall, onInput } = request;
    if (onOut === undefined && onCall === undefined && onInput === undefined) return request;
    return {
      ...request,
      onOut: onOut && this.#guarded(onOut),
      onCall: onCall && this.#guarded(onCall),
      onInput: onInput && this.#before(onInput),
    };
  }

  /** Throws the failure of a callback when the run has ended. */
  rethrow(): void {
    this.#ended = true;
    if (this.#failure !== null) throw this.#failure;
  }

  #guarded<A>(callback: (value: A) => unknown): (value: A) => void {
    return (value) => {
      if (this.#failure === null)
        callBack(
          () => callback(value),
          (error) => this.#failed(error),
        );
    };
  }

  /** A callback before the run: what it throws is thrown at once, so that nothing runs. */
  #before<A>(callback: (value: A) => unknown): (value: A) => void {
    return (value) => {
      const returned = callback(value);
      callBack(
        () => returned,
        (error) => this.#failed(error),
      );
    };
  }

  #failed(error: Error): void {
    if (this.#ended) this.#logger.error({ error }, 'a callback of a run failed after its end');
    else this.#failure ??= error;
    this.#turn.close();
  }
}
