import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** The worker's stack, in KB. */
const STACK = '--stack-size=3900';

it('P24: with the stack of the worker, depth ends in code 37 through every construct, never in a crash', () => {
  const text = execFileSync(process.execPath, [STACK, join(import.meta.dirname, 'deep.ts')], { encoding: 'utf8' });
  const outcomes: Record<string, string> = JSON.parse(text);
  const { templates, ...others } = outcomes;
  expect(templates).toMatch(/^NS37 maximum call depth of 500/);
  expect(new Set(Object.values(others))).toEqual(new Set(['NS37 maximum evaluation depth of 10000 exceeded']));
  expect(Object.keys(others).length).toBeGreaterThan(15);
});
