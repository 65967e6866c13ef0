// @module-tag slow
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { beforeAll, expect, it } from 'vitest';
import { parse } from '../../grammar/syntax/parse.ts';
import { tempFolder } from '../folder.ts';
import { DEEP_PROGRAMS } from './shapes.ts';

/** The stack of the worker's isolates less a margin of 500 KB, in KB. */
const STACK = 6000;

/** The same for measured runs, whose statements take more of it. */
const MEASURED_STACK = 6250;

/** What runs the deep programs, with all that it imports, in one file: each process would take half a second of CPU time to strip the types. */
let bundle = '';
/** The trees of the deep programs: in a slow tier, the parser would take as long as the program. */
let trees = '';
const folder = tempFolder();
beforeAll(async () => {
  bundle = join(folder, 'deep.mjs');
  trees = join(folder, 'trees.json');
  writeFileSync(
    trees,
    JSON.stringify(Object.fromEntries(Object.entries(DEEP_PROGRAMS).map(([name, text]) => [name, treeOf(text)]))),
  );
  await using build = await rolldown({ input: join(import.meta.dirname, 'deep.ts'), platform: 'node' });
  await build.write({ file: bundle });
});

function treeOf(text: string): unknown {
  const parsed = parse(text, { name: 'test.ns' });
  if (!parsed.ok) throw new Error(parsed.errors[0].message);
  return parsed.file;
}

/** How the deep programs end in a process with this stack and these flags of V8. */
function outcomes(stackKb: number, flags: readonly string[], ...args: readonly string[]): Readonly<Record<string, string>> {
  const command = [`--stack-size=${stackKb}`, ...flags, bundle, trees, ...args];
  return JSON.parse(execFileSync(process.execPath, command, { encoding: 'utf8' }));
}

it.each([
  ['of all compilers', []],
  ['of the interpreter', ['--no-sparkplug', '--no-maglev', '--no-opt']],
  ['of the baseline compiler', ['--always-sparkplug', '--no-maglev', '--no-opt']],
  ['of the first optimising compiler', ['--stress-maglev', '--no-turbofan']],
])('P24, finding 19: depth ends in code 37 through every construct, with the frames %s', (_tier, flags) => {
  const { templates, ...others } = outcomes(STACK, flags);
  expect(templates).toMatch(/^NS37 maximum call depth of 500/);
  expect(new Set(Object.values(others))).toEqual(new Set(['NS37 maximum evaluation depth of 10,000 exceeded']));
  expect(Object.keys(others).length).toBeGreaterThan(20);
});

it('P24, finding 19: a stack that is too small for the depth ends in code 37 too, past every handler', () => {
  const { templates, ...others } = outcomes(500, []);
  expect(templates).toMatch(/^NS37 /);
  expect(new Set(Object.values(others))).toEqual(new Set(['NS37 the evaluation is too deep for the stack of the interpreter']));
});

it('depth ends a measured run as it ends any run, through every construct', () => {
  const { templates, ...others } = outcomes(MEASURED_STACK, ['--no-sparkplug', '--no-maglev', '--no-opt'], 'measured');
  expect(templates).toMatch(/^NS37 maximum call depth of 500/);
  expect(new Set(Object.values(others))).toEqual(new Set(['NS37 maximum evaluation depth of 10,000 exceeded']));
});
