import { NeuroScriptError } from '../../wire/errors.ts';
import type { Decision } from '../record/decision.ts';

/** The states of one turn. `EMIT_NEXT` leads to another turn; `FINAL` ends the session. */
export type LoopState = 'IDLE' | 'EXECUTING' | 'VERIFYING' | 'DECIDED' | 'EMIT_NEXT' | 'FINAL';

const NEXT: Readonly<Record<LoopState, readonly LoopState[]>> = {
  IDLE: ['EXECUTING'],
  EXECUTING: ['VERIFYING'],
  VERIFYING: ['DECIDED'],
  DECIDED: ['EMIT_NEXT', 'FINAL'],
  EMIT_NEXT: [],
  FINAL: [],
};

/** A turn took its steps in an impossible order. The host has a defect; a program cannot cause this error. */
export class LifecycleError extends NeuroScriptError {
  static readonly code = 'ERR_LIFECYCLE';
  constructor(from: LoopState, to: LoopState) {
    super(LifecycleError.code, `a turn cannot go from ${from} to ${to}`);
  }
}

/** The state of one turn. A turn whose envelope or program failed also passes VERIFYING, without a token. */
export class Lifecycle {
  #state: LoopState = 'IDLE';
  readonly #onChange: (from: LoopState, to: LoopState) => void;

  constructor(onChange: (from: LoopState, to: LoopState) => void = () => {}) {
    this.#onChange = onChange;
  }

  get state(): LoopState {
    return this.#state;
  }

  /** Takes the next step. Throws {@link LifecycleError} for a step that does not exist. */
  to(next: LoopState): void {
    const from = this.#state;
    if (!NEXT[from].includes(next)) throw new LifecycleError(from, next);
    this.#state = next;
    this.#onChange(from, next);
  }

  /** Takes the last step: CONTINUE leads to another turn, every other decision ends the session. */
  finish(decision: Decision): void {
    this.to(decision === 'CONTINUE' ? 'EMIT_NEXT' : 'FINAL');
  }
}
