/** How statements end: one after the other, by leaving a block, or by an error. */
import type { Block, ErrorHandler } from '../../../grammar/index.ts';
import type { Failure } from './meter.ts';
import type { Value } from './values.ts';

/** How a statement or block ends. `out` is the block of a handler that breaks or continues the loop around that block. */
export type Flow =
  | { readonly k: 'next' }
  | { readonly k: 'return'; readonly value: Value }
  | { readonly k: 'break' | 'continue'; readonly out?: Block };

export const NEXT: Flow = { k: 'next' };

/** A handler that guards the current place, and those around it. */
export interface Guard {
  readonly handler: ErrorHandler;
  readonly block: Block;
  readonly depth: number;
  readonly outer: Guard | undefined;
}

/** An error that the nearest handler has not cleared, on its way to the next one. */
export class Offered extends Error {
  readonly failure: Failure;
  readonly to: Guard | undefined;

  constructor(failure: Failure, to: Guard | undefined) {
    super(failure.message);
    this.failure = failure;
    this.to = to;
  }
}

export function leavesLoop(flow: Flow): boolean {
  return flow.k === 'break' || flow.k === 'return' || (flow.k === 'continue' && flow.out !== undefined);
}
