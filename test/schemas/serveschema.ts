import { z } from 'zod';
import { ONE_PROFILE, SERVE_CONFIG } from '../../src/cli/serve/schema.ts';
import { schemaOf } from './turnschema.ts';

/** Where the JSON Schema of the configuration of `serve` stands. */
export const SERVE_SCHEMA = 'schemas/serve.schema.json';

/** The JSON Schema of the configuration of `serve`, from the schema that reads it. */
export function serveSchema(): object {
  const either = z.union([SERVE_CONFIG, ONE_PROFILE]).meta({ title: 'Configuration of neuroscript serve' });
  return schemaOf(either, 'serve.schema.json');
}
