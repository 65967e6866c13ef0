import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from '../../grammar/index.ts';
import { packageFiles } from '../../src/sandbox/launch.ts';
import { MOST_CACHES } from '../../src/wire/codecache.ts';
import { Parser, partsFor } from '../../src/worker/parser.ts';
import { PART_NAMES, scriptsIn } from '../../src/worker/parts.ts';

describe('parts of the interpreter that only some programs need', () => {
  const treesOf = (text: string) => {
    const parsed = new Parser(parse).trees([{ name: 'src', text }], 1e6);
    return parsed.ok ? parsed.trees : [];
  };
  const plain = 'command\n  emit 1\nendcommand\n';
  const together = 'command\n  together\n    call tool.t.a()\n    call tool.t.b()\n  endtogether\nendcommand\n';
  const loop = 'command\n  for each x in [1] together\n    call tool.t.a(x)\n  endfor\nendcommand\n';

  it.each([
    ['a plain program needs none', plain, {}, [], []],
    ['a pure tool', plain, {}, ['tool.str.length'], ['pure']],
    ['flow rules', plain, { flow: { program: [], globals: [], events: [] } }, [], ['flow']],
    ['a measured run', plain, { probe: {} }, [], ['probe']],
    ['a block of calls', together, {}, [], ['together']],
    ['a loop of calls', loop, {}, [], ['together']],
  ] as const)('%s', (_, text, input, pure, parts) => {
    expect(partsFor(input, treesOf(text), pure)).toEqual(parts);
  });

  it('issue 45, point 3: the script that every isolate runs has none of them, and at most 96 KB', () => {
    const { own, parts } = scriptsIn(readFileSync(packageFiles().guest, 'utf8'));
    expect([...parts.keys()]).toEqual(PART_NAMES);
    expect(PART_NAMES.length + 2).toBe(MOST_CACHES);
    expect(own.length).toBeLessThan(96 * 1024);
    for (const script of ['labels', 'a call that ran together with others has no end'])
      expect([...parts.values()].some((text) => text.includes(script))).toBe(true);
    expect(own).not.toContain('a call that ran together with others has no end');
    expect(own).not.toContain('class Origins');
  });

  it('a file without parts is an interpreter alone', () => {
    expect(scriptsIn('var guest = {};')).toEqual({ own: 'var guest = {};', parts: new Map() });
  });
});
