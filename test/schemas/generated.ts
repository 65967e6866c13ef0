import { z } from 'zod';
import { ONE_PROFILE, SEVERAL_PROFILES } from '../../src/cli/config/schema.ts';
import { PUBLIC_TURN } from '../../src/loop/record/schema.ts';
import { paramForms } from '../../src/rpc/index.ts';
import { requestForm } from '../../src/runtime/line.ts';
import { grantForm, policyForm } from '../../src/tools/index.ts';

const CONFIG = z.union([SEVERAL_PROFILES, ONE_PROFILE]).meta({ title: 'Configuration of neuroscript loop and serve' });

const HOST = z.object(paramForms()).meta({ title: 'Parameters of the requests to neuroscript host, by method' });

/** The JSON Schemas that come from the schemas of readers, by their files in `docs/schemas/`. */
export const GENERATED: Readonly<Record<string, object>> = {
  'config.schema.json': schemaOf(CONFIG, 'config.schema.json', 'output'),
  'grant.schema.json': schemaOf(grantForm(), 'grant.schema.json', 'input'),
  'policy.schema.json': schemaOf(policyForm(), 'policy.schema.json', 'input'),
  'host.schema.json': schemaOf(HOST, 'host.schema.json', 'input'),
  'request.schema.json': schemaOf(requestForm(), 'request.schema.json', 'input'),
  'turn.schema.json': schemaOf(PUBLIC_TURN, 'turn.schema.json', 'output'),
};

/** A schema of zod as JSON Schema: of what it reads, or of what it gives. */
function schemaOf(schema: z.ZodType, id: string, io: 'input' | 'output'): object {
  const { $schema, ...rest } = z.toJSONSchema(schema, {
    io,
    // A schema that JSON Schema has no words for says with `meta` what it stands for.
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      // Zod bounds every integer by what a double keeps.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    },
  });
  return { $schema, $id: id, ...rest };
}
