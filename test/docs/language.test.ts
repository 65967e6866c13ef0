import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { keywords } from '../../grammar/syntax/tokens.ts';
import { NS_CODES } from '../../src/wire/codes.ts';
import { ROOT } from '../architecture/source.ts';
import { examplesOf, happened, promised } from './programs.ts';

const read = (page: string): string => readFileSync(join(ROOT, 'docs', page), 'utf8');

describe.each(['language.md', 'language-for-models.md'])('the programs of docs/%s', (page) => {
  it.each(examplesOf(read(page)))('at line $at do what their comments say', (example) => {
    expect(happened(example)).toEqual(promised(example));
  });
});

describe('docs/language.md', () => {
  const text = read('language.md');

  it('has at least one example in every chapter that speaks of what programs do', () => {
    const chapters = text.split(/^## /m).slice(1);
    const bare = chapters.filter((chapter) => examplesOf(chapter).length === 0).map((chapter) => chapter.split('\n')[0]);
    expect(bare).toEqual(['Error codes', 'Limits']);
  });

  it('lists every reserved word and every error code', () => {
    const words = /^```text\n(acos [\s\S]*?)^```$/m.exec(text)?.[1]?.split(/\s+/).filter(Boolean);
    expect(words?.toSorted()).toEqual([...keywords.keys()].toSorted());
    const codes = [...text.matchAll(/^\| (\d+) +\| (\w+) +\|/gm)].map(([, code, name]) => [name, Number(code)]);
    expect(Object.fromEntries(codes)).toEqual(NS_CODES);
  });
});

describe('docs/language-for-models.md', () => {
  it('is short enough for a prompt: under 1,500 words', () => {
    expect(read('language-for-models.md').split(/\s+/).length).toBeLessThan(1500);
  });
});

describe('reading examples', () => {
  const page = ['# t', '```ns', 'emit 1 # => 1', 'emit 1 / 0 # !! 14', 'emit l[0] # !! 7', 'emit 2 # => 3', '```'].join('\n');

  it('tells what is promised from what happens', () => {
    const [example] = examplesOf(page);
    if (example === undefined) throw new Error('no example was found');
    expect(promised(example)).toEqual({ emits: ['1', '3'], whispers: [], errors: ['line 4: 14', 'line 5: 7'] });
    expect(happened(example)).toEqual({ emits: ['1', '2'], whispers: [], errors: ['line 4: 14', 'line 5: 7'] });
  });

  it('tells an error that nobody promised', () => {
    const [example] = examplesOf('```ns\nemit 1 / 0\n```');
    if (example === undefined) throw new Error('no example was found');
    expect(happened(example).errors).toEqual([expect.stringMatching(/^line 2: 14 division by zero/)]);
  });
});
