// Writes docs/stdlib.md anew. Needs a Node that strips types: run it as `npx node scripts/stdlib.mjs`.
import { writeFileSync } from 'node:fs';
import { STDLIB_PAGE, stdlibPage } from '../test/docs/stdlibpage.ts';

writeFileSync(new URL(`../${STDLIB_PAGE}`, import.meta.url), stdlibPage());
