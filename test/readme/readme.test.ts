// @module-tag slow
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../architecture/source.ts';
import { markedBlocks, matches } from './blocks.ts';
import { execute } from './execute.ts';

const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
const blocks = markedBlocks(README);

describe('what README.md shows is what happens', () => {
  it('has an embedding example and a command that are executed', () => {
    expect(new Set(blocks.map(({ language }) => language))).toEqual(new Set(['sh', 'ts']));
  });

  it('every line of the demo that it shows is one that the demo prints, but for times and ids', () => {
    const [shown = ''] = /(?<=```text\n)-- calls[^`]*/.exec(README) ?? [];
    const lines = shown.split('\n').filter((line) => !['', '  …'].includes(line));
    const { stdout } = execute('npm run -s demo');
    const printed = new Set(stdout.split('\n').map(withoutChance));
    expect(lines.length).toBeGreaterThan(15);
    expect(lines.filter((line) => !printed.has(withoutChance(line)))).toEqual([]);
  });
});

describe('reading marked blocks', () => {
  const page = ['# t', '<!-- run -->', '', '```sh', 'echo a', '```', '', '```text', 'a', '```', '```sh', 'not run', '```'];

  it('takes marked blocks with their output, and no others', () => {
    expect(markedBlocks(page.join('\n'))).toEqual([{ language: 'sh', code: 'echo a\n', line: 4, mark: 'run', output: 'a\n' }]);
    expect(markedBlocks(['<!-- run -->', '```ts', 'x', '```', 'so:', '```text', 'y', '```'].join('\n'))[0]?.output).toBeNull();
    expect(() => markedBlocks('<!-- run -->\nno block\n```sh\na\n```')).toThrow('line 1');
  });

  it('lets the three dots stand for what varies', () => {
    expect(matches('took 12 ms\nend\n', 'took … ms\nend\n')).toBe(true);
    expect(matches('took 12 ms\nmore\nend\n', 'took … ms\nend\n')).toBe(false);
    expect(matches('a.b', 'a+b')).toBe(false);
  });
});

/** A line of the demo without what differs from run to run. */
function withoutChance(line: string): string {
  return line.replace(/[0-9.]+ ms/g, '… ms').replace(/(nonce|id|issued) [\w:-]{20,}/, '$1 …');
}
