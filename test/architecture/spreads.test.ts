import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { filesBelow, ROOT } from './source.ts';

it('an absent field is written as undefined, not left out by a spread', () => {
  const files = ['apps', 'bench', 'conformance', 'examples', 'grammar', 'scripts', 'src', 'stdlib-tools', 'test'].flatMap(
    (folder) => filesBelow(folder, '.ts', '.tsx', '.mjs'),
  );
  const spread = /=== undefined \? \{\} : \{/;
  expect(files.filter((path) => !path.includes('node_modules/') && spread.test(readFileSync(`${ROOT}${path}`, 'utf8')))).toEqual(
    [],
  );
});
