import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { importsOf, isOurs } from '../architecture/imports.ts';
import { ROOT, sourceOf } from '../architecture/source.ts';
import { PLANTS } from '../simulate/plants.ts';

/** The files that are loaded with a file. */
function loadedWith(path: string, known = new Set<string>()): ReadonlySet<string> {
  known.add(path);
  for (const { to, typeOnly, later } of importsOf(sourceOf(path)))
    if (!typeOnly && !later && isOurs(to) && !known.has(to)) loadedWith(to, known);
  return known;
}

it('a mistake is planted in a file before the file is loaded, and in a text that occurs once', () => {
  const loaded = loadedWith('test/simulate/main.ts');
  expect(loaded).toContain('test/simulate/plants.ts');
  expect(PLANTS.filter(({ file }) => loaded.has(file))).toEqual([]);
  expect(PLANTS.filter(({ file, text }) => readFileSync(join(ROOT, file), 'utf8').split(text).length !== 2)).toEqual([]);
});
