import { describe, expect, it } from 'vitest';
import { canonicalName, Suggestions } from '../../grammar/vocabulary/names.ts';
import { nearestName } from '../../grammar/vocabulary/spelling.ts';

describe('the suggestion for a misspelt name', () => {
  it.each<[string, string | undefined, string]>([
    ['totl', 'total', 'a missing letter'],
    ['toatl', 'total', 'two neighbours exchanged'],
    ['TOTAL', 'total', 'another letter case'],
    ['customr', 'customer', 'the nearest of several'],
    ['X', 'x', 'a short name in another letter case'],
    ['y', undefined, 'a short name of its own'],
    ['amount', undefined, 'nothing like it'],
    ['total'.repeat(20), undefined, 'a name too long to compare'],
  ])('%s: %s (%s)', (name, meant) => {
    expect(nearestName(name, ['x', 'total', 'customers', 'customer'])).toBe(meant);
  });

  it('is computed once for each name, and for at most 50 names', () => {
    const asked: string[] = [];
    const suggestions = new Suggestions((name) => {
      asked.push(name);
      return 'known';
    });
    const names = Array.from({ length: 60 }, (_, index) => `name${index}`);
    expect([...names, ...names].map((name) => suggestions.of(name)).filter((meant) => meant === 'known')).toHaveLength(100);
    expect(asked).toEqual(names.slice(0, 50));
  });
});

it('the canonical name of a tool is in lower case, with one `tool.` in front', () => {
  expect(['str.Length', 'Tool.Str.LENGTH', 'tool.tool.str.length'].map(canonicalName)).toEqual(Array(3).fill('tool.str.length'));
});
