import { VALUE_BYTES } from '../../wire/costs.ts';
import { describe, Fault, putEntry } from '../kit.ts';
import type { Group } from './define.ts';
import { newMap } from './results.ts';

export const ERROR: Group<'error'> = {
  'tool.error.New': (meter, code, message) => {
    if (typeof code !== 'string' && typeof code !== 'number')
      return meter.fail('Type', `code must be a string or a number, got ${describe(code)}`);
    const fields = newMap(meter);
    putEntry(meter, fields, 'code', code);
    putEntry(meter, fields, 'message', message);
    meter.allocate(VALUE_BYTES.other.amount);
    return new Fault(fields);
  },
};
