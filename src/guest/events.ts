import { VALUE_BYTES } from '../wire/costs.ts';
import type { EventInput } from '../wire/protocol.ts';
import { decode } from './codec.ts';
import type { Machine } from './machine.ts';
import { measuredList, measuredMap } from './measure.ts';
import { entryBytes, listBytes } from './memory.ts';
import type { Procedure } from './procedure.ts';
import { Dict, List, share, type Value } from './values.ts';

/** A registered `on event`. Its body runs like a procedure whose one argument is the event. */
export interface Registration {
  readonly event: string;
  readonly named: string | undefined;
  readonly handler: Procedure;
  cleared: boolean;
}

/** The event handlers of a run, in the order of registration. */
export class Events {
  readonly #byEvent = new Map<string, Registration[]>();
  readonly #byName = new Map<string, Registration[]>();

  register(registration: Registration): void {
    const { event, named } = registration;
    add(this.#byEvent, event, registration);
    if (named !== undefined) add(this.#byName, named, registration);
  }

  /** `clear event e`. */
  clearEvent(event: string): void {
    clear(this.#byEvent, event);
  }

  /** `clear event named "x"`. */
  clearNamed(handler: string): void {
    clear(this.#byName, handler);
  }

  /** The handlers that an event has now. One of them may be cleared by another that runs before it. */
  of(event: string): Registration[] {
    return (this.#byEvent.get(event) ?? []).filter(({ cleared }) => !cleared);
  }
}

function add(registered: Map<string, Registration[]>, name: string, registration: Registration): void {
  const known = registered.get(name);
  if (known === undefined) registered.set(name, [registration]);
  else known.push(registration);
}

function clear(registered: Map<string, Registration[]>, name: string): void {
  for (const registration of registered.get(name) ?? []) registration.cleared = true;
  registered.delete(name);
}

/**
 * The event object that a handler sees: the payload if it has that form already, else one record around the payload. `ID` and
 * `TS` are inputs of the run, because the isolate has neither clock nor randomness. Without them `counted` is the id and `TS` is nil.
 */
export function eventObject(machine: Machine, event: EventInput, counted: string): Value {
  const { name, source, payload, id = counted, ts = null } = event;
  const value = decode(machine, payload ?? null);
  if (isEventObject(value)) return share(value);
  const keys = ['ID', 'Kind', 'AgentID', 'TS', 'Payload', 'payload'];
  machine.allocate(2 * VALUE_BYTES.map.amount + listBytes(1) + keys.reduce((sum, key) => sum + entryBytes(key), 0));
  const record = measuredMap([
    ['ID', id],
    ['Kind', name],
    ['AgentID', source],
    ['TS', ts],
    ['Payload', value],
  ]);
  return share(measuredMap([['payload', measuredList([record])]]));
}

function isEventObject(value: Value): boolean {
  if (!(value instanceof Dict)) return false;
  const records = value.entries.get('payload');
  if (!(records instanceof List) || records.items.length === 0) return false;
  return records.items.every((record) => record instanceof Dict && record.entries.has('Kind') && record.entries.has('Payload'));
}
