// Writes the JSON Schema of a turn, from the schema in src/loop/record/schema.ts that the readers use.
// Needs a Node that strips types: run it as `npx node scripts/schemas.mjs`.
import { writeFileSync } from 'node:fs';
import { TURN_SCHEMA, turnSchema } from '../test/schemas/turnschema.ts';

writeFileSync(new URL(`../${TURN_SCHEMA}`, import.meta.url), `${JSON.stringify(turnSchema(), null, 2)}\n`);
