import type { Exit } from './effects.ts';
import { type Labels, NONE } from './parts.ts';

/** The labels in a running procedure, event handler or series of command blocks. */
export class Frame {
  readonly variables = new Map<string, Labels>();
  /** What decides that the current statement runs. */
  control = NONE;
  /** What the conditions of the innermost compound statement carried. */
  decided = NONE;
  /** What decides that this frame runs. */
  ambient = NONE;
  /** What may have left the statements around. */
  readonly ends = new Map<Exit, Labels>();
}
