import type { PureDeclarations } from './declaration.ts';

/** Shapes of maps, and paths into them: `tool.shape`. */
export const SHAPE = {
  'tool.shape.Validate': {
    description:
      'Returns true if a value has a shape; fails with code 21 and the first problem if not. A shape maps keys to types (string, int, float, number, bool, list, map, any, email, url, isoDatetime) or to shapes. `key?` is optional; `key[]` is a list.',
    args: [
      ['value: map', 'the map to check'],
      ['shape: map', 'the shape: {"name": "string", "tags[]": "string", "age?": "int"}'],
      [
        'options?: map',
        'a map with allow_extra (true allows other keys) and case_insensitive (true ignores the letter case of keys)',
      ],
    ],
    returns: 'bool',
    example: [
      'tool.shape.Validate({"name": "Ann", "tags": ["a"]}, {"name": "string", "tags[]": "string", "age?": "int"})',
      'true',
    ],
  },
  'tool.shape.Problems': {
    description: 'Returns every problem that `tool.shape.Validate` would find, or an empty list if the value has the shape.',
    args: [
      ['value: map', 'the map to check'],
      ['shape: map', 'the shape, as for `tool.shape.Validate`'],
      [
        'options?: map',
        'a map with allow_extra (true allows other keys) and case_insensitive (true ignores the letter case of keys)',
      ],
    ],
    returns: 'list of strings',
    example: [
      'tool.shape.Problems({"name": 5, "x": 1}, {"name": "string"})',
      '["\\"name\\" must be a string, got number 5", "\\"x\\" is not expected"]',
    ],
  },
  'tool.shape.Select': {
    description:
      'Returns the value at a path: "a.b[0]", or ["a.b", 0] for keys with dots. Fails with code 9 if there is none, unless `missing_ok` is true.',
    args: [
      ['value: any', 'the map or list to search'],
      ['path: any', 'the path: a string, or a list of keys and indexes'],
      [
        'options?: map',
        'a map with missing_ok (true returns nil if there is no value) and case_insensitive (true ignores the letter case of keys)',
      ],
    ],
    returns: 'any',
    example: ['tool.shape.Select({"items": [{"id": 7}]}, "items[0].id")', '7'],
  },
  'tool.shape.IsValidPath': {
    description: 'Tells whether a string is a valid path.',
    args: [['path_string: string', 'the string']],
    returns: 'bool',
    example: ['tool.shape.IsValidPath("a.b[0].c")', 'true'],
  },
} as const satisfies PureDeclarations<'shape'>;
