import type { Loop } from '../loops.ts';
import { isContainer, type Value } from '../values.ts';
import { FIRST, type Flow, partsOf } from './flow.ts';
import type { Label } from './origins.ts';

/** A loop whose variables get their labels before each pass. `label` is that of the value of the loop. */
export function passing(flow: Flow, loop: Loop, value: Value, label: Label): Loop {
  const { item, key, body } = loop;
  const parts = isContainer(value) && value.held !== undefined ? partsOf(value) : null;
  return {
    ...loop,
    body: (frame) => {
      const part = parts?.next().value ?? 0;
      frame.labels[FIRST + item] = part | label | flow.pc;
      if (key !== undefined) frame.labels[FIRST + key] = label | flow.pc;
      return body(frame);
    },
  };
}
