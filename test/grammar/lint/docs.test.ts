import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { analyse, type Environment, LINTS } from '../../../grammar/lint/index.ts';
import { ROOT } from '../../architecture/source.ts';
import { drive } from '../../guest/driver.ts';
import { checked, findings } from './lint.ts';

const page = readFileSync(join(ROOT, 'docs/lints.md'), 'utf8');
const example = (section: string, kind: string): string =>
  new RegExp(`^(\`{3,})neuroscript ${kind}\\n([\\s\\S]*?)^\\1$`, 'm').exec(section)?.[2] ?? '';
const sections = page
  .split(/^## (?=LINT_)/m)
  .slice(1)
  .map((text) => ({ code: /^LINT_\w+/.exec(text)?.[0] ?? '', bad: example(text, 'bad'), good: example(text, 'good') }));

const environment: Environment = {
  tools: [
    ...['get', 'drop'].map((name) => ({ name: `tool.memory.${name}`, least: 1, most: 1, takes: ['string' as const] })),
    { name: 'tool.regex.match', least: 2, most: 2 },
  ],
  complete: true,
  denied: [{ name: 'tool.memory.drop', reason: "tool 'tool.memory.drop' denied by policy rule: *.drop" }],
};

describe('docs/lints.md', () => {
  it('has a section and a row for every code, with its severity, in the order of the table', () => {
    expect(sections.map(({ code }) => code)).toEqual(Object.keys(LINTS));
    const rows = [...page.matchAll(/^\| \[(LINT_\w+)\]\(#(\w+)\) +\| (\w+) +\| (.*?) +\|$/gm)].map(([, ...cells]) => cells);
    expect(rows).toEqual(Object.entries(LINTS).map(([code, { severity, title }]) => [code, code.toLowerCase(), severity, title]));
  });

  it.each(sections)('$code: the bad example has this finding and no other', ({ code, bad }) => {
    const files = bad.split(/^---\n/m).map((text, index) => checked(text, `${index + 1}.ns`));
    expect(new Set(analyse(files, environment).map((found) => found.code))).toEqual(new Set([code]));
  });

  it.each(sections)('$code: the good example has no finding, and runs', ({ good }) => {
    expect(findings(good, environment)).toEqual([]);
    const call = /func main\b/.test(good) ? { call: 'main' } : {};
    expect(drive(good, { ...call, tools: { 'tool.memory.get': () => 1, 'tool.regex.match': () => true } }).error).toBeNull();
  });
});
