import { RESERVED } from '../../grammar/vocabulary/keywords.ts';
import { elementIfAny } from './access.ts';
import { TextBuilder } from './builder.ts';
import { fieldAt } from './fields.ts';
import type { Frame } from './frame.ts';
import type { Machine } from './machine.ts';
import { toText } from './text.ts';
import type { Value } from './values.ts';
import { lookup } from './variables.ts';
import { WORK } from './work.ts';

/**
 * `eval(s)`: fills fields such as `{{name.key}}` in a text from the variables of the running frame. Anything else between braces stays as it
 * is, and a path of more than 10,000 keys too. A missing value gives empty text. A reserved word is not a name and stays with its braces. Filled-in text is neither scanned again nor executed. A value that is
 * not a text is returned as it is.
 */
export function evalText(machine: Machine, frame: Frame, value: Value, read = readField): Value {
  if (typeof value !== 'string') return value;
  machine.pay(WORK.scan, value.length);
  const made = new TextBuilder(machine, WORK.concat, 'text');
  let done = 0;
  for (let open = value.indexOf('{{'); open >= 0; open = value.indexOf('{{', open)) {
    machine.pay(WORK.fieldStart);
    const field = fieldAt(value, open);
    if (field === undefined || RESERVED.has(field.path[0] ?? '')) {
      open++;
      continue;
    }
    machine.pay(WORK.field);
    made.add(value.slice(done, open));
    made.add(toText(machine, read(machine, frame, field.path)));
    open = field.end;
    done = open;
  }
  if (done === 0) return value;
  made.add(value.slice(done));
  return made.finish();
}

/** The value that a field means. */
export function readField(machine: Machine, frame: Frame, path: readonly string[]): Value {
  let value: Value = lookup(machine, frame, path[0] ?? '') ?? null;
  for (let step = 1; step < path.length; step++) {
    machine.pay(WORK.visit);
    value = elementIfAny(machine, value, path[step] ?? '') ?? null;
  }
  return value;
}
