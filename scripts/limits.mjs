// Writes what is derived from the table of limits: docs/limits.md and the limits in the schema of requests.
// Needs a Node that strips types: run it as `npx node scripts/limits.mjs`.
import { readFileSync, writeFileSync } from 'node:fs';
import { LIMITS_PAGE, limitsPage, REQUEST_SCHEMA, requestSchema } from '../test/docs/limitspage.ts';

const ROOT = new URL('../', import.meta.url);
const schema = new URL(REQUEST_SCHEMA, ROOT);
writeFileSync(new URL(LIMITS_PAGE, ROOT), limitsPage());
writeFileSync(schema, requestSchema(readFileSync(schema, 'utf8')));
