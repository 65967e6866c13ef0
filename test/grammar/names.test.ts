import { describe, expect, it } from 'vitest';
import { Comparisons, canonicalName, Suggestions } from '../../grammar/vocabulary/names.ts';
import { nearestName } from '../../grammar/vocabulary/spelling.ts';

describe('the suggestion for a misspelt name', () => {
  it.each<[string, string | undefined, string]>([
    ['totl', 'total', 'a missing letter'],
    ['toatl', 'total', 'two neighbours exchanged'],
    ['TOTAL', 'total', 'another letter case'],
    ['customr', 'customer', 'the nearest of several'],
    ['X', 'x', 'a short name in another letter case'],
    ['y', undefined, 'a short name of its own'],
    ['gte', 'get', 'a short name with two neighbours exchanged'],
    ['put', undefined, 'a short name of which two letters differ'],
    ['amount', undefined, 'nothing like it'],
    ['total'.repeat(20), undefined, 'a name too long to compare'],
  ])('%s: %s (%s)', (name, meant) => {
    expect(nearestName(name, ['x', 'get', 'total', 'customers', 'customer'])).toBe(meant);
  });

  it('issue 44, finding 3: is computed once for each name, and for few names where there is much to compare', () => {
    const asked: string[] = [];
    const lookUp = (name: string): string => {
      asked.push(name);
      return 'known';
    };
    const names = Array.from({ length: 60 }, (_, index) => `name${index + 10}`);
    const answered = (suggestions: Suggestions): number =>
      [...names, ...names].filter((name) => suggestions.of(name) === 'known').length;
    expect(answered(new Suggestions(['total'], lookUp))).toBe(120);
    expect(asked).toEqual(names);
    // 10,000 names of 6 characters, with which a name of 6 is compared: 360,000 pairs.
    const comparisons = new Comparisons();
    const many = Array.from({ length: 10_000 }, () => 'amount');
    expect(answered(new Suggestions(many, lookUp, comparisons))).toBe(46);
    expect(answered(new Suggestions(many, lookUp, comparisons))).toBe(0);
  });
});

it('the canonical name of a tool is in lower case, with one `tool.` in front', () => {
  expect(['str.Length', 'Tool.Str.LENGTH', 'tool.tool.str.length'].map(canonicalName)).toEqual(Array(3).fill('tool.str.length'));
});
