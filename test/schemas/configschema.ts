import { z } from 'zod';
import { ONE_PROFILE, SEVERAL_PROFILES } from '../../src/cli/config/schema.ts';
import { schemaOf } from './turnschema.ts';

/** Where the JSON Schema of a configuration stands. */
export const CONFIG_SCHEMA = 'schemas/config.schema.json';

/** The JSON Schema of a configuration, from the schema that reads it. */
export function configSchema(): object {
  const either = z.union([SEVERAL_PROFILES, ONE_PROFILE]).meta({ title: 'Configuration of neuroscript loop and serve' });
  return schemaOf(either, 'config.schema.json');
}
