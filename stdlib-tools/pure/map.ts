import type { PureRow } from './row.ts';

/** Maps: `tool.map.…`. */
export const MAP: readonly PureRow[] = [
  {
    name: 'tool.map.Keys',
    description: 'The keys in order.',
    returns: 'list of strings',
    example: 'tool.map.Keys({"b": 1, "a": 2})',
    gives: '["b", "a"]',
  },
  {
    name: 'tool.map.Values',
    description: 'The values in the order of their keys.',
    returns: 'list',
    example: 'tool.map.Values({"b": 1, "a": 2})',
    gives: '[1, 2]',
  },
  {
    name: 'tool.map.Entries',
    description: 'Pairs of key and value.',
    returns: 'list',
    example: 'tool.map.Entries({"b": 1, "a": 2})',
    gives: '[["b", 1], ["a", 2]]',
  },
  {
    name: 'tool.map.FromEntries',
    description: 'A map of pairs of key and value; of a repeated key the last value counts.',
    returns: 'map',
    example: 'tool.map.FromEntries([["a", 1], ["b", 2]])',
    gives: '{"a": 1, "b": 2}',
  },
  {
    name: 'tool.map.Has',
    description: 'Whether there is a key, even one whose value is nil.',
    returns: 'bool',
    example: 'tool.map.Has({"a": nil}, "a")',
    gives: 'true',
  },
  {
    name: 'tool.map.Get',
    description: 'The value of a key, or the default (nil without one) where there is none.',
    returns: 'any',
    example: 'tool.map.Get({"a": 1}, "b", 0)',
    gives: '0',
  },
  {
    name: 'tool.map.Set',
    description: 'A map with a value set.',
    returns: 'map',
    example: 'tool.map.Set({"a": 1}, "b", 2)',
    gives: '{"a": 1, "b": 2}',
  },
  {
    name: 'tool.map.Remove',
    description: 'A map without a key.',
    returns: 'map',
    example: 'tool.map.Remove({"a": 1, "b": 2}, "a")',
    gives: '{"b": 2}',
  },
  {
    name: 'tool.map.Merge',
    description: 'A map with the entries of another, whose values count where both have a key.',
    returns: 'map',
    example: 'tool.map.Merge({"a": 1, "b": 1}, {"b": 2})',
    gives: '{"a": 1, "b": 2}',
  },
  {
    name: 'tool.map.Pick',
    description: 'A map with some keys alone, in the order in which they are named.',
    returns: 'map',
    example: 'tool.map.Pick({"a": 1, "b": 2, "c": 3}, ["c", "a"])',
    gives: '{"c": 3, "a": 1}',
  },
  {
    name: 'tool.map.Omit',
    description: 'A map without some keys.',
    returns: 'map',
    example: 'tool.map.Omit({"a": 1, "b": 2, "c": 3}, ["b"])',
    gives: '{"a": 1, "c": 3}',
  },
];
