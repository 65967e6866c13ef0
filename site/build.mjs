// Builds the site: writes the API reference where there is a generator for it, then the pages into `site/dist/`.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const SITE = fileURLToPath(new URL('.', import.meta.url));

function run(...args) {
  const { status } = spawnSync(process.execPath, args, { cwd: SITE, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

if (existsSync(new URL('api.mjs', import.meta.url))) run('api.mjs');
run('node_modules/vitepress/bin/vitepress.js', 'build');
