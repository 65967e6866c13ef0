// Writes the JSON Schemas that come from the schemas of readers.
// Needs a Node that strips types: run it as `npx node scripts/schemas.mjs`.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { GENERATED } from '../test/schemas/generated.ts';

const folder = fileURLToPath(new URL('../docs/schemas/', import.meta.url));
for (const [name, schema] of Object.entries(GENERATED)) writeFileSync(folder + name, JSON.stringify(schema, null, 2));
execFileSync('npx', ['biome', 'format', '--write', folder], { stdio: 'inherit' });
