// Builds the page of `neuroscript ui` into apps/inspector/dist/, with the licences of what it contains. npm runs it before it packs.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../apps/inspector', import.meta.url));

function npm(...args) {
  // The outer npm says in its environment which package it packs, and `--dry-run` would hold for the inner one too.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')));
  const { status } = spawnSync('npm', args, {
    cwd: folder,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  });
  if (status !== 0) process.exit(status ?? 1);
}

if (!existsSync(join(folder, 'node_modules'))) npm('ci');
npm('run', 'build');
