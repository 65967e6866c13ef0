import { VALUE_BYTES } from '../../wire/costs.ts';
import { describe, Fault, putEntry } from '../kit.ts';
import { newMap } from './charges.ts';
import type { Group } from './define.ts';

/** Errors as values (language.md 3.1). */
export const ERROR: Group<'error'> = {
  'tool.error.New': (machine, code, message) => {
    if (typeof code !== 'string' && typeof code !== 'number')
      return machine.fail('Type', `code must be a text or a number, got ${describe(code)}`);
    const fields = newMap(machine);
    putEntry(machine, fields, 'code', code);
    putEntry(machine, fields, 'message', message);
    machine.allocate(VALUE_BYTES.other.amount);
    return new Fault(fields);
  },
};
