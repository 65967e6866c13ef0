import type { TaggedJson } from '../../wire/protocol.ts';

/** An event that the host delivers to the handlers of a turn. */
export interface LoopInputEvent {
  /** The sender's id for the event. An event that is sent again has the same id. */
  readonly eventId: string;
  /** The name, which handlers match exactly. */
  readonly name: string;
  /** Where the event comes from. */
  readonly source: string;
  /** What the event carries, as tagged JSON. */
  readonly payload: TaggedJson;
}

/**
 * Admits each event once per loop and turn; a second delivery of the same (event_id, loop_id, turn_id) has no effect. It
 * remembers the ids of one turn per loop, so its size does not grow with the number of turns.
 */
export class EventGate {
  readonly #seen = new Map<string, { readonly turnId: number; readonly ids: Set<string> }>();

  /** The events that were not delivered in this turn before, each once and in order. */
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

  dispose(loopId: string): void {
    this.#seen.delete(loopId);
  }
}
