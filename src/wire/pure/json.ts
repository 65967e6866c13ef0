import type { PureDeclarations } from './declaration.ts';

/** JSON: `tool.json`. */
export const JSON_TOOLS = {
  'tool.json.Parse': {
    description:
      'Parses JSON and keeps the order of keys. Fails with code 41 and the position if it is not valid JSON, or if a number is out of range.',
    args: [['text: string', 'the JSON']],
    returns: 'any',
    example: ['tool.json.Parse("{\\"b\\": [1, null], \\"a\\": true}")', '{"b": [1, nil], "a": true}'],
  },
  'tool.json.Stringify': {
    description: 'Converts a value to JSON. Fails with code 41 for values that JSON cannot represent: NaN, infinities, handles.',
    args: [
      ['value?: any', 'any value that JSON can represent'],
      ['indent: int = 0', 'spaces per level, up to 16; 0 writes one line'],
    ],
    returns: 'string',
    example: ['tool.json.Stringify({"a": [1, nil]})', '{"a":[1,null]}'],
  },
  'tool.json.Canonical': {
    description: 'Converts a value to canonical JSON with sorted keys: equal values give equal strings.',
    args: [['value?: any', 'any value that JSON can represent']],
    returns: 'string',
    example: ['tool.json.Canonical({"b": 1, "a": 2})', '{"a":2,"b":1}'],
  },
  'tool.json.IsValid': {
    description: 'Tells whether a string is valid JSON.',
    args: [['text: string', 'the string']],
    returns: 'bool',
    example: ['tool.json.IsValid("[1, 2,]")', 'false'],
  },
} as const satisfies PureDeclarations<'json'>;
