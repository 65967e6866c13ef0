import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { RECORD } from '../../src/loop/record/schema.ts';
import { ROOT } from '../architecture/source.ts';
import { GENERATED } from './generated.ts';

const read = (path: string): unknown => JSON.parse(readFileSync(join(ROOT, path), 'utf8'));

describe('a form has one schema', () => {
  it.each(Object.entries(GENERATED))(
    'schemas/%s is the one of its reader (npx node scripts/schemas.mjs writes it)',
    (name, schema) => {
      expect(read(`docs/schemas/${name}`)).toEqual(JSON.parse(JSON.stringify(schema)));
    },
  );

  it('docs/schemas/export.schema.json has the fields of a record, and requires those that every record has', () => {
    const object = z.object({ properties: z.record(z.string(), z.unknown()), required: z.array(z.string()) });
    const { $defs } = z
      .object({ $defs: z.object({ record: object, inputs: object }) })
      .parse(read('docs/schemas/export.schema.json'));
    expect(Object.keys($defs.record.properties).sort()).toEqual(Object.keys(RECORD.shape).sort());
    expect(Object.keys($defs.inputs.properties).sort()).toEqual(Object.keys(RECORD.shape.inputs.shape).sort());
    const required = Object.entries(RECORD.shape).filter(([, field]) => !field.safeParse(undefined).success);
    expect($defs.record.required.toSorted()).toEqual(required.map(([name]) => name).toSorted());
  });
});
