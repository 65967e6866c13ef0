// Builds the site into `apps/site/dist/`: writes the reference, builds the pages, makes them independent of their path, and checks them.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, globSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { faultsOf } from './faults.ts';
import { portable } from './portable.ts';

const SITE = fileURLToPath(new URL('.', import.meta.url));
const DIST = join(SITE, 'dist');

function run(...args) {
  const { status } = spawnSync(process.execPath, args, { cwd: SITE, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

run('generate.mjs');
if (existsSync(join(SITE, 'api.mjs'))) run('api.mjs');
run('node_modules/vitepress/bin/vitepress.js', 'build');

// Files that pages link to.
for (const [from, to] of [
  ['examples/containers', 'examples/containers'],
  ['docs/schemas', 'schemas'],
])
  cpSync(join(SITE, '../..', from), join(DIST, to), { recursive: true });

// A server may answer any path with this page, so it loads nothing, and finds the root by the file that is only there.
cpSync(join(SITE, 'notfound.html'), join(DIST, '404.html'));

const playground = join(SITE, '../playground/dist');
if (existsSync(playground)) cpSync(playground, join(DIST, 'playground'), { recursive: true });

const files = new Map();
for (const path of globSync('**/*', { cwd: DIST }).filter((name) => statSync(join(DIST, name)).isFile())) {
  const text = /\.(html|css|js)$/.test(path) ? portable(path, readFileSync(join(DIST, path), 'utf8')) : '';
  if (text !== '') writeFileSync(join(DIST, path), text);
  files.set(path, text);
}

const faults = faultsOf(files);
for (const fault of faults) process.stderr.write(`${fault}\n`);
process.stdout.write(`${files.size} files, ${faults.length} faults\n`);
process.exitCode = faults.length === 0 ? 0 : 1;
