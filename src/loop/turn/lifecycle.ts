import { NeuroScriptError } from '../../wire/errors.ts';
import type { Decision } from './decision.ts';

/** The states of one turn (AL3-2-1). `EMIT_NEXT` leads to another turn, `FINAL` ends the session. */
export type LoopState = 'IDLE' | 'EXECUTING' | 'VERIFYING' | 'DECIDED' | 'EMIT_NEXT' | 'FINAL';

const NEXT: Readonly<Record<LoopState, readonly LoopState[]>> = {
  IDLE: ['EXECUTING'],
  EXECUTING: ['VERIFYING'],
  VERIFYING: ['DECIDED'],
  DECIDED: ['EMIT_NEXT', 'FINAL'],
  EMIT_NEXT: [],
  FINAL: [],
};

/** A turn was asked to do its steps in an order that does not exist: a defect of the host, never of a program. */
export class LifecycleError extends NeuroScriptError {
  static readonly code = 'ERR_LIFECYCLE';
  constructor(from: LoopState, to: LoopState) {
    super(LifecycleError.code, `a turn cannot go from ${from} to ${to}`);
  }
}

/** The state of one turn. A turn whose envelope or program failed passes VERIFYING too: there it is found to have no token. */
export class Lifecycle {
  #state: LoopState = 'IDLE';
  readonly #onChange: (from: LoopState, to: LoopState) => void;

  constructor(onChange: (from: LoopState, to: LoopState) => void = () => {}) {
    this.#onChange = onChange;
  }

  get state(): LoopState {
    return this.#state;
  }

  /** Takes the next step; throws {@link LifecycleError} for one that the graph does not have. */
  to(next: LoopState): void {
    const from = this.#state;
    if (!NEXT[from].includes(next)) throw new LifecycleError(from, next);
    this.#state = next;
    this.#onChange(from, next);
  }

  /** The last step: CONTINUE leads to another turn, everything else ends the session (AL3-2-2). */
  finish(decision: Decision): void {
    this.to(decision === 'CONTINUE' ? 'EMIT_NEXT' : 'FINAL');
  }
}
