import type { PureToolName } from '../../src/wire/pure.ts';

/** What the documentation says of a pure tool; its arguments stand in `src/wire/pure.ts`, its work in `src/guest/pure`. */
export interface PureRow {
  readonly name: PureToolName;
  readonly description: string;
  /** What it gives back, in words. */
  readonly returns: string;
  /** A call as a program would write it. */
  readonly example: string;
  /** What `emit` prints of the example; a test runs it. */
  readonly gives: string;
}
