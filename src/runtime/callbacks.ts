import type { TurnContext } from '../context/index.ts';
import type { RunRequest } from './request.ts';

/** The callbacks of a request. The first exception of a callback ends the run, which then rejects with it. */
export class Callbacks {
  readonly #turn: TurnContext;
  #failure: { readonly error: unknown } | null = null;

  constructor(turn: TurnContext) {
    this.#turn = turn;
  }

  guard(request: RunRequest): RunRequest {
    const { onOut, onCall } = request;
    if (onOut === undefined && onCall === undefined) return request;
    return { ...request, onOut: onOut && this.#guarded(onOut), onCall: onCall && this.#guarded(onCall) };
  }

  rethrow(): void {
    if (this.#failure !== null) throw this.#failure.error;
  }

  #guarded<A>(callback: (value: A) => void): (value: A) => void {
    return (value) => {
      if (this.#failure !== null) return;
      try {
        callback(value);
      } catch (error) {
        this.#failure = { error };
        this.#turn.close();
      }
    };
  }
}
