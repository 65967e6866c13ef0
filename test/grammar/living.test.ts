// @module-tag slow
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const SYNTAX = join(import.meta.dirname, '../../grammar/syntax/parse.ts');

const LINES = 'set x = x + 1 * 2 - len("a") ** 2\nset m["k"] = [1, {"a": x}, tool.a.B(x, \'y\', ```t {{x}} u```)]\n';
const TEXT = `command\n${LINES.repeat(1500)}endcommand\n`;

/** Parses a text with all kinds of tokens, and collects the garbage between two times, when none of the parser's objects lives. */
const PROGRAM = `
import { parse } from ${JSON.stringify(SYNTAX)};
for (let round = 0; round < 30; round++) {
  if (!parse(${JSON.stringify(TEXT)}).ok) throw new Error('wrong');
  if (round % 3 < 2) continue;
  console.log('collects');
  globalThis.gc({ type: 'major', execution: 'sync' });
}
`;

it('what V8 has compiled of the parser outlives a collection of garbage', { timeout: 60_000 }, () => {
  const flags = ['--expose-gc', '--trace-deopt', '--input-type=module', '--disable-warning=ExperimentalWarning'];
  const { stdout, status, stderr } = spawnSync(process.execPath, [...flags, '-'], {
    encoding: 'utf8',
    input: PROGRAM,
    maxBuffer: 2 ** 28,
  });
  expect(status, stderr).toBe(0);
  expect(stdout.split('collects')).toHaveLength(11);
  const dropped = [...stdout.matchAll(/SharedFunctionInfo ([^)>]+)>\).*embedded weak objects cleared/g)].map(([, name]) => name);
  // What Node's loader has left goes at the first collections, once.
  const repeated = Object.entries(Object.groupBy(dropped, (name) => name ?? '')).filter(([, times = []]) => times.length > 2);
  expect(repeated).toEqual([]);
});
