import type { PureDeclarations } from './declaration.ts';

/** Maps: `tool.map`. */
export const MAP = {
  'tool.map.Keys': {
    description: 'Returns the keys, in insertion order.',
    args: [['map: map', 'the map']],
    returns: 'list of strings',
    example: ['tool.map.Keys({"b": 1, "a": 2})', '["b", "a"]'],
  },
  'tool.map.Values': {
    description: 'Returns the values, in the order of their keys.',
    args: [['map: map', 'the map']],
    returns: 'list',
    example: ['tool.map.Values({"b": 1, "a": 2})', '[1, 2]'],
  },
  'tool.map.Entries': {
    description: 'Returns a list of [key, value] pairs.',
    args: [['map: map', 'the map']],
    returns: 'list',
    example: ['tool.map.Entries({"b": 1, "a": 2})', '[["b", 1], ["a", 2]]'],
  },
  'tool.map.FromEntries': {
    description: 'Builds a map from [key, value] pairs. The last value of a repeated key counts.',
    args: [['entries: slice_any', 'the pairs; each key is a string']],
    returns: 'map',
    example: ['tool.map.FromEntries([["a", 1], ["b", 2]])', '{"a": 1, "b": 2}'],
  },
  'tool.map.Has': {
    description: 'Tells whether a map has a key, even if its value is nil.',
    args: [
      ['map: map', 'the map'],
      ['key: string', 'the key'],
    ],
    returns: 'bool',
    example: ['tool.map.Has({"a": nil}, "a")', 'true'],
  },
  'tool.map.Get': {
    description: 'Returns the value of a key, or the default if the map does not have the key.',
    args: [
      ['map: map', 'the map'],
      ['key: string', 'the key, not a path: `tool.shape.Select` follows a path'],
      ['default?: any', 'the value to return if there is no such key; nil if omitted'],
    ],
    returns: 'any',
    example: ['tool.map.Get({"a": 1}, "b", 0)', '0'],
  },
  'tool.map.Set': {
    description: 'Returns a new map with a value set.',
    args: [
      ['map: map', 'the map, which does not change'],
      ['key: string', 'the key'],
      ['value?: any', 'the new value; may be nil'],
    ],
    returns: 'map',
    example: ['tool.map.Set({"a": 1}, "b", 2)', '{"a": 1, "b": 2}'],
  },
  'tool.map.Remove': {
    description: 'Returns a new map without a key.',
    args: [
      ['map: map', 'the map, which does not change'],
      ['key: string', 'the key to remove; need not exist'],
    ],
    returns: 'map',
    example: ['tool.map.Remove({"a": 1, "b": 2}, "a")', '{"b": 2}'],
  },
  'tool.map.Merge': {
    description: 'Returns a new map with the entries of both maps. The second map wins for keys that both have.',
    args: [
      ['map: map', 'the first map, which does not change'],
      ['other: map', 'the second map'],
    ],
    returns: 'map',
    example: ['tool.map.Merge({"a": 1, "b": 1}, {"b": 2})', '{"a": 1, "b": 2}'],
  },
  'tool.map.Pick': {
    description: 'Returns a new map with only the given keys, in the given order.',
    args: [
      ['map: map', 'the map, which does not change'],
      ['keys: slice_string', 'the keys to keep; need not exist'],
    ],
    returns: 'map',
    example: ['tool.map.Pick({"a": 1, "b": 2, "c": 3}, ["c", "a"])', '{"c": 3, "a": 1}'],
  },
  'tool.map.Omit': {
    description: 'Returns a new map without the given keys.',
    args: [
      ['map: map', 'the map, which does not change'],
      ['keys: slice_string', 'the keys to remove; need not exist'],
    ],
    returns: 'map',
    example: ['tool.map.Omit({"a": 1, "b": 2, "c": 3}, ["b"])', '{"a": 1, "c": 3}'],
  },
} as const satisfies PureDeclarations<'map'>;
