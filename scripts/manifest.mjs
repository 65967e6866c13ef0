// Turns package.json into what is published (`publish`, which npm runs before it packs) and back (`restore`, afterwards): users need
// none of the scripts of a checkout, and their npm runs `preinstall`.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const MANIFEST = fileURLToPath(new URL('../package.json', import.meta.url));
const KEPT = fileURLToPath(new URL('../.package.json', import.meta.url));

if (existsSync(KEPT)) renameSync(KEPT, MANIFEST);
if (process.argv[2] === 'publish') {
  const text = readFileSync(MANIFEST, 'utf8');
  const { scripts: _scripts, devDependencies: _dev, allowScripts: _allow, ...manifest } = JSON.parse(text);
  writeFileSync(KEPT, text);
  const published = { ...manifest, scripts: { preinstall: 'node bin/preinstall.cjs' } };
  writeFileSync(MANIFEST, `${JSON.stringify(published, null, 2)}\n`);
}
