import { RESERVED } from '../../grammar/vocabulary/keywords.ts';
import { elementIfAny } from './access.ts';
import { TextBuilder } from './builder.ts';
import type { Frame } from './frame.ts';
import type { Machine } from './machine.ts';
import { toText } from './text.ts';
import type { Value } from './values.ts';
import { lookup } from './variables.ts';
import { WORK } from './work.ts';

/**
 * A field `{{ name.key[0] }}`, with any blanks. `eval` leaves anything else between braces as it is, and a path of more than 10,000
 * steps too: V8 has no room to match millions of them.
 */
const FIELD = /\{\{\s*([A-Za-z_]\w*(?:\s*(?:\.\s*[A-Za-z_]\w*|\[\s*\d+\s*\])){0,10000})\s*\}\}/y;
const STEP = /[A-Za-z_]\w*|\d+/g;

/**
 * `eval(s)`: fills fields such as `{{name.key}}` in a text from the variables of the running frame. A missing value gives empty
 * text. A reserved word is not a name and stays with its braces. Filled-in text is neither scanned again nor executed. A value that is
 * not a text is returned as it is.
 */
export function evalText(machine: Machine, frame: Frame, value: Value): Value {
  if (typeof value !== 'string') return value;
  machine.pay(WORK.scan, value.length);
  const made = new TextBuilder(machine, WORK.concat, 'text');
  let done = 0;
  for (let open = value.indexOf('{{'); open >= 0; open = value.indexOf('{{', open)) {
    machine.pay(WORK.fieldStart);
    FIELD.lastIndex = open;
    const path = FIELD.exec(value)?.[1];
    if (path === undefined || RESERVED.has(/^\w+/.exec(path)?.[0] ?? '')) {
      open++;
      continue;
    }
    machine.pay(WORK.field);
    made.add(value.slice(done, open));
    made.add(toText(machine, read(machine, frame, path)));
    open = FIELD.lastIndex;
    done = open;
  }
  if (done === 0) return value;
  made.add(value.slice(done));
  return made.finish();
}

function read(machine: Machine, frame: Frame, path: string): Value {
  const [name = '', ...keys] = path.match(STEP) ?? [];
  let value: Value = lookup(machine, frame, name) ?? null;
  for (const key of keys) {
    machine.pay(WORK.visit);
    value = elementIfAny(machine, value, key) ?? null;
  }
  return value;
}
