import { globSync, readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { expect, it } from 'vitest';
import { ALONE, ELSEWHERE, LONGEST, PROCESSES, TIMED } from '../groups.ts';
import { importsOf } from './imports.ts';
import { filesBelow, ROOT, sourceOf } from './source.ts';

const FILES = filesBelow('test', '.ts').map((path) => ({ path, text: sourceOf(path).text }));
const APART = [...ALONE, ...ELSEWHERE, ...PROCESSES, ...TIMED];
/** The test files whose processes load each module once, for all of them. */
const SHARED = FILES.filter(({ path }) => path.endsWith('.test.ts') && !APART.some((glob) => matchesGlob(path, glob)));

it('test files that share processes replace no modules', () => {
  expect(SHARED.length).toBeGreaterThan(200);
  expect(SHARED.filter(({ text }) => /\bvi\.(mock|doMock|resetModules)\(/.test(text)).map(({ path }) => path)).toEqual([]);
});

it('what test files that share processes import adds no hooks: it would add them for the first of the files only', () => {
  const hooked = FILES.filter(
    ({ path, text }) => !path.endsWith('.test.ts') && /^((before|after)(All|Each)|vi\.setConfig)\(/m.test(text),
  );
  expect(hooked.length).toBeGreaterThan(0);
  const wrong = hooked.flatMap((helper) =>
    SHARED.filter(({ path }) => importsOf(sourceOf(path)).some(({ to }) => to === helper.path)).map(({ path }) => path),
  );
  expect(wrong).toEqual([]);
});

it('test files with a configuration of their own are in no group of npm test', () => {
  const configs = globSync('vitest.*.config.ts', { cwd: ROOT }).map((path) => readFileSync(join(ROOT, path), 'utf8'));
  const folders = configs.flatMap((text) => [...text.matchAll(/'(test\/\w+\/\*\*)\/\*\.test\.ts'/g)].map(([, glob]) => glob));
  expect(folders.length).toBeGreaterThan(3);
  expect(folders.sort()).toEqual([...ELSEWHERE].sort());
});

it('the files that begin first are test files', () => {
  expect(LONGEST.filter((file) => !FILES.some(({ path }) => path === file))).toEqual([]);
});
