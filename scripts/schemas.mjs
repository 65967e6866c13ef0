// Writes the JSON Schemas that come from the schemas of readers.
// Needs a Node that strips types: run it as `npx node scripts/schemas.mjs`.
import { writeFileSync } from 'node:fs';
import { GENERATED } from '../test/schemas/generated.ts';

for (const [name, schema] of Object.entries(GENERATED))
  writeFileSync(new URL(`../docs/schemas/${name}`, import.meta.url), `${JSON.stringify(schema, null, 2)}\n`);
