/** The words that are not names, as plain data, so that users need no lexer. */

/** The keywords of the language. They are reserved everywhere except after a dot. */
// biome-ignore format: a word on each line would take sixty lines
export const KEYWORDS = [
  'acos', 'and', 'as', 'asin', 'ask', 'atan', 'break', 'call', 'clear', 'clear_error', 'command', 'continue', 'cos', 'do',
  'each', 'else', 'emit', 'endcommand', 'endfor', 'endfunc', 'endif', 'endon', 'endwhile', 'error', 'eval', 'event', 'fail',
  'false', 'for', 'func', 'fuzzy', 'if', 'in', 'into', 'last', 'len', 'ln', 'log', 'means', 'must', 'mustbe', 'named',
  'needs', 'nil', 'no', 'not', 'on', 'optional', 'or', 'promptuser', 'return', 'returns', 'set', 'sin', 'some', 'tan',
  'timedate', 'tool', 'true', 'typeof', 'whisper', 'while', 'with',
] as const;

export type Keyword = (typeof KEYWORDS)[number];

/** Spellings of values in other languages, with the keyword for each. They are errors, not names. */
export const FOREIGN_VALUES = {
  null: 'nil',
  NULL: 'nil',
  None: 'nil',
  undefined: 'nil',
  True: 'true',
  False: 'false',
} as const satisfies Readonly<Record<string, Keyword>>;

/** Every word that cannot be a name: the keywords and the foreign spellings of values. */
export const RESERVED: ReadonlySet<string> = new Set([...KEYWORDS, ...Object.keys(FOREIGN_VALUES)]);
