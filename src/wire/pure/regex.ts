import type { PureDeclarations } from './declaration.ts';

/** Regular expressions: `tool.regex`. */
export const REGEX = {
  'tool.regex.Match': {
    description: 'Tells whether a pattern matches anywhere in a string. Patterns use RE2 syntax and take linear time.',
    args: [
      ['pattern: string', 'the pattern; write a backslash twice in a string: "\\\\d+"'],
      ['input_string: string', 'the string to search'],
    ],
    returns: 'bool',
    example: ['tool.regex.Match("^a+b$", "aaab")', 'true'],
  },
  'tool.regex.Find': {
    description:
      'Returns the first match as a map with text, start, end (character indexes), groups and named, or nil if there is none.',
    args: [
      ['pattern: string', 'the pattern; (…) is a group, (?P<name>…) a named group'],
      ['input_string: string', 'the string to search'],
    ],
    returns: 'map or nil',
    example: [
      'tool.regex.Find("(?P<y>\\\\d+)-(\\\\d+)", "on 2024-05")',
      '{"text": "2024-05", "start": 3, "end": 10, "groups": ["2024", "05"], "named": {"y": "2024"}}',
    ],
  },
  'tool.regex.FindAll': {
    description: 'Returns the text of every match.',
    args: [
      ['pattern: string', 'the pattern'],
      ['input_string: string', 'the string to search'],
      ['limit: int = -1', 'the maximum number of matches, from the left; -1 for all'],
    ],
    returns: 'list of strings',
    example: ['tool.regex.FindAll("[a-z]+", "one 2 three")', '["one", "three"]'],
  },
  'tool.regex.Groups': {
    description: 'Returns a list for each match: the whole match, then each group. A group that did not take part is nil.',
    args: [
      ['pattern: string', 'the pattern; (…) is a group'],
      ['input_string: string', 'the string to search'],
      ['limit: int = -1', 'the maximum number of matches, from the left; -1 for all'],
    ],
    returns: 'list of lists',
    example: ['tool.regex.Groups("(\\\\w)=(\\\\d)?", "a=1 b=")', '[["a=1", "a", "1"], ["b=", "b", nil]]'],
  },
  'tool.regex.Replace': {
    description: 'Replaces matches of a pattern.',
    args: [
      ['pattern: string', 'the pattern'],
      ['input_string: string', 'the string to search'],
      ['replacement: string', 'the replacement of each match; $1 and $name stand for groups, $$ for a dollar sign'],
      ['limit: int = -1', 'the maximum number of replacements, from the left; -1 for all'],
    ],
    returns: 'string',
    example: ['tool.regex.Replace("(\\\\w+)@(\\\\w+)", "me@home", "$2 at $1")', 'home at me'],
  },
  'tool.regex.Split': {
    description: 'Splits a string at every match of a pattern.',
    args: [
      ['pattern: string', 'the pattern that separates the parts'],
      ['input_string: string', 'the string'],
      ['limit: int = -1', 'the maximum number of parts, the last of which is the rest; -1 for all, 0 for none'],
    ],
    returns: 'list of strings',
    example: ['tool.regex.Split("\\\\s*,\\\\s*", "a , b,c")', '["a", "b", "c"]'],
  },
  'tool.regex.Escape': {
    description: 'Returns a pattern that matches exactly this string.',
    args: [['input_string: string', 'the string']],
    returns: 'string',
    example: ['tool.regex.Escape("1+1")', '1\\+1'],
  },
} as const satisfies PureDeclarations<'regex'>;
