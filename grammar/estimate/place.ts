/** The surroundings of a block that is followed. */
import type { Block, ErrorHandler } from '../syntax/ast.ts';

/** An `on error` block that guards a place. */
export interface Guard {
  readonly id: number;
  readonly handler: ErrorHandler;
}

/** The surroundings of a block. */
export interface Place {
  /** The handler that runs first on an error. */
  readonly guard: Guard | undefined;
  readonly inHandler: boolean;
  /** Whether this is the top level of a procedure, whose last value may become the result. */
  readonly top: boolean;
  /** The block whose calls run together. No result is stored before all of them were made. */
  readonly together?: Block;
}
