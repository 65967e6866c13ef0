import type { PureDeclaration } from '../src/wire/pure/declaration.ts';
import { PURE_TOOLS } from '../src/wire/pure/tools.ts';

/** A step whose price is measured: lines that run again and again, after lines that run once. */
export interface PriceRow {
  /** The operator, statement, built-in or tool, and what it is given. */
  readonly step: string;
  /** The size of what it is given; `dearest` is where much time or little fuel was expected. */
  readonly size: 'small' | 'large' | 'dearest';
  readonly before: string;
  readonly line: string;
  /** Definitions outside of the command. */
  readonly library?: string | undefined;
}

const loop = (list: string, count: number, item: string): string =>
  `set ${list} = []\nset i = 0\nwhile i < ${count}\nset ${list}[i] = ${item}\nset i = i + 1\nendwhile`;

/** What the expressions below read, small and large. */
const GIVEN: Readonly<Record<string, readonly [small: string, large?: string]>> = {
  s: ["set s = 'hello, big world'", "set s = 'hello, big world ' * 1000"],
  same: ["set same = 'hello, big' + ' world'", "set same = 'hello, big world ' * 1000"],
  upper: ["set upper = 'HELLO, BIG WORLD'", "set upper = 'HELLO, BIG WORLD ' * 1000"],
  lines: ["set lines = 'a\\nb\\nc'", "set lines = 'a line of text\\n' * 500"],
  other: ["set other = 'a\\nd\\nc'", "set other = 'a line of text\\n' * 250 + 'another one\\n' + 'a line of text\\n' * 250"],
  b64: ["set b64 = 'aGVsbG8gd29ybGQh'", "set b64 = 'aGVsbG8gd29ybGQh' * 1000"],
  hex: ["set hex = '68656c6c6f'", "set hex = '68656c6c6f' * 1000"],
  l: ['set l = [3, 1, 2]', 'set l = tool.list.Reverse(tool.list.Range(0, 2000))'],
  alike: ['set alike = [3, 1, 2]', 'set alike = tool.list.Reverse(tool.list.Range(0, 2000))'],
  w: ["set w = ['big', 'hello', 'world']", loop('w', 1000, "'word' + (7919 * i % 1000)")],
  m: ["set m = {'a': 1, 'b': [1, 2]}", 'set m = {}\nset i = 0\nwhile i < 1000\nset m["key" + i] = i\nset i = i + 1\nendwhile'],
  r: ["set r = [{'k': 'b', 'n': 2}, {'k': 'a', 'n': 1}]", loop('r', 200, "{'k': 'k' + i % 20, 'n': 7919 * i % 200}")],
  e: ["set e = [['a', 1], ['b', 2]]", loop('e', 500, "['key' + i, i]")],
  nest: ['set nest = [1, [2, [3]]]', loop('nest', 500, '[i, [i]]')],
  j: ['set j = \'{"a": [1, 2.5, null]}\'', 'set j = "[" + \'{"a": [1, 2.5, null]}, \' * 300 + "1]"'],
  j64: ["set j64 = 'eyJrZXkiOiAidmFsdWUifQ=='", 'set j64 = tool.str.BytesToBase64("[" + "1, " * 2000 + "1]")'],
  f: ["set f = '{{x}}, {{m.a}}'\nset m = {'a': 1}\nset x = 1", "set f = '{{x}}, {{m.a}}' * 500\nset m = {'a': 1}\nset x = 1"],
  esc: ["set esc = char(27) + '[31mError' + char(27) + '[0m'", "set esc = (char(27) + '[31mError' + char(27) + '[0m') * 500"],
  n: ['set n = 2.5'],
  i: ['set i = 7'],
  d: ["set d = '12.5'", "set d = '1' * 5000"],
};

const STATEMENTS: ReadonlySet<string> = new Set(['set', 'emit', 'whisper', 'must', 'for', 'if', 'while', 'call']);
/** What stands between two names of an expression. */
const NO_NAME = /\W+/;

const MATH = ['ln', 'log', 'sin', 'cos', 'tan', 'atan'].map((name) => `${name}(n)`);
const TESTS = 'string number bool list map nil timedate fuzzy int float event function tool'.split(' ');

/** Keys so long that V8 has no hash for them: it tells each from all others unit by unit. */
const COLLIDING = `set x = 'x' * 17000\nset m = {}\nset k = []\nset i = 100\nwhile i < 300\nset m[x + i] = i\nset k[len(k)] = x + i\nset i = i + 1\nendwhile\nset key = x + '999'`;

/** Expressions and statements on the above. Each runs with small values and with large ones. */
const BOTH: readonly string[] = [
  'set q = 1',
  'set q = s',
  ...['+', '-', '*', '/', '%', '**', '&', '|', '^', '<', '>', '<=', '>=', '==', '!=', 'and', 'or'].map((op) => `i ${op} 3`),
  '-n',
  '~i',
  'not n',
  'no s',
  'some s',
  'typeof s',
  'd + 1',
  's + d',
  's * 20',
  'l + alike',
  's == same',
  's < same',
  'l == alike',
  's + l',
  's[3]',
  'l[2]',
  "m['a']",
  'm.a',
  '[1, 2, 3]',
  "{'x': 1, 'y': 2}",
  '```{{n}} and {{s}}```',
  'eval(f)',
  ...MATH,
  'asin(0.5)',
  'acos(0.5)',
  'char(i)',
  'ord(s)',
  'len(s)',
  'len(l)',
  'typeof(m)',
  ...TESTS.map((name) => `is_${name}(n)`),
  'is_error(m)',
  'emit n',
  'emit s',
  'emit l',
  'whisper self, n',
  'whisper self, s',
  'must n',
  'set l[1] = 2',
  "set m['a'] = 2",
  'for each q in l\nset z = 1\nendfor',
  'for each q in s\nset z = 1\nendfor',
  'if n\nset z = 1\nendif',
  'while false\nset z = 1\nendwhile',
  ...[
    'Length(s)',
    'Substring(s, 6, 5)',
    'ToUpper(s)',
    'ToLower(s)',
    'TrimSpace(s)',
    "Trim(s, 'held ')",
    "TrimPrefix(s, 'he')",
    "TrimSuffix(s, 'ld')",
    "Split(s, ' ')",
    'SplitWords(s)',
    'Lines(lines)',
    'LineCount(lines)',
    "Join(w, '-')",
    'Concat(w)',
    "Replace(s, 'big', 'small')",
    "Contains(s, 'xyz')",
    'HasPrefix(s, same)',
    'HasSuffix(s, same)',
    "IndexOf(s, 'xyz')",
    "LastIndexOf(s, 'd')",
    "Count(s, 'big')",
    'EqualFold(s, upper)',
    'Repeat(s, 3)',
    "PadLeft(s, 200000, '0')",
    "PadRight(s, 30, '.')",
    "Normalize(s, 'NFKC')",
    'ToNumber(d)',
    'ToBase64(s)',
    'FromBase64(b64)',
    'BytesToBase64(s)',
    'BytesFromBase64(b64)',
    'ToHex(s)',
    'FromHex(hex)',
    'ParseJsonString(j)',
    'ParseFromJsonBase64(j64)',
    'ToJsonString(m)',
    "MatchRegex('[x-z]+', s)",
    "FindAllRegex('[a-z]+', s)",
    "ReplaceRegex(' +', s, '-')",
    'Inspect(r, 20, 2)',
    'StripAnsi(esc)',
  ].map((call) => `tool.str.${call}`),
  ...['Add', 'Subtract', 'Multiply', 'Divide', 'Modulo', 'Power'].map((name) => `tool.math.${name}(i, 2)`),
  ...['Abs', 'Sign', 'Floor', 'Ceil', 'Trunc', 'Sqrt'].map((name) => `tool.math.${name}(n)`),
  'tool.math.Round(n, 2)',
  'tool.math.Clamp(n, 0, 10)',
  ...['Min', 'Max', 'Sum', 'Mean', 'Median'].map((name) => `tool.math.${name}(l)`),
  ...['Length', 'IsEmpty', 'Reverse', 'Sort', 'Head', 'Last', 'Rest', 'Unique'].map((name) => `tool.list.${name}(l)`),
  ...[
    'Sort(w)',
    'Unique(w)',
    'Unique(r)',
    'Append(l, 1)',
    'AppendInPlace(l, 1)',
    'Prepend(l, 1)',
    'Insert(l, 1, 2)',
    'RemoveAt(l, 1)',
    'Get(l, 1)',
    'Slice(l, 1, 4000)',
    'Contains(l, -1)',
    'IndexOf(w, "none")',
    "SortBy(r, 'n')",
    "GroupBy(r, 'k')",
    'Tail(l, 4000)',
    'Flatten(nest, 2)',
    'Chunk(l, 2)',
    'Zip(l, alike)',
    'Range(0, len(l))',
  ].map((call) => `tool.list.${call}`),
  ...[
    'Keys(m)',
    'Values(m)',
    'Entries(m)',
    'FromEntries(e)',
    "Has(m, 'a')",
    "Get(m, 'a')",
    "Set(m, 'a', 2)",
    "Remove(m, 'a')",
    "Merge(m, {'a': 1})",
    'Pick(m, w)',
    'Omit(m, w)',
  ].map((call) => `tool.map.${call}`),
  'tool.json.Parse(j)',
  'tool.json.Stringify(m)',
  'tool.json.Canonical(m)',
  'tool.json.IsValid(j)',
  "tool.regex.Match('[x-z]+', s)",
  "tool.regex.Find('(b)(i)g', s)",
  "tool.regex.FindAll('[a-z]+', s)",
  "tool.regex.Groups('(b)(i)g', s)",
  "tool.regex.Replace('(b)ig', s, '$1ad')",
  "tool.regex.Split(' +', s)",
  'tool.regex.Escape(s)',
  "tool.shape.Validate({'r': r}, {'r[]': {'k': 'string', 'n': 'int'}})",
  "tool.shape.Problems({'r': r}, {'r[]': 'string'})",
  "tool.shape.Select({'r': r}, 'r[0].n')",
  "tool.shape.IsValidPath('a.b[0].c')",
  "tool.template.Render(f, {'x': 1, 'm': {'a': 2}})",
  'tool.diff.Lines(lines, other)',
  'tool.diff.Unified(lines, other)',
  'tool.error.New("ERR_NOT_FOUND", s)',
];

/** What takes long for its fuel, or costs much for its time: each with the lines before it. */
const EXTREMES: readonly (readonly [step: string, before: string, line: string, library?: string])[] = [
  ['a call of a procedure', '', 'call f(1, 2)', 'func f(needs a, b) means\nreturn a\nendfunc\n'],
  ['an error raised and handled', '', 'call f()', "func f() means\non error do\nclear_error\nendon\nfail 'x'\nendfunc\n"],
  ['a failing operator', '', 'call f()', 'func f() means\non error do\nclear_error\nendon\nset q = 1 / 0\nendfunc\n'],
  ['a failing tool', '', 'call f()', 'func f() means\non error do\nclear_error\nendon\nset q = tool.str.Length()\nendfunc\n'],
  ['a text repeated', '', "set q = 'abcdefgh' * 100000"],
  ['a copy of a shared list', 'set l = tool.list.Range(0, 5000)', 'set k = l\nset k[0] = 2'],
  [
    'a copy of a shared map',
    'set m = {}\nset n = 0\nwhile n < 2000\nset m["key" + n] = n\nset n = n + 1\nendwhile',
    'set k = m\nset k.a = 2',
  ],
  ['a list padded', '', 'set q = nil\nset q[5000] = 1'],
  ['texts that are alike: an index', 'set x = "x" * 100000\nset a = x + "a"\nset b = x + "b"', 'set q = a[0] + b[0]'],
  ['texts that are alike: ==', 'set x = "x" * 100000\nset a = x + "a"\nset b = x + "a"', 'set q = a == b'],
  ['keys that collide: m[key]', COLLIDING, 'set q = m[key]'],
  ['keys that collide: map.Has', COLLIDING, 'set q = tool.map.Has(m, key)'],
  ['keys that collide: list.Unique', COLLIDING, 'set q = tool.list.Unique(k)'],
  ['braces that are no fields: eval', "set x = '{' * 20000", 'set q = eval(x)'],
  ['fields of one letter: eval', "set x = '{{a}}' * 5000", 'set q = eval(x)'],
  ['a long path: eval', "set x = '{{a' + '.a' * 9000 + '}}'", 'set q = eval(x)'],
  ['fields of one letter: template.Render', "set x = '{{a}}' * 5000", "set q = tool.template.Render(x, {'a': ''})"],
  ['nothing but special characters: regex.Escape', "set x = '.' * 50000", 'set q = tool.regex.Escape(x)'],
  ['white space only: str.TrimSpace', 'set x = char(8195) * 50000', 'set q = tool.str.TrimSpace(x)'],
  ['what is trimmed only: str.Trim', "set x = 'abcdefgh' * 6000", "set q = tool.str.Trim(x, 'hgfedcba')"],
  [
    'many characters: str.Trim',
    `${loop('w', 3000, 'char(1000 + i)')}\nset s = 'hello' * 100\nset x = tool.str.Concat(w)`,
    'set q = tool.str.Trim(s, x)',
  ],
  ['emoji: an index at the end', 'set a = char(128512) * 50000', 'set q = a[49999] + a[0]'],
  ['emoji: str.LastIndexOf', "set a = char(128512) * 50000 + 'x'", "set q = tool.str.LastIndexOf(a, 'x')"],
  ['emoji: str.Substring', 'set a = char(128512) * 50000', 'set q = tool.str.Substring(a, 49000, 5)'],
  ['not ASCII: str.ToUpper', 'set x = char(233) * 20000', 'set q = tool.str.ToUpper(x)'],
  ['not ASCII: str.EqualFold', 'set x = char(233) * 20000', 'set q = tool.str.EqualFold(x, x)'],
  ['line feeds: str.LineCount', 'set x = char(10) * 50000', 'set q = tool.str.LineCount(x)'],
  ['line feeds: str.Lines', 'set x = char(10) * 20000', 'set q = tool.str.Lines(x)'],
  ['line feeds: emit', 'set x = char(10) * 20000', 'emit x'],
  ['characters: str.Split', "set x = 'abcd' * 5000", "set q = tool.str.Split(x, '')"],
  ['characters: str.Replace', "set x = 'abcd' * 5000", "set q = tool.str.Replace(x, '', '')"],
  ['each unit replaced: str.Replace', "set x = 'a' * 20000", "set q = tool.str.Replace(x, 'a', 'b')"],
  [
    'a beginning that nearly occurs: str.Contains',
    "set p = 'a' * 400 + 'b' + 'a' * 400\nset x = 'a' * 50000",
    'set q = tool.str.Contains(x, p)',
  ],
  [
    'a beginning that nearly occurs: str.LastIndexOf',
    "set p = 'a' * 400 + 'b' + 'a' * 400\nset x = 'a' * 50000",
    'set q = tool.str.LastIndexOf(x, p)',
  ],
  ['marks above letters: str.Normalize', "set x = ('a' + char(769) * 60) * 500", 'set q = tool.str.Normalize(x)'],
  ['controls only: str.StripAnsi', "set x = (char(27) + '[1m') * 10000", 'set q = tool.str.StripAnsi(x)'],
  ['nothing removed: str.StripAnsi', "set x = (char(27) + '[') * 10000", 'set q = tool.str.StripAnsi(x)'],
  ['escapes: json.IsValid', "set x = '\"' + '\\\\n' * 10000 + '\"'", 'set q = tool.json.IsValid(x)'],
  ['what is quoted: a list as text', 'set x = [char(1) * 5000]', "set q = '' + x"],
  ['groups that nobody has: regex.Replace', "set p = '()' * 300\nset x = '$x' * 2000", "set q = tool.regex.Replace(p, '', x)"],
  ['empty matches: regex.FindAll', "set x = 'ab' * 5000", "set q = tool.regex.FindAll('', x)"],
  ['empty matches: regex.Replace', "set x = 'ab' * 5000", "set q = tool.regex.Replace('', x, '-')"],
  ['a new pattern: regex.Match', "set p = 'a(b|c)*[d-f]+' * 50\nset n = 0", 'set n = n + 1\nset q = tool.regex.Match(p + n, "")'],
  [
    'a pattern of classes: regex.Match',
    "set p = '\\\\pL' * 100\nset n = 0",
    'set n = n + 1\nset q = tool.regex.Match(p + n, "")',
  ],
  ['marks of a shape: shape.Problems', "set x = {}\nset x['a' + '?' * 10000] = 'any'", 'set q = tool.shape.Problems({}, x)'],
];

/** The examples of the tools that no expression above calls. */
const EXAMPLES = Object.values(PURE_TOOLS).flatMap((group: Readonly<Record<string, PureDeclaration>>) =>
  Object.entries(group).flatMap(([name, { example }]) => (BOTH.some((step) => step.includes(`${name}(`)) ? [] : [example[0]])),
);

/** Every row, in the order of the language's page: operators, statements, built-ins, tools, extremes. */
export const PRICE_ROWS: readonly PriceRow[] = [
  ...BOTH.flatMap((step): PriceRow[] => {
    const line = STATEMENTS.has(step.split(' ')[0] ?? '') ? step : `set q = ${step}`;
    const given = Object.keys(GIVEN).filter((name) => line.split(NO_NAME).includes(name));
    const before = (size: 0 | 1): string => given.map((name) => GIVEN[name]?.[size] ?? GIVEN[name]?.[0] ?? '').join('\n');
    const small: PriceRow = { step, size: 'small', before: before(0), line };
    return before(0) === before(1) ? [small] : [small, { ...small, size: 'large', before: before(1) }];
  }),
  ...EXAMPLES.map((step): PriceRow => ({ step, size: 'small', before: '', line: `set q = ${step}` })),
  ...EXTREMES.map(
    ([step, before, line, library]): PriceRow => ({
      step,
      size: 'dearest',
      before,
      line,
      library,
    }),
  ),
];
