import type { PureDeclarations } from './declaration.ts';

/** Maps: `tool.map.…`. */
export const MAP = {
  'tool.map.Keys': {
    description: 'The keys in order.',
    args: [['map: map', 'the map']],
    returns: 'list of strings',
    example: 'tool.map.Keys({"b": 1, "a": 2})',
    gives: '["b", "a"]',
  },
  'tool.map.Values': {
    description: 'The values in the order of their keys.',
    args: [['map: map', 'the map']],
    returns: 'list',
    example: 'tool.map.Values({"b": 1, "a": 2})',
    gives: '[1, 2]',
  },
  'tool.map.Entries': {
    description: 'Pairs of key and value.',
    args: [['map: map', 'the map']],
    returns: 'list',
    example: 'tool.map.Entries({"b": 1, "a": 2})',
    gives: '[["b", 1], ["a", 2]]',
  },
  'tool.map.FromEntries': {
    description: 'A map of pairs of key and value; of a repeated key the last value counts.',
    args: [['entries: slice_any', 'lists of a key (a text) and a value']],
    returns: 'map',
    example: 'tool.map.FromEntries([["a", 1], ["b", 2]])',
    gives: '{"a": 1, "b": 2}',
  },
  'tool.map.Has': {
    description: 'Whether there is a key, even one whose value is nil.',
    args: [
      ['map: map', 'the map'],
      ['key: string', 'the key'],
    ],
    returns: 'bool',
    example: 'tool.map.Has({"a": nil}, "a")',
    gives: 'true',
  },
  'tool.map.Get': {
    description: 'The value of a key, or the default (nil without one) where there is none.',
    args: [
      ['map: map', 'the map'],
      ['key: string', 'the key, no path: tool.shape.Select follows one'],
      ['default?: any', 'what to give where there is no such key'],
    ],
    returns: 'any',
    example: 'tool.map.Get({"a": 1}, "b", 0)',
    gives: '0',
  },
  'tool.map.Set': {
    description: 'A map with a value set.',
    args: [
      ['map: map', 'the map, which stays as it is'],
      ['key: string', 'the key'],
      ['value?: any', 'the new value; nil is one too'],
    ],
    returns: 'map',
    example: 'tool.map.Set({"a": 1}, "b", 2)',
    gives: '{"a": 1, "b": 2}',
  },
  'tool.map.Remove': {
    description: 'A map without a key.',
    args: [
      ['map: map', 'the map, which stays as it is'],
      ['key: string', 'the key to leave out; need not be there'],
    ],
    returns: 'map',
    example: 'tool.map.Remove({"a": 1, "b": 2}, "a")',
    gives: '{"b": 2}',
  },
  'tool.map.Merge': {
    description: 'A map with the entries of another, whose values count where both have a key.',
    args: [
      ['map: map', 'the first map, which stays as it is'],
      ['other: map', 'the map whose entries come on top'],
    ],
    returns: 'map',
    example: 'tool.map.Merge({"a": 1, "b": 1}, {"b": 2})',
    gives: '{"a": 1, "b": 2}',
  },
  'tool.map.Pick': {
    description: 'A map with some keys alone, in the order in which they are named.',
    args: [
      ['map: map', 'the map, which stays as it is'],
      ['keys: slice_string', 'the keys to keep; need not be there'],
    ],
    returns: 'map',
    example: 'tool.map.Pick({"a": 1, "b": 2, "c": 3}, ["c", "a"])',
    gives: '{"c": 3, "a": 1}',
  },
  'tool.map.Omit': {
    description: 'A map without some keys.',
    args: [
      ['map: map', 'the map, which stays as it is'],
      ['keys: slice_string', 'the keys to leave out; need not be there'],
    ],
    returns: 'map',
    example: 'tool.map.Omit({"a": 1, "b": 2, "c": 3}, ["b"])',
    gives: '{"a": 1, "c": 3}',
  },
} as const satisfies PureDeclarations<'map'>;
