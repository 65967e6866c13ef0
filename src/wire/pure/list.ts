import type { PureDeclarations } from './declaration.ts';

/** Lists: `tool.list`. */
export const LIST = {
  'tool.list.Length': {
    description: 'Returns the number of items.',
    args: [['list: slice_any', 'the list']],
    returns: 'int',
    example: ['tool.list.Length([1, 2, 3])', '3'],
  },
  'tool.list.IsEmpty': {
    description: 'Tells whether a list has no items.',
    args: [['list: slice_any', 'the list']],
    returns: 'bool',
    example: ['tool.list.IsEmpty([])', 'true'],
  },
  'tool.list.Append': {
    description: 'Returns a new list with an item added at the end.',
    args: [
      ['list: slice_any', 'the list, which does not change'],
      ['element?: any', 'the item to add; may be nil'],
    ],
    returns: 'list',
    example: ['tool.list.Append([1, 2], 3)', '[1, 2, 3]'],
  },
  'tool.list.AppendInPlace': {
    description: 'The same as `tool.list.Append`. In a loop, `set l[len(l)] = item` extends a list without copying it.',
    args: [
      ['list: slice_any', 'the list, which does not change: use the result'],
      ['element?: any', 'the item to add; may be nil'],
    ],
    returns: 'list',
    example: ['tool.list.AppendInPlace([1, 2], 3)', '[1, 2, 3]'],
  },
  'tool.list.Prepend': {
    description: 'Returns a new list with an item added at the start.',
    args: [
      ['list: slice_any', 'the list, which does not change'],
      ['element?: any', 'the item to add; may be nil'],
    ],
    returns: 'list',
    example: ['tool.list.Prepend([2, 3], 1)', '[1, 2, 3]'],
  },
  'tool.list.Insert': {
    description: 'Returns a new list with an item inserted at an index. Fails with code 8 if the index is past the end.',
    args: [
      ['list: slice_any', 'the list, which does not change'],
      ['index: int', 'index of the new item, from 0 to the length of the list'],
      ['element?: any', 'the item to insert; may be nil'],
    ],
    returns: 'list',
    example: ['tool.list.Insert(["a", "c"], 1, "b")', '["a", "b", "c"]'],
  },
  'tool.list.RemoveAt': {
    description: 'Returns a new list without the item at an index. Fails with code 8 if there is no such item.',
    args: [
      ['list: slice_any', 'the list, which does not change'],
      ['index: int', 'index of the item to remove, from 0'],
    ],
    returns: 'list',
    example: ['tool.list.RemoveAt(["a", "b", "c"], 1)', '["a", "c"]'],
  },
  'tool.list.Get': {
    description: 'Returns the item at an index, or the default if there is no such item.',
    args: [
      ['list: slice_any', 'the list'],
      ['index: int', 'index of the item, from 0; a negative index does not count from the end'],
      ['default?: any', 'the value to return if there is no such item; nil if omitted'],
    ],
    returns: 'any',
    example: ['tool.list.Get(["a"], 5, "none")', 'none'],
  },
  'tool.list.Slice': {
    description:
      'Returns the items from index `start` up to but not including `end`. Indexes out of range are limited to the list.',
    args: [
      ['list: slice_any', 'the list'],
      ['start: int', 'index of the first item, from 0'],
      ['end: int', 'index after the last item'],
    ],
    returns: 'list',
    example: ['tool.list.Slice([1, 2, 3, 4, 5], 1, 4)', '[2, 3, 4]'],
  },
  'tool.list.Contains': {
    description: 'Tells whether a list contains an item, compared as `==` compares items of lists: `1` does not equal `"1"`.',
    args: [
      ['list: slice_any', 'the list'],
      ['element?: any', 'the item to find'],
    ],
    returns: 'bool',
    example: ['tool.list.Contains([1, [2, 3]], [2, 3])', 'true'],
  },
  'tool.list.IndexOf': {
    description: 'Returns the index of the first item that equals the given one, or -1 if there is none.',
    args: [
      ['list: slice_any', 'the list'],
      ['element?: any', 'the item to find'],
    ],
    returns: 'int',
    example: ['tool.list.IndexOf(["a", "b"], "b")', '1'],
  },
  'tool.list.Reverse': {
    description: 'Returns a new list with the items in reverse order.',
    args: [['list: slice_any', 'the list, which does not change']],
    returns: 'list',
    example: ['tool.list.Reverse([1, 2, 3])', '[3, 2, 1]'],
  },
  'tool.list.Sort': {
    description:
      'Returns a new list in ascending order; strings are ordered by code point. Fails with code 7 unless the items are all numbers or all strings.',
    args: [['list: slice_any', 'the items, all numbers or all strings']],
    returns: 'list',
    example: ['tool.list.Sort([3, 1, 2])', '[1, 2, 3]'],
  },
  'tool.list.SortBy': {
    description: 'Returns a new list of maps, sorted by the value of a key. The sort is stable.',
    args: [
      ['list: slice_any', 'the maps'],
      ['key: string', 'the key to sort by; its values must be all numbers or all strings'],
      ['descending: bool = false', 'true to sort in descending order'],
    ],
    returns: 'list',
    example: ['tool.list.SortBy([{"n": 2}, {"n": 1}], "n")', '[{"n": 1}, {"n": 2}]'],
  },
  'tool.list.GroupBy': {
    description:
      'Groups maps by the value of a key. Returns a map from each value, as a string, to the list of maps that have it.',
    args: [
      ['list: slice_any', 'the maps'],
      ['key: string', 'the key to group by; a map without it counts as nil'],
    ],
    returns: 'map',
    example: [
      'tool.list.GroupBy([{"k": "a", "n": 1}, {"k": "b"}, {"k": "a"}], "k")',
      '{"a": [{"k": "a", "n": 1}, {"k": "a"}], "b": [{"k": "b"}]}',
    ],
  },
  'tool.list.Head': {
    description: 'Returns the first item, or nil if the list is empty.',
    args: [['list: slice_any', 'the list']],
    returns: 'any',
    example: ['tool.list.Head([1, 2])', '1'],
  },
  'tool.list.Last': {
    description: 'Returns the last item, or nil if the list is empty.',
    args: [['list: slice_any', 'the list']],
    returns: 'any',
    example: ['tool.list.Last([1, 2])', '2'],
  },
  'tool.list.Rest': {
    description: 'Returns all items except the first.',
    args: [['list: slice_any', 'the list']],
    returns: 'list',
    example: ['tool.list.Rest([1, 2, 3])', '[2, 3]'],
  },
  'tool.list.Tail': {
    description: 'Returns the last `count` items.',
    args: [
      ['list: slice_any', 'the list'],
      ['count: int', 'the maximum number of items'],
    ],
    returns: 'list',
    example: ['tool.list.Tail([1, 2, 3, 4], 2)', '[3, 4]'],
  },
  'tool.list.Unique': {
    description: 'Removes duplicates and keeps the first of each.',
    args: [['list: slice_any', 'the list']],
    returns: 'list',
    example: ['tool.list.Unique([1, "1", 1, [2], [2]])', '[1, "1", [2]]'],
  },
  'tool.list.Flatten': {
    description: 'Replaces nested lists by their items, down to `depth` levels.',
    args: [
      ['list: slice_any', 'the list with nested lists'],
      ['depth: int = 1', 'the number of levels to flatten; 0 for none'],
    ],
    returns: 'list',
    example: ['tool.list.Flatten([1, [2, [3]]])', '[1, 2, [3]]'],
  },
  'tool.list.Chunk': {
    description: 'Splits a list into lists of `size` items. The last one may be shorter.',
    args: [
      ['list: slice_any', 'the list'],
      ['size: int', 'items per chunk, 1 or more'],
    ],
    returns: 'list',
    example: ['tool.list.Chunk([1, 2, 3, 4, 5], 2)', '[[1, 2], [3, 4], [5]]'],
  },
  'tool.list.Zip': {
    description: 'Pairs the items of two lists. The result is as long as the shorter list.',
    args: [
      ['left: slice_any', 'the first items of the pairs'],
      ['right: slice_any', 'the second items of the pairs'],
    ],
    returns: 'list',
    example: ['tool.list.Zip([1, 2, 3], ["a", "b"])', '[[1, "a"], [2, "b"]]'],
  },
  'tool.list.Range': {
    description: 'Returns the whole numbers from `start` up to but not including `end`.',
    args: [
      ['start: int', 'the first number'],
      ['end: int', 'the number to stop before'],
      ['step: int = 1', 'the difference between two numbers, not 0; negative to count down'],
    ],
    returns: 'list',
    example: ['tool.list.Range(0, 10, 3)', '[0, 3, 6, 9]'],
  },
} as const satisfies PureDeclarations<'list'>;
