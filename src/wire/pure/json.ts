import type { PureDeclarations } from './declaration.ts';

/** JSON: `tool.json.…`. */
export const JSON_TOOLS = {
  'tool.json.Parse': {
    description:
      'The value of JSON, keys in their order; code 41 for what is no JSON, with the place, and for numbers out of range.',
    args: [['text: string', 'the JSON']],
    returns: 'any',
    example: 'tool.json.Parse("{\\"b\\": [1, null], \\"a\\": true}")',
    gives: '{"b": [1, nil], "a": true}',
  },
  'tool.json.Stringify': {
    description:
      'A value as JSON, with so many blanks a level where `indent` is above 0. Code 41 for what JSON cannot say: NaN, infinities, handles.',
    args: [
      ['value?: any', 'any value that JSON can say'],
      ['indent: int = 0', 'blanks for each level, up to 16; 0 puts all on one line'],
    ],
    returns: 'string',
    example: 'tool.json.Stringify({"a": [1, nil]})',
    gives: '{"a":[1,null]}',
  },
  'tool.json.Canonical': {
    description: 'A value as JSON with sorted keys: equal values give equal texts.',
    args: [['value?: any', 'any value that JSON can say']],
    returns: 'string',
    example: 'tool.json.Canonical({"b": 1, "a": 2})',
    gives: '{"a":2,"b":1}',
  },
  'tool.json.IsValid': {
    description: 'Whether a text is JSON.',
    args: [['text: string', 'the text']],
    returns: 'bool',
    example: 'tool.json.IsValid("[1, 2,]")',
    gives: 'false',
  },
} as const satisfies PureDeclarations<'json'>;
