import type { PureRow } from './row.ts';

/** Patterns: `tool.regex.…`. */
export const REGEX: readonly PureRow[] = [
  {
    name: 'tool.regex.Match',
    description: 'Whether a pattern matches somewhere in a text. Patterns have the syntax of RE2 and take linear time.',
    returns: 'bool',
    example: 'tool.regex.Match("^a+b$", "aaab")',
    gives: 'true',
  },
  {
    name: 'tool.regex.Find',
    description: 'The first match as a map of text, start, end (in characters), groups and named groups; nil when there is none.',
    returns: 'map or nil',
    example: 'tool.regex.Find("(?P<y>\\\\d+)-(\\\\d+)", "on 2024-05")',
    gives: '{"text": "2024-05", "start": 3, "end": 10, "groups": ["2024", "05"], "named": {"y": "2024"}}',
  },
  {
    name: 'tool.regex.FindAll',
    description: 'The texts of all matches, or of `limit` from the left.',
    returns: 'list of strings',
    example: 'tool.regex.FindAll("[a-z]+", "one 2 three")',
    gives: '["one", "three"]',
  },
  {
    name: 'tool.regex.Groups',
    description: 'Of each match a list: the whole, then each group, nil for one that took no part.',
    returns: 'list of lists',
    example: 'tool.regex.Groups("(\\\\w)=(\\\\d)?", "a=1 b=")',
    gives: '[["a=1", "a", "1"], ["b=", "b", nil]]',
  },
  {
    name: 'tool.regex.Replace',
    description: 'A text with matches replaced; `$1` and `$name` stand for groups, `$$` for a dollar.',
    returns: 'string',
    example: 'tool.regex.Replace("(\\\\w+)@(\\\\w+)", "me@home", "$2 at $1")',
    gives: 'home at me',
  },
  {
    name: 'tool.regex.Split',
    description: 'The parts of a text between matches, at most `limit` of them.',
    returns: 'list of strings',
    example: 'tool.regex.Split("\\\\s*,\\\\s*", "a , b,c")',
    gives: '["a", "b", "c"]',
  },
  {
    name: 'tool.regex.Escape',
    description: 'A text as a pattern that matches it.',
    returns: 'string',
    example: 'tool.regex.Escape("1+1")',
    gives: '1\\+1',
  },
];
