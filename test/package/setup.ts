import { existsSync, globSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { ROOT } from '../architecture/source.ts';
import { succeed, TOOLS } from './kit.ts';

/** Packs this checkout, installs the tarball in an empty project, and installs the tools of these tests. */
export default function setup({ provide }: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'neuroscript-package-'));
  const [project, cache] = ['project', 'cache'].map((name) => join(folder, name)) as [string, string];
  for (const each of [project, cache]) mkdirSync(each);
  if (!isInstalled()) succeed('npm', ['ci'], { cwd: TOOLS });
  succeed('npm', ['pack', '--pack-destination', folder], { cwd: ROOT });
  const tarball = globSync(join(folder, '*.tgz'))[0];
  if (tarball === undefined) throw new Error('npm pack made no tarball');
  writeFileSync(join(project, 'package.json'), '{ "private": true }\n');
  succeed('npm', ['install', tarball, '@types/node@26'], { cwd: project });
  symlinkSync(join(succeed('npm', ['config', 'get', 'cache'], { cwd: project }).trim(), '_cacache'), join(cache, '_cacache'));
  provide('prepared', { tarball, project, cache });
  return () => rmSync(folder, { recursive: true, force: true });
}

/** Whether the tools are installed as the lock file has them. */
function isInstalled(): boolean {
  const installed = join(TOOLS, 'node_modules', '.package-lock.json');
  return existsSync(installed) && statSync(installed).mtimeMs >= statSync(join(TOOLS, 'package-lock.json')).mtimeMs;
}
