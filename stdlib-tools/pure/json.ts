import type { PureRow } from './row.ts';

/** JSON: `tool.json.…`. */
export const JSON_TOOLS: readonly PureRow[] = [
  {
    name: 'tool.json.Parse',
    description:
      'The value of JSON, keys in their order; code 41 for what is no JSON, with the place, and for numbers out of range.',
    returns: 'any',
    example: 'tool.json.Parse("{\\"b\\": [1, null], \\"a\\": true}")',
    gives: '{"b": [1, nil], "a": true}',
  },
  {
    name: 'tool.json.Stringify',
    description:
      'A value as JSON, with so many blanks a level where `indent` is above 0. Code 41 for what JSON cannot say: NaN, infinities, handles.',
    returns: 'string',
    example: 'tool.json.Stringify({"a": [1, nil]})',
    gives: '{"a":[1,null]}',
  },
  {
    name: 'tool.json.Canonical',
    description: 'A value as JSON with sorted keys: equal values give equal texts.',
    returns: 'string',
    example: 'tool.json.Canonical({"b": 1, "a": 2})',
    gives: '{"a":2,"b":1}',
  },
  {
    name: 'tool.json.IsValid',
    description: 'Whether a text is JSON.',
    returns: 'bool',
    example: 'tool.json.IsValid("[1, 2,]")',
    gives: 'false',
  },
];
