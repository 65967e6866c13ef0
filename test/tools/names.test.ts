import { describe, expect, it } from 'vitest';
import { nearestTool, toolAdvice } from '../../src/tools/names.ts';

const NAMES = [
  'tool.str.toupper',
  'tool.str.split',
  'tool.str.length',
  'tool.str.join',
  'tool.map.get',
  'tool.time.now',
  'tool.time.fromunix',
];

describe('what a name that no tool has may mean', () => {
  it.each<[string, string | undefined, string]>([
    ['tool.str.splt', 'tool.str.split', 'a slip within the group'],
    ['tool.Str.Lenght', 'tool.str.length', 'in any letter case'],
    ['tool.str.Upper', 'tool.str.toupper', 'a part of a name'],
    ['tool.string.Split', 'tool.str.split', 'the group at length'],
    ['tool.st.Split', 'tool.str.split', 'the group with a slip'],
    ['tool.map.Gte', 'tool.map.get', 'a slip in a short name'],
    ['tool.map.Put', undefined, 'a short name of its own'],
    ['tool.list.Join', 'tool.str.join', 'another group for data'],
    ['tool.http.Get', undefined, 'the same name in a group that has nothing to do with it'],
    ['tool.time.Format', undefined, 'a group without anything like it'],
  ])('%s: %s (%s)', (name, meant) => {
    expect(nearestTool(name, NAMES)).toBe(meant);
  });

  it('names what the group has, and not more than can be read', () => {
    expect(toolAdvice('tool.time.Format', NAMES)).toBe('tool.time has now, fromunix');
    expect(toolAdvice('tool.http.Get', NAMES)).toBeUndefined();
    const many = Array.from({ length: 56 }, (_, index) => `tool.g.a${index}`);
    expect(toolAdvice('tool.g.Unlike', many)).toMatch(/^tool\.g has a0, .*, a49 and 6 more$/);
    expect(toolAdvice('tool.g.Unlike', many.slice(0, 51))).toMatch(/, a49 and 1 more$/);
    expect(toolAdvice('tool.g.Unlike', many.slice(0, 50))).toMatch(/, a49$/);
  });
});
