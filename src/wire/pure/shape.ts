import type { PureDeclarations } from './declaration.ts';

/** Shapes and paths: `tool.shape.…`. */
export const SHAPE = {
  'tool.shape.Validate': {
    description:
      'True when a value has a shape, else code 21 with the first problem. A shape maps keys to types (string, int, float, number, bool, list, map, any, email, url, isoDatetime) or shapes; `key?` may be absent, `key[]` is a list. Options: allow_extra, case_insensitive.',
    args: [
      ['value: map', 'the map to look at'],
      ['shape: map', 'the shape: {"name": "string", "tags[]": "string", "age?": "int"}'],
      [
        'options?: map',
        'a map of switches: allow_extra (true lets other keys pass), case_insensitive (true ignores the letter case of keys)',
      ],
    ],
    returns: 'bool',
    example: 'tool.shape.Validate({"name": "Ann", "tags": ["a"]}, {"name": "string", "tags[]": "string", "age?": "int"})',
    gives: 'true',
  },
  'tool.shape.Problems': {
    description: 'All that Validate would object to, as texts; empty when the value has the shape.',
    args: [
      ['value: map', 'the map to look at'],
      ['shape: map', 'the shape, as for Validate'],
      [
        'options?: map',
        'a map of switches: allow_extra (true lets other keys pass), case_insensitive (true ignores the letter case of keys)',
      ],
    ],
    returns: 'list of strings',
    example: 'tool.shape.Problems({"name": 5, "x": 1}, {"name": "string"})',
    gives: '["\\"name\\" must be a string, got number 5", "\\"x\\" is not expected"]',
  },
  'tool.shape.Select': {
    description:
      'The value at a path such as "a.b[0]", or ["a.b", 0] for keys with dots; code 9 where there is none, nil with the option missing_ok. Option: case_insensitive.',
    args: [
      ['value: any', 'the map or list to look in'],
      ['path: any', 'the path: a text, or a list of keys and indices'],
      [
        'options?: map',
        'a map of switches: missing_ok (true gives nil where there is nothing), case_insensitive (true ignores the letter case of keys)',
      ],
    ],
    returns: 'any',
    example: 'tool.shape.Select({"items": [{"id": 7}]}, "items[0].id")',
    gives: '7',
  },
  'tool.shape.IsValidPath': {
    description: 'Whether a text is a path.',
    args: [['path_string: string', 'the text']],
    returns: 'bool',
    example: 'tool.shape.IsValidPath("a.b[0].c")',
    gives: 'true',
  },
} as const satisfies PureDeclarations<'shape'>;
