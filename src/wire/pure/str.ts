import type { PureDeclarations } from './declaration.ts';

/** Strings: `tool.str`. */
export const STR = {
  'tool.str.Length': {
    description: 'Returns the number of characters (code points) in a string.',
    args: [['input_string: string', 'the string']],
    returns: 'int',
    example: ['tool.str.Length("héllo")', '5'],
  },
  'tool.str.Substring': {
    description:
      'Returns up to `length` characters, starting at an index. Fails with code 8 if the index or the length is negative.',
    args: [
      ['input_string: string', 'the string'],
      ['start_index: int', 'index of the first character, from 0; an index past the end gives an empty string'],
      ['length: int', 'the maximum number of characters'],
    ],
    returns: 'string',
    example: ['tool.str.Substring("hello world", 6, 5)', 'world'],
  },
  'tool.str.ToUpper': {
    description: 'Converts a string to upper case, one character at a time: `ß` stays `ß`.',
    args: [['input_string: string', 'the string']],
    returns: 'string',
    example: ['tool.str.ToUpper("hello")', 'HELLO'],
  },
  'tool.str.ToLower': {
    description: 'Converts a string to lower case, one character at a time.',
    args: [['input_string: string', 'the string']],
    returns: 'string',
    example: ['tool.str.ToLower("HELLO")', 'hello'],
  },
  'tool.str.TrimSpace': {
    description: 'Removes white space from both ends of a string.',
    args: [['input_string: string', 'the string']],
    returns: 'string',
    example: ['tool.str.TrimSpace("  hello  ")', 'hello'],
  },
  'tool.str.Trim': {
    description: 'Removes the given characters from both ends of a string.',
    args: [
      ['input_string: string', 'the string'],
      ['characters: string', 'the characters to remove, in any order: "-_" removes both'],
    ],
    returns: 'string',
    example: ['tool.str.Trim("--a-b--", "-")', 'a-b'],
  },
  'tool.str.TrimPrefix': {
    description: 'Removes a prefix, if the string has it.',
    args: [
      ['input_string: string', 'the string'],
      ['prefix: string', 'the prefix to remove, once'],
    ],
    returns: 'string',
    example: ['tool.str.TrimPrefix("v1.2", "v")', '1.2'],
  },
  'tool.str.TrimSuffix': {
    description: 'Removes a suffix, if the string has it.',
    args: [
      ['input_string: string', 'the string'],
      ['suffix: string', 'the suffix to remove, once'],
    ],
    returns: 'string',
    example: ['tool.str.TrimSuffix("a.txt", ".txt")', 'a'],
  },
  'tool.str.Split': {
    description: 'Splits a string at every delimiter. An empty delimiter splits it into characters.',
    args: [
      ['input_string: string', 'the string'],
      ['delimiter: string', 'the text between the parts, not a pattern; "" splits into characters'],
    ],
    returns: 'list of strings',
    example: ['tool.str.Split("a,b,c", ",")', '["a", "b", "c"]'],
  },
  'tool.str.SplitWords': {
    description: 'Splits a string into words, which are separated by white space.',
    args: [['input_string: string', 'the string']],
    returns: 'list of strings',
    example: ['tool.str.SplitWords("hello  big\\tworld")', '["hello", "big", "world"]'],
  },
  'tool.str.Lines': {
    description: 'Splits a string into lines, without their line endings (LF or CR LF).',
    args: [['content_string: string', 'the string']],
    returns: 'list of strings',
    example: ['tool.str.Lines("a\\nb\\n")', '["a", "b"]'],
  },
  'tool.str.LineCount': {
    description: 'Counts the lines of a string. A last line without a line feed counts.',
    args: [['content_string: string', 'the string']],
    returns: 'int',
    example: ['tool.str.LineCount("a\\nb")', '2'],
  },
  'tool.str.Join': {
    description:
      'Joins the items of a list into one string, with a separator between them. Items that are not strings are converted as `emit` prints them; nil becomes an empty string.',
    args: [
      ['string_list: any', 'the items'],
      ['separator: string', 'the text between two items; may be ""'],
    ],
    returns: 'string',
    example: ['tool.str.Join(["a", 1, true], "-")', 'a-1-true'],
  },
  'tool.str.Concat': {
    description: 'Joins the items of a list into one string, without a separator.',
    args: [['strings_list: any', 'the items']],
    returns: 'string',
    example: ['tool.str.Concat(["a", "b", 1])', 'ab1'],
  },
  'tool.str.Replace': {
    description: 'Replaces the first `count` occurrences of a substring, or all of them for -1.',
    args: [
      ['input_string: string', 'the string'],
      ['old_substring: string', 'the substring to find, not a pattern'],
      ['new_substring: string', 'the text to put in its place'],
      ['count: int = -1', 'the maximum number of replacements, from the left; -1 for all'],
    ],
    returns: 'string',
    example: ['tool.str.Replace("ababab", "ab", "cd", 2)', 'cdcdab'],
  },
  'tool.str.Contains': {
    description: 'Tells whether a string contains a substring.',
    args: [
      ['input_string: string', 'the string to search'],
      ['substring: string', 'the substring to find, not a pattern'],
    ],
    returns: 'bool',
    example: ['tool.str.Contains("hello world", "lo w")', 'true'],
  },
  'tool.str.HasPrefix': {
    description: 'Tells whether a string starts with a prefix.',
    args: [
      ['input_string: string', 'the string'],
      ['prefix: string', 'the prefix'],
    ],
    returns: 'bool',
    example: ['tool.str.HasPrefix("file.txt", "file")', 'true'],
  },
  'tool.str.HasSuffix': {
    description: 'Tells whether a string ends with a suffix.',
    args: [
      ['input_string: string', 'the string'],
      ['suffix: string', 'the suffix'],
    ],
    returns: 'bool',
    example: ['tool.str.HasSuffix("file.txt", ".txt")', 'true'],
  },
  'tool.str.IndexOf': {
    description:
      'Returns the character index of the first occurrence of a substring at or after `start_index`, or -1 if there is none.',
    args: [
      ['input_string: string', 'the string to search'],
      ['substring: string', 'the substring to find, not a pattern'],
      ['start_index: int = 0', 'index of the character to start at, from 0'],
    ],
    returns: 'int',
    example: ['tool.str.IndexOf("héllo", "l")', '2'],
  },
  'tool.str.LastIndexOf': {
    description: 'Returns the character index of the last occurrence of a substring, or -1 if there is none.',
    args: [
      ['input_string: string', 'the string to search'],
      ['substring: string', 'the substring to find, not a pattern'],
    ],
    returns: 'int',
    example: ['tool.str.LastIndexOf("hello", "l")', '3'],
  },
  'tool.str.Count': {
    description: 'Counts the occurrences of a substring that do not overlap.',
    args: [
      ['input_string: string', 'the string to search'],
      ['substring: string', 'the substring to count, not a pattern'],
    ],
    returns: 'int',
    example: ['tool.str.Count("banana", "an")', '2'],
  },
  'tool.str.EqualFold': {
    description: 'Tells whether two strings are equal if letter case is ignored.',
    args: [
      ['left: string', 'the first string'],
      ['right: string', 'the second string'],
    ],
    returns: 'bool',
    example: ['tool.str.EqualFold("Straße", "STRAßE")', 'true'],
  },
  'tool.str.Repeat': {
    description: 'Repeats a string.',
    args: [
      ['input_string: string', 'the string'],
      ['count: int', 'the number of copies, 0 or more'],
    ],
    returns: 'string',
    example: ['tool.str.Repeat("ab", 3)', 'ababab'],
  },
  'tool.str.PadLeft': {
    description: 'Pads a string at the start to a length in characters.',
    args: [
      ['input_string: string', 'the string'],
      ['length: int', 'the number of characters to reach; a longer string stays as it is'],
      ['pad: string = " "', 'the padding, one character or more'],
    ],
    returns: 'string',
    example: ['tool.str.PadLeft("7", 3, "0")', '007'],
  },
  'tool.str.PadRight': {
    description: 'Pads a string at the end to a length in characters.',
    args: [
      ['input_string: string', 'the string'],
      ['length: int', 'the number of characters to reach; a longer string stays as it is'],
      ['pad: string = " "', 'the padding, one character or more'],
    ],
    returns: 'string',
    example: ['tool.str.PadRight("ab", 4, ".")', 'ab..'],
  },
  'tool.str.Normalize': {
    description:
      'Converts a string to a Unicode normal form. Fails with code 41 if it has more than 64 combining marks in a row.',
    args: [
      ['input_string: string', 'the string'],
      ['form: string = "NFC"', '"NFC", "NFD", "NFKC" or "NFKD"'],
    ],
    returns: 'string',
    example: ['tool.str.Normalize("ﬁn", "NFKC")', 'fin'],
  },
  'tool.str.ToNumber': {
    description: 'Reads a string as a number. Returns nil if it is not one.',
    args: [['input_string: string', 'the string; white space around the number is ignored']],
    returns: 'number or nil',
    example: ['tool.str.ToNumber(" 1_000.5 ")', '1000.5'],
  },
  'tool.str.ToBase64': {
    description: 'Encodes the UTF-8 bytes of a string as base64.',
    args: [['input_string: string', 'the string']],
    returns: 'string',
    example: ['tool.str.ToBase64("hello world")', 'aGVsbG8gd29ybGQ='],
  },
  'tool.str.FromBase64': {
    description: 'Decodes base64 to a string. Fails with code 41 if it is not the base64 of UTF-8 text.',
    args: [['encoded_string: string', 'the base64']],
    returns: 'string',
    example: ['tool.str.FromBase64("aGVsbG8gd29ybGQ=")', 'hello world'],
  },
  'tool.str.BytesToBase64': {
    description: 'The same as `tool.str.ToBase64`.',
    args: [['string_data: string', 'the string']],
    returns: 'string',
    example: ['tool.str.BytesToBase64("Hello World")', 'SGVsbG8gV29ybGQ='],
  },
  'tool.str.BytesFromBase64': {
    description: 'The same as `tool.str.FromBase64`.',
    args: [['base64_string: string', 'the base64']],
    returns: 'string',
    example: ['tool.str.BytesFromBase64("SGVsbG8gV29ybGQ=")', 'Hello World'],
  },
  'tool.str.ToHex': {
    description: 'Encodes the UTF-8 bytes of a string as hexadecimal digits.',
    args: [['input_string: string', 'the string']],
    returns: 'string',
    example: ['tool.str.ToHex("hello")', '68656c6c6f'],
  },
  'tool.str.FromHex': {
    description: 'Decodes hexadecimal digits to a string. Fails with code 41 if they are not the UTF-8 bytes of a text.',
    args: [['encoded_string: string', 'pairs of hexadecimal digits, lower or upper case']],
    returns: 'string',
    example: ['tool.str.FromHex("68656c6c6f")', 'hello'],
  },
  'tool.str.ParseJsonString': {
    description: 'The same as `tool.json.Parse`.',
    args: [['json_string: string', 'the JSON']],
    returns: 'any',
    example: ['tool.str.ParseJsonString("{\\"key\\": [1, null]}")', '{"key": [1, nil]}'],
  },
  'tool.str.ParseFromJsonBase64': {
    description: 'Decodes base64 and parses the result as JSON.',
    args: [['base64_string: string', 'the base64 of the JSON']],
    returns: 'any',
    example: ['tool.str.ParseFromJsonBase64("eyJrZXkiOiAidmFsdWUifQ==")', '{"key": "value"}'],
  },
  'tool.str.ToJsonString': {
    description: 'Converts a map or a list to JSON. `tool.json.Stringify` takes any value.',
    args: [
      ['value: any', 'a map or a list'],
      ['pretty_print: bool = false', 'true to put each entry on its own line'],
      ['prefix: string = ""', 'text before each line except the first, if pretty_print is true'],
      ['indent: string = "  "', 'text before each entry, once per level, if pretty_print is true'],
    ],
    returns: 'string',
    example: ['tool.str.ToJsonString({"key": "value"})', '{"key":"value"}'],
  },
  'tool.str.MatchRegex': {
    description: 'The same as `tool.regex.Match`.',
    args: [
      ['pattern: string', 'the pattern, in RE2 syntax'],
      ['input_string: string', 'the string to search'],
    ],
    returns: 'bool',
    example: ['tool.str.MatchRegex("^\\\\d{3}-\\\\d{2}$", "123-45")', 'true'],
  },
  'tool.str.FindAllRegex': {
    description: 'The same as `tool.regex.FindAll` without a limit.',
    args: [
      ['pattern: string', 'the pattern, in RE2 syntax'],
      ['input_string: string', 'the string to search'],
    ],
    returns: 'list of strings',
    example: ['tool.str.FindAllRegex("\\\\w+", "hello world 123")', '["hello", "world", "123"]'],
  },
  'tool.str.ReplaceRegex': {
    description: 'The same as `tool.regex.Replace` without a limit.',
    args: [
      ['pattern: string', 'the pattern, in RE2 syntax'],
      ['input_string: string', 'the string to search'],
      ['replacement: string', 'the replacement of each match; $1 and $name stand for groups'],
    ],
    returns: 'string',
    example: ['tool.str.ReplaceRegex("\\\\s+", "a  b c", "-")', 'a-b-c'],
  },
  'tool.str.Inspect': {
    description: 'Formats a value for reading: cuts strings longer than `max_length` and omits lists and maps below `max_depth`.',
    args: [
      ['input_variable?: any', 'any value'],
      ['max_length: int = 128', 'the maximum number of characters of each string in the value'],
      ['max_depth: int = 5', 'the maximum number of levels of lists and maps to show'],
    ],
    returns: 'string',
    example: ['tool.str.Inspect({"a": [1, [2]]}, 20, 2)', '{"a":[1, ...]}'],
  },
  'tool.str.StripAnsi': {
    description: 'Removes terminal control sequences (ANSI escapes) from a string.',
    args: [['input_string: string', 'the string']],
    returns: 'string',
    example: ['tool.str.StripAnsi("\\x1b[31mError\\x1b[0m")', 'Error'],
  },
} as const satisfies PureDeclarations<'str'>;
