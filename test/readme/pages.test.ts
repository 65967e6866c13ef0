import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../architecture/source.ts';
import { type Block, markedBlocks, matches } from './blocks.ts';
import { execute } from './execute.ts';

/** The pages that have blocks to run. A page that loses its last one must be taken off this list. */
const PAGES = [
  'README.md',
  ...[
    'aeiou',
    'ai-sdk',
    'contexts',
    'embedding',
    'keys',
    'loop',
    'operations',
    'receipts',
    'policy',
    'quotas',
    'security',
    'simulation',
    'tenants',
    'tools',
  ].map((name) => `docs/${name}.md`),
];

const blocksOf = (page: string): readonly Block[] => markedBlocks(readFileSync(join(ROOT, page), 'utf8'));

it('all pages with blocks to run are known', () => {
  const all = [
    'README.md',
    ...globSync('{docs,examples,bench,conformance,lab}/**/*.md', { cwd: ROOT, exclude: ['**/node_modules/**'] }),
  ];
  expect(all.filter((page) => blocksOf(page).length > 0).sort()).toEqual([...PAGES].sort());
});

describe.each(PAGES)('%s', (page) => {
  it.each(blocksOf(page))('the $language block at line $line prints what the page says', ({ language, code, output }) => {
    const { status, stdout, stderr } = execute({ language, code });
    expect(status, stderr).toBe(0);
    if (language === 'ts') expect(stderr).toBe('');
    if (output !== null && !matches(stdout, output)) expect(stdout).toBe(output);
  });
});
