import { existsSync, globSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { ROOT } from '../architecture/source.ts';
import { otherNode } from '../machine/node.ts';
import { MAJORS, succeedLater, TOOLS } from './kit.ts';

/** Packs this checkout, installs the tarball in an empty project, and installs the tools and the versions of Node of these tests. */
export default async function setup({ provide }: TestProject): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), 'neuroscript-package-'));
  const [project, cache] = ['project', 'cache'].map((name) => join(folder, name)) as [string, string];
  for (const each of [project, cache]) mkdirSync(each);
  const packed = async () => {
    await succeedLater('npm', ['pack', '--pack-destination', folder], { cwd: ROOT });
    await succeedLater('npm', ['pack', '--pack-destination', folder], { cwd: join(ROOT, 'apps/command') });
    const [tarball, command] = ['neuroscript-runtime', 'neuroscript'].map(
      (name) => globSync(join(folder, `${name}-[0-9]*.tgz`))[0],
    );
    if (tarball === undefined || command === undefined) throw new Error('npm pack made no tarball');
    writeFileSync(join(project, 'package.json'), '{ "private": true }\n');
    await succeedLater('npm', ['install', tarball, command, '@types/node@26'], { cwd: project });
    return { tarball, command };
  };
  const tools = async () => {
    if (!isInstalled()) await succeedLater('npm', ['ci'], { cwd: TOOLS });
  };
  const versions = () => Promise.all(MAJORS.map((major) => otherNode([major])));
  const [made, nodes, npms] = await Promise.all([
    packed(),
    versions(),
    succeedLater('npm', ['config', 'get', 'cache'], { cwd: project }),
    tools(),
  ]);
  symlinkSync(join(npms.trim(), '_cacache'), join(cache, '_cacache'));
  provide('prepared', { ...made, project, cache, nodes });
  return () => rmSync(folder, { recursive: true, force: true });
}

/** Whether the tools are installed as the lock file has them. */
function isInstalled(): boolean {
  const installed = join(TOOLS, 'node_modules', '.package-lock.json');
  return existsSync(installed) && statSync(installed).mtimeMs >= statSync(join(TOOLS, 'package-lock.json')).mtimeMs;
}
