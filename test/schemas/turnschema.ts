import { z } from 'zod';
import { PUBLIC_TURN } from '../../src/loop/record/schema.ts';

/** Where the JSON Schema of a turn stands. */
export const TURN_SCHEMA = 'schemas/turn.schema.json';

/** The JSON Schema of a turn, from the schema that the readers use. */
export function turnSchema(): object {
  const { $schema, ...rest } = z.toJSONSchema(PUBLIC_TURN, {
    override: ({ jsonSchema }) => {
      // Zod bounds every integer by what a double keeps.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    },
  });
  return { $schema, $id: 'turn.schema.json', ...rest };
}
