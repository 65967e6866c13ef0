import type { PureDeclarations } from './declaration.ts';

/** Lists: `tool.list.…`. */
export const LIST = {
  'tool.list.Length': {
    description: 'The number of items.',
    args: [['list: slice_any', 'the list']],
    returns: 'int',
    example: 'tool.list.Length([1, 2, 3])',
    gives: '3',
  },
  'tool.list.IsEmpty': {
    description: 'Whether there are no items.',
    args: [['list: slice_any', 'the list']],
    returns: 'bool',
    example: 'tool.list.IsEmpty([])',
    gives: 'true',
  },
  'tool.list.Append': {
    description: 'A list with an item more at its end.',
    args: [
      ['list: slice_any', 'the list, which stays as it is'],
      ['element?: any', 'the item to add; nil is one too'],
    ],
    returns: 'list',
    example: 'tool.list.Append([1, 2], 3)',
    gives: '[1, 2, 3]',
  },
  'tool.list.AppendInPlace': {
    description: 'As Append. To build a long list in a loop, `set l[len(l)] = item` does it without copying.',
    args: [
      ['list: slice_any', 'the list, which stays as it is: use the result'],
      ['element?: any', 'the item to add; nil is one too'],
    ],
    returns: 'list',
    example: 'tool.list.AppendInPlace([1, 2], 3)',
    gives: '[1, 2, 3]',
  },
  'tool.list.Prepend': {
    description: 'A list with an item more in front.',
    args: [
      ['list: slice_any', 'the list, which stays as it is'],
      ['element?: any', 'the item to add; nil is one too'],
    ],
    returns: 'list',
    example: 'tool.list.Prepend([2, 3], 1)',
    gives: '[1, 2, 3]',
  },
  'tool.list.Insert': {
    description: 'A list with an item more at an index; code 8 beyond the end.',
    args: [
      ['list: slice_any', 'the list, which stays as it is'],
      ['index: int', 'the place of the new item, from 0 to the length of the list'],
      ['element?: any', 'the item to add; nil is one too'],
    ],
    returns: 'list',
    example: 'tool.list.Insert(["a", "c"], 1, "b")',
    gives: '["a", "b", "c"]',
  },
  'tool.list.RemoveAt': {
    description: 'A list without the item at an index; code 8 where there is none.',
    args: [
      ['list: slice_any', 'the list, which stays as it is'],
      ['index: int', 'the place of the item to leave out, from 0'],
    ],
    returns: 'list',
    example: 'tool.list.RemoveAt(["a", "b", "c"], 1)',
    gives: '["a", "c"]',
  },
  'tool.list.Get': {
    description: 'The item at an index, or the default (nil without one) where there is none.',
    args: [
      ['list: slice_any', 'the list'],
      ['index: int', 'the place of the item, from 0; one below 0 does not count from the end'],
      ['default?: any', 'what to give where there is no such item'],
    ],
    returns: 'any',
    example: 'tool.list.Get(["a"], 5, "none")',
    gives: 'none',
  },
  'tool.list.Slice': {
    description: 'The items from an index up to another, which is left out; what lies beyond an end is ignored.',
    args: [
      ['list: slice_any', 'the list'],
      ['start: int', 'index of the first item to take, from 0'],
      ['end: int', 'index behind the last item to take'],
    ],
    returns: 'list',
    example: 'tool.list.Slice([1, 2, 3, 4, 5], 1, 4)',
    gives: '[2, 3, 4]',
  },
  'tool.list.Contains': {
    description: 'Whether an item is there, compared as `==` compares what is within lists: `1` is not `"1"`.',
    args: [
      ['list: slice_any', 'the list'],
      ['element?: any', 'the item to look for'],
    ],
    returns: 'bool',
    example: 'tool.list.Contains([1, [2, 3]], [2, 3])',
    gives: 'true',
  },
  'tool.list.IndexOf': {
    description: 'The index of the first such item, -1 when there is none.',
    args: [
      ['list: slice_any', 'the list'],
      ['element?: any', 'the item to look for'],
    ],
    returns: 'int',
    example: 'tool.list.IndexOf(["a", "b"], "b")',
    gives: '1',
  },
  'tool.list.Reverse': {
    description: 'The items in reverse order.',
    args: [['list: slice_any', 'the list, which stays as it is']],
    returns: 'list',
    example: 'tool.list.Reverse([1, 2, 3])',
    gives: '[3, 2, 1]',
  },
  'tool.list.Sort': {
    description: 'Numbers in order, or texts by code points; code 7 for a mixture and for anything else.',
    args: [['list: slice_any', 'numbers only or texts only']],
    returns: 'list',
    example: 'tool.list.Sort([3, 1, 2])',
    gives: '[1, 2, 3]',
  },
  'tool.list.SortBy': {
    description: 'Maps in the order of one of their values, equal ones as they stood.',
    args: [
      ['list: slice_any', 'maps'],
      ['key: string', 'the key whose values decide: numbers only or texts only'],
      ['descending: bool = false', 'true for the greatest first'],
    ],
    returns: 'list',
    example: 'tool.list.SortBy([{"n": 2}, {"n": 1}], "n")',
    gives: '[{"n": 1}, {"n": 2}]',
  },
  'tool.list.GroupBy': {
    description: 'Maps by one of their values: a map from its text to the list of those that have it.',
    args: [
      ['list: slice_any', 'maps'],
      ['key: string', 'the key whose values decide; a map without it counts as having nil'],
    ],
    returns: 'map',
    example: 'tool.list.GroupBy([{"k": "a", "n": 1}, {"k": "b"}, {"k": "a"}], "k")',
    gives: '{"a": [{"k": "a", "n": 1}, {"k": "a"}], "b": [{"k": "b"}]}',
  },
  'tool.list.Head': {
    description: 'The first item, nil when there is none.',
    args: [['list: slice_any', 'the list']],
    returns: 'any',
    example: 'tool.list.Head([1, 2])',
    gives: '1',
  },
  'tool.list.Last': {
    description: 'The last item, nil when there is none.',
    args: [['list: slice_any', 'the list']],
    returns: 'any',
    example: 'tool.list.Last([1, 2])',
    gives: '2',
  },
  'tool.list.Rest': {
    description: 'All items but the first.',
    args: [['list: slice_any', 'the list']],
    returns: 'list',
    example: 'tool.list.Rest([1, 2, 3])',
    gives: '[2, 3]',
  },
  'tool.list.Tail': {
    description: 'So many items at the end.',
    args: [
      ['list: slice_any', 'the list'],
      ['count: int', 'how many items; all when there are no more than that'],
    ],
    returns: 'list',
    example: 'tool.list.Tail([1, 2, 3, 4], 2)',
    gives: '[3, 4]',
  },
  'tool.list.Unique': {
    description: 'Each item once, where it stood first.',
    args: [['list: slice_any', 'the list']],
    returns: 'list',
    example: 'tool.list.Unique([1, "1", 1, [2], [2]])',
    gives: '[1, "1", [2]]',
  },
  'tool.list.Flatten': {
    description: 'The items of lists within the list in their place, so many levels deep.',
    args: [
      ['list: slice_any', 'the list, with lists in it'],
      ['depth: int = 1', 'how many levels to take out; 0 for none'],
    ],
    returns: 'list',
    example: 'tool.list.Flatten([1, [2, [3]]])',
    gives: '[1, 2, [3]]',
  },
  'tool.list.Chunk': {
    description: 'The list in pieces of a size; the last one may be shorter.',
    args: [
      ['list: slice_any', 'the list'],
      ['size: int', 'items in a piece, 1 or more'],
    ],
    returns: 'list',
    example: 'tool.list.Chunk([1, 2, 3, 4, 5], 2)',
    gives: '[[1, 2], [3, 4], [5]]',
  },
  'tool.list.Zip': {
    description: 'Pairs of the items of two lists, as many as the shorter one has.',
    args: [
      ['left: slice_any', 'the list of the first halves'],
      ['right: slice_any', 'the list of the second halves'],
    ],
    returns: 'list',
    example: 'tool.list.Zip([1, 2, 3], ["a", "b"])',
    gives: '[[1, "a"], [2, "b"]]',
  },
  'tool.list.Range': {
    description: 'Whole numbers from a start up to an end, which is left out.',
    args: [
      ['start: int', 'the first number'],
      ['end: int', 'where to stop; not in the list itself'],
      ['step: int = 1', 'from one number to the next, below 0 to count down; not 0'],
    ],
    returns: 'list',
    example: 'tool.list.Range(0, 10, 3)',
    gives: '[0, 3, 6, 9]',
  },
} as const satisfies PureDeclarations<'list'>;
