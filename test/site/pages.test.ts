import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { nav, paths, sidebar } from '../../apps/site/pages.ts';
import { ROOT } from '../architecture/source.ts';

it('every page of docs/ has one place in the menu of the site, and the menu names no other', () => {
  expect(globSync('docs/*.md', { cwd: ROOT }).filter((path) => !paths.includes(path))).toEqual([]);
  expect(paths.filter((path, index) => paths.indexOf(path) !== index)).toEqual([]);
  const made = /^apps\/site\/reference\//;
  expect(paths.filter((path) => !made.test(path) && !existsSync(join(ROOT, path)))).toEqual([]);
});

it('the links of the menus are paths of the site', () => {
  const links = [...nav(), ...sidebar().flatMap(({ items }) => items)].map(({ link }) => link);
  expect(links).toEqual(expect.arrayContaining(['/docs/tutorial', '/docs/language', '/SECURITY', '/reference/cli']));
  expect(links.filter((link) => !/^\/[\w./-]+$/.test(link) || link.endsWith('.md'))).toEqual([]);
});
