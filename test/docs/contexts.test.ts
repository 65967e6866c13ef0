import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../architecture/source.ts';
import { markedBlocks } from '../readme/blocks.ts';
import { execute } from '../readme/execute.ts';

const blocks = markedBlocks(readFileSync(join(ROOT, 'docs/contexts.md'), 'utf8'));

it('docs/contexts.md has programs to run', () => {
  expect(blocks).toHaveLength(2);
});

it.each(blocks)('the $language block at line $line of docs/contexts.md prints what it says', (block) => {
  const { status, stdout, stderr } = execute(block);
  expect(status, stderr).toBe(0);
  expect(stdout).toBe(block.output);
});
