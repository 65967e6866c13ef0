import type { FramePlace } from './errors.ts';
import type { Label } from './flow/origins.ts';
import type { Scope } from './scope.ts';
import type { Value } from './values.ts';

/** A variable: `undefined` until it is set (it then reads as nil, or as the global of its name). */
export type Slot = Value | undefined;

/** How a statement or block ended. */
export type Completion = number;
export const NORMAL = 0;
export const BREAK = 1;
export const CONTINUE = 2;
export const RETURN = 3;
/** `break` or `continue` of an `on error` handler on its way to the block that the handler stands in. */
export const FAR_BREAK = 4;
export const FAR_CONTINUE = 5;

/** The rarely needed part of a frame. */
export interface Rare {
  /** Id of the fork, once it is needed. */
  id: string | null;
  /** Variables set by tools under names that the source does not mention. */
  extra: Map<string, Value> | null;
  /** Whether `clear_error` was executed in the handler that is running. */
  cleared: boolean;
}

/** What all frames of a procedure, handler or command block have in common. */
export interface Layout {
  readonly scope: Scope;
  /** Bytes that one counts. */
  readonly frameBytes: number;
}

/** One running fork: a procedure call, an event handler, the command blocks of a run. */
export class Frame {
  readonly slots: Slot[];
  /** The frame that called this one. Of a frame that waits for its next call: the next one that waits. */
  parent: Frame | null;
  /** Where the procedure is defined; for commands, the running block. */
  place: FramePlace;
  readonly layout: Layout;
  /** Frames up to and including this one; the outermost is 1. */
  level: number;
  /** Evaluation depth at which this frame began. */
  depth: number;
  /** Value of the latest statement that has one, for `last`. Kept only where `last` occurs. */
  last: Value = null;
  /** Result of the call: the returned value; until then the latest value of the top level. */
  out: Value = null;
  /** Containers that the running statement holds though no variable does, such as the results of calls. */
  keep: Value[] | null = null;
  /** Bytes that the running statement had allocated when it called another frame. */
  held = 0;
  rare: Rare | null = null;
  /** The labels of the variables; only in a run under flow rules, see `flow/flow.ts`. */
  declare labels: Label[];

  constructor(parent: Frame | null, place: FramePlace, layout: Layout, slots: Slot[], level: number, depth: number) {
    this.slots = slots;
    this.parent = parent;
    this.place = place;
    this.layout = layout;
    this.level = level;
    this.depth = depth;
  }
}

/** The rarely needed part of a frame, created at its first use. */
export function rareOf(frame: Frame): Rare {
  frame.rare ??= { id: null, extra: null, cleared: false };
  return frame.rare;
}

export type Eval = (frame: Frame) => Value;
/** A compiled statement or block. */
export type Exec = (frame: Frame) => Completion;

/** The variables that are set: those of the source, then those that tools have added. */
export function* variablesOf(frame: Frame): Generator<readonly [string, Value]> {
  for (const [name, slot] of frame.layout.scope) {
    const value = frame.slots[slot];
    if (value !== undefined) yield [name, value];
  }
  yield* frame.rare?.extra ?? [];
}
