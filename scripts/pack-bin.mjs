// Puts `bin` into package.json while npm packs, and takes it out again. A published package needs it; in a checkout it
// would make `npx neuroscript` install the checkout into npm's cache on every first use, which fails on piped input.
// There, scripts/link-bin.mjs makes the command known instead.
import { readFileSync, writeFileSync } from 'node:fs';

const FILE = new URL('../package.json', import.meta.url);
const { bin: _, ...manifest } = JSON.parse(readFileSync(FILE, 'utf8'));
const entries = Object.entries(manifest);
const after = entries.findIndex(([key]) => key === 'engines') + 1;
if (process.argv[2] === 'add') entries.splice(after, 0, ['bin', { neuroscript: 'bin/neuroscript.js' }]);
writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`);
