import type { PureDeclarations } from './declaration.ts';

/** Patterns: `tool.regex.…`. */
export const REGEX = {
  'tool.regex.Match': {
    description: 'Whether a pattern matches somewhere in a text. Patterns have the syntax of RE2 and take linear time.',
    args: [
      ['pattern: string', 'the pattern; escape a backslash in a string: "\\\\d+"'],
      ['input_string: string', 'the text to look in'],
    ],
    returns: 'bool',
    example: 'tool.regex.Match("^a+b$", "aaab")',
    gives: 'true',
  },
  'tool.regex.Find': {
    description: 'The first match as a map of text, start, end (in characters), groups and named groups; nil when there is none.',
    args: [
      ['pattern: string', 'the pattern; (…) is a group, (?P<name>…) a named one'],
      ['input_string: string', 'the text to look in'],
    ],
    returns: 'map or nil',
    example: 'tool.regex.Find("(?P<y>\\\\d+)-(\\\\d+)", "on 2024-05")',
    gives: '{"text": "2024-05", "start": 3, "end": 10, "groups": ["2024", "05"], "named": {"y": "2024"}}',
  },
  'tool.regex.FindAll': {
    description: 'The texts of all matches, or of `limit` from the left.',
    args: [
      ['pattern: string', 'the pattern'],
      ['input_string: string', 'the text to look in'],
      ['limit: int = -1', 'most matches, from the left; -1 for all'],
    ],
    returns: 'list of strings',
    example: 'tool.regex.FindAll("[a-z]+", "one 2 three")',
    gives: '["one", "three"]',
  },
  'tool.regex.Groups': {
    description: 'Of each match a list: the whole, then each group, nil for one that took no part.',
    args: [
      ['pattern: string', 'the pattern; (…) is a group'],
      ['input_string: string', 'the text to look in'],
      ['limit: int = -1', 'most matches, from the left; -1 for all'],
    ],
    returns: 'list of lists',
    example: 'tool.regex.Groups("(\\\\w)=(\\\\d)?", "a=1 b=")',
    gives: '[["a=1", "a", "1"], ["b=", "b", nil]]',
  },
  'tool.regex.Replace': {
    description: 'A text with matches replaced; `$1` and `$name` stand for groups, `$$` for a dollar.',
    args: [
      ['pattern: string', 'the pattern'],
      ['input_string: string', 'the text to look in'],
      ['replacement: string', 'what to put in place of each match; $1 and $name stand for groups, $$ for a dollar'],
      ['limit: int = -1', 'most replacements, from the left; -1 for all'],
    ],
    returns: 'string',
    example: 'tool.regex.Replace("(\\\\w+)@(\\\\w+)", "me@home", "$2 at $1")',
    gives: 'home at me',
  },
  'tool.regex.Split': {
    description: 'The parts of a text between matches, at most `limit` of them.',
    args: [
      ['pattern: string', 'the pattern of what stands between the parts'],
      ['input_string: string', 'the text'],
      ['limit: int = -1', 'most parts, the last one being the rest; -1 for all, 0 for none'],
    ],
    returns: 'list of strings',
    example: 'tool.regex.Split("\\\\s*,\\\\s*", "a , b,c")',
    gives: '["a", "b", "c"]',
  },
  'tool.regex.Escape': {
    description: 'A text as a pattern that matches it.',
    args: [['input_string: string', 'the text']],
    returns: 'string',
    example: 'tool.regex.Escape("1+1")',
    gives: '1\\+1',
  },
} as const satisfies PureDeclarations<'regex'>;
