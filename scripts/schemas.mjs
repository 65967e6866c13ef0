// Writes the JSON Schemas of a turn and of a configuration, from the schemas that the readers use.
// Needs a Node that strips types: run it as `npx node scripts/schemas.mjs`.
import { writeFileSync } from 'node:fs';
import { CONFIG_SCHEMA, configSchema } from '../test/schemas/configschema.ts';
import { TURN_SCHEMA, turnSchema } from '../test/schemas/turnschema.ts';

const write = (path, schema) => writeFileSync(new URL(`../${path}`, import.meta.url), `${JSON.stringify(schema, null, 2)}\n`);
write(TURN_SCHEMA, turnSchema());
write(CONFIG_SCHEMA, configSchema());
