import { matchesGlob } from 'node:path';
import { expect, it } from 'vitest';
import { ALONE, ELSEWHERE, LONGEST, REPLACING, TIMED } from '../groups.ts';
import { filesBelow, sourceOf } from './source.ts';

const FILES = filesBelow('test', '.ts').map((path) => ({ path, text: sourceOf(path).text }));
const APART = [...ALONE, ...ELSEWHERE, ...REPLACING, ...TIMED];
/** The test files whose processes load each module once, for all of them. */
const SHARED = FILES.filter(({ path }) => path.endsWith('.test.ts') && !APART.some((glob) => matchesGlob(path, glob)));

it('test files that share processes replace no modules, and look at nothing that happens once in a process', () => {
  expect(SHARED.length).toBeGreaterThan(300);
  expect(
    SHARED.filter(({ text }) => /\bvi\.(mock|doMock|resetModules)\(|'emit(?:Warning)'/.test(text)).map(({ path }) => path),
  ).toEqual([]);
});

/** A hook that a module adds when it is loaded. */
const HOOK = /^(?:(?:before|after)(?:All|Each)|vi\.setConfig)\(/m;

it('helpers of test files add no hooks: they would add them for the first of the files that share a process only', () => {
  expect(
    ["import x from 'x';\nafterAll(f);", 'vi.setConfig({});', 'f = () => afterAll(g);'].map((text) => HOOK.test(text)),
  ).toEqual([true, true, false]);
  expect(FILES.filter(({ path, text }) => !path.endsWith('.test.ts') && HOOK.test(text)).map(({ path }) => path)).toEqual([]);
});

it('the files that begin first are test files', () => {
  expect(LONGEST.filter((file) => !FILES.some(({ path }) => path === file))).toEqual([]);
});
