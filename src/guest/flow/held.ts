import { simpleText } from '../text.ts';
import { type Container, Dict, Fault, isContainer, List, type Value } from '../values.ts';
import type { Held, Label } from './origins.ts';

/** All labels within a value, besides that of the place where it is. */
export function deepOf(value: Value): Label {
  if (typeof value !== 'object' || value === null) return 0;
  if (value instanceof List || value instanceof Dict) return value.held === undefined ? 0 : value.held.deep;
  return value instanceof Fault ? deepOf(value.fields) : 0;
}

/** The label of an element, besides those of the container's place and of the key. */
export function partOf(container: Value, key: Value): Label {
  if (!isContainer(container) || container.held === undefined) return 0;
  const { parts, deep } = container.held;
  const place = placeOf(container, key);
  return place === undefined ? deep : (parts.get(place) ?? 0);
}

/** The place that a key means; undefined where only work on data can tell. */
export function placeOf(container: Container, key: Value): number | string | undefined {
  if (container instanceof List) return typeof key === 'number' ? key : undefined;
  if (key === null) return '';
  return typeof key === 'object' ? undefined : simpleText(key);
}

/** Adds to the label of a part. */
export function mark(container: Container, place: number | string, label: Label, deep: Label): void {
  if ((label | deep) === 0) return;
  const held: Held = container.held ?? { parts: new Map(), deep: 0 };
  container.held = held;
  if (label !== 0) held.parts.set(place, (held.parts.get(place) ?? 0) | label);
  held.deep |= label | deep;
}

/** Gives a part exactly this label, because it was just written. */
export function replaceMark(container: Container, place: number | string, label: Label, deep: Label): void {
  container.held?.parts.delete(place);
  mark(container, place, label, deep);
}
