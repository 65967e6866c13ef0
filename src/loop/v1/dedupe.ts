import type { TaggedJson } from '../../wire/protocol.ts';

/** An event that the host delivers to the handlers of a turn. */
export interface LoopInputEvent {
  /** What the sender calls this event; the same event has the same id however often it is sent. */
  readonly eventId: string;
  readonly name: string;
  readonly source: string;
  readonly payload: TaggedJson;
}

/**
 * Lets each event through once per loop and turn: a second delivery of the same (event_id, loop_id, turn_id) has no effect
 * (AL1-2.12-2). Remembers ids of one turn per loop, so a loop costs no more the longer it runs.
 */
export class EventGate {
  readonly #seen = new Map<string, { readonly turnId: number; readonly ids: Set<string> }>();

  /** The events that were not delivered in this turn yet, each once, in order. */
  admit(loopId: string, turnId: number, events: readonly LoopInputEvent[]): readonly LoopInputEvent[] {
    const before = this.#seen.get(loopId);
    const turn = before?.turnId === turnId ? before : { turnId, ids: new Set<string>() };
    this.#seen.set(loopId, turn);
    return events.filter(({ eventId }) => {
      if (turn.ids.has(eventId)) return false;
      turn.ids.add(eventId);
      return true;
    });
  }

  /** Forgets a loop that has ended. */
  dispose(loopId: string): void {
    this.#seen.delete(loopId);
  }
}
