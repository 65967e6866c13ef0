import { z } from 'zod';
import { PUBLIC_TURN } from '../../src/loop/record/schema.ts';

/** Where the JSON Schema of a turn stands. */
export const TURN_SCHEMA = 'schemas/turn.schema.json';

/** The JSON Schema of a turn, from the schema that the readers use. */
export function turnSchema(): object {
  return schemaOf(PUBLIC_TURN, 'turn.schema.json');
}

/** A schema of zod as JSON Schema. */
export function schemaOf(schema: z.ZodType, id: string): object {
  const { $schema, ...rest } = z.toJSONSchema(schema, {
    override: ({ jsonSchema }) => {
      // Zod bounds every integer by what a double keeps.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    },
  });
  return { $schema, $id: id, ...rest };
}
