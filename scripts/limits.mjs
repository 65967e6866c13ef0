// Writes docs/limits.md anew. Needs a Node that strips types: run it as `npx node scripts/limits.mjs`.
import { writeFileSync } from 'node:fs';
import { LIMITS_PAGE, limitsPage } from '../test/docs/limitspage.ts';

writeFileSync(new URL(`../${LIMITS_PAGE}`, import.meta.url), limitsPage());
