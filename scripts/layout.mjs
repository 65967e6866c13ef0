// Writes the layout of the repository into CONTRIBUTING.md, from the table of parts in test/architecture/parts.ts.
// Needs a Node that strips types: run it as `npx node scripts/layout.mjs`.
import { readFileSync, writeFileSync } from 'node:fs';
import { withLayout } from '../test/architecture/parts.ts';

const page = new URL('../CONTRIBUTING.md', import.meta.url);
writeFileSync(page, withLayout(readFileSync(page, 'utf8')));
