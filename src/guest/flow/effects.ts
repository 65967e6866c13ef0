import type { Block } from '../../../grammar/index.ts';

/** What code may set in its frame, and how it may leave. If a label decides whether the code runs, all of that depends on the label. */
export class Effects {
  /** Places in `Frame.labels`. */
  readonly places = new Set<number>();
  /** Slots without a name, in the order of their loops. */
  readonly hidden: number[] = [];
  /** Whether it may emit, whisper, and clear handlers of events. A procedure may do all of it. */
  emits = false;
  whispers = false;
  clears = false;
  /** Whether it may clear an error, so that its frame goes on. */
  clearsError = false;
  /** Whether it has a handler of its own, which may leave an error to one around it. */
  handles = false;
  /** Whether it may leave a loop or a pass around it. */
  breaks = false;
  /** Whether it may leave the procedure. */
  returns = false;

  /** A procedure is called. */
  call(): void {
    this.emits = this.whispers = this.clears = true;
  }

  add({ places, hidden, emits, whispers, clears, clearsError, handles, breaks, returns }: Effects): void {
    for (const place of places) this.places.add(place);
    this.hidden.push(...hidden);
    this.emits ||= emits;
    this.whispers ||= whispers;
    this.clears ||= clears;
    this.clearsError ||= clearsError;
    this.handles ||= handles;
    this.breaks ||= breaks;
    this.returns ||= returns;
  }
}

/** The handlers of errors that are compiled so far, by their bodies. */
export type Handlers = Map<Block, Effects>;
