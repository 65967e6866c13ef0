import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { RECORD } from '../../src/loop/record/schema.ts';
import { ROOT } from '../architecture/source.ts';
import { CONFIG_SCHEMA, configSchema } from './configschema.ts';
import { TURN_SCHEMA, turnSchema } from './turnschema.ts';

const read = (path: string): unknown => JSON.parse(readFileSync(join(ROOT, path), 'utf8'));

describe('a turn has one schema', () => {
  it('schemas/turn.schema.json is the one that the readers use (npx node scripts/schemas.mjs writes it)', () => {
    expect(read(TURN_SCHEMA)).toEqual(JSON.parse(JSON.stringify(turnSchema())));
  });

  it('schemas/config.schema.json is the one that reads a configuration', () => {
    expect(read(CONFIG_SCHEMA)).toEqual(JSON.parse(JSON.stringify(configSchema())));
  });

  it('schemas/export.schema.json has the fields of a record, and requires those that every record has', () => {
    const object = z.object({ properties: z.record(z.string(), z.unknown()), required: z.array(z.string()) });
    const { $defs } = z.object({ $defs: z.object({ record: object, inputs: object }) }).parse(read('schemas/export.schema.json'));
    expect(Object.keys($defs.record.properties).sort()).toEqual(Object.keys(RECORD.shape).sort());
    expect(Object.keys($defs.inputs.properties).sort()).toEqual(Object.keys(RECORD.shape.inputs.shape).sort());
    const required = Object.entries(RECORD.shape).filter(([, field]) => !field.safeParse(undefined).success);
    expect($defs.record.required.toSorted()).toEqual(required.map(([name]) => name).toSorted());
  });
});
