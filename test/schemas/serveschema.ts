import { z } from 'zod';
import { ONE_PROFILE, SERVE_CONFIG } from '../../src/cli/serve/schema.ts';
import { schemaOf } from './turnschema.ts';

/** Where the JSON Schema of the configuration of `serve` stands. */
export const SERVE_SCHEMA = 'schemas/serve.schema.json';

/** The JSON Schema of the configuration of `serve`, from the schema that reads it. */
export function serveSchema(): object {
  return schemaOf(z.union([SERVE_CONFIG, ONE_PROFILE]), 'serve.schema.json');
}
