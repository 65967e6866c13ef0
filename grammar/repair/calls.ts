/**
 * Functions and methods of other languages, with the equivalent expression. `$0` is the receiver, `$1` the first argument, and `%0` and
 * `%1` are these as operands. A form that begins with `?` is only the likeliest one, because the name has another meaning in some
 * language: only the first occurrence, another order, rounding to even, or a change of the receiver.
 */

/** Knowledge about a value. */
export type Kind = 'text' | 'list' | 'map' | 'number' | 'truth' | 'unknown';

type Form = string | Readonly<Partial<Record<Kind, string>>>;

const table = (...rows: readonly (readonly [names: string, form: Form])[]): ReadonlyMap<string, Form> =>
  new Map(rows.flatMap(([names, form]) => names.split(' ').map((name): [string, Form] => [name, form])));

const within: Form = {
  text: 'tool.str.Contains($0, $1)',
  map: 'tool.map.Has($0, $1)',
  list: 'tool.list.Contains($0, $1)',
};

/** Methods, by name and number of arguments. */
const METHODS = table(
  ['upper/0 toUpperCase/0 upcase/0 to_uppercase/0 ToUpper/0', 'tool.str.ToUpper($0)'],
  ['lower/0 toLowerCase/0 downcase/0 to_lowercase/0 ToLower/0', 'tool.str.ToLower($0)'],
  ['strip/0 trim/0 Trim/0', 'tool.str.TrimSpace($0)'],
  ['strip/1', 'tool.str.Trim($0, $1)'],
  ['split/1', 'tool.str.Split($0, $1)'],
  ['split/0', 'tool.str.SplitWords($0)'],
  ['splitlines/0 lines/0', 'tool.str.Lines($0)'],
  ['join/1', { text: 'tool.str.Join($1, $0)', list: 'tool.str.Join($0, $1)', unknown: '?tool.str.Join($0, $1)' }],
  ['replaceAll/2 gsub/2', 'tool.str.Replace($0, $1, $2)'],
  ['replace/2', '?tool.str.Replace($0, $1, $2)'],
  ['replace/3', 'tool.str.Replace($0, $1, $2, $3)'],
  ['startswith/1 startsWith/1 start_with/1 starts_with/1 hasPrefix/1', 'tool.str.HasPrefix($0, $1)'],
  ['endswith/1 endsWith/1 end_with/1 ends_with/1 hasSuffix/1', 'tool.str.HasSuffix($0, $1)'],
  ['find/1', 'tool.str.IndexOf($0, $1)'],
  ['rfind/1 lastIndexOf/1', 'tool.str.LastIndexOf($0, $1)'],
  ['index/1', { text: '?tool.str.IndexOf($0, $1)', list: '?tool.list.IndexOf($0, $1)' }],
  ['indexOf/1', { text: 'tool.str.IndexOf($0, $1)', list: 'tool.list.IndexOf($0, $1)' }],
  ['includes/1 contains/1 include/1', within],
  ['in', within],
  ['count/1', { text: 'tool.str.Count($0, $1)' }],
  ['length size len length/0 size/0 len/0 count/0', 'len($0)'],
  ['repeat/1', 'tool.str.Repeat($0, $1)'],
  ['padStart/2 rjust/2', 'tool.str.PadLeft($0, $1, $2)'],
  ['padStart/1 rjust/1', 'tool.str.PadLeft($0, $1)'],
  ['padEnd/2 ljust/2', 'tool.str.PadRight($0, $1, $2)'],
  ['padEnd/1 ljust/1', 'tool.str.PadRight($0, $1)'],
  ['zfill/1', 'tool.str.PadLeft($0, $1, "0")'],
  ['charAt/1', '%0[$1]'],
  ['toString/0 to_s/0', '("" + %0)'],
  ['to_i/0 to_f/0', '?tool.str.ToNumber($0)'],
  ['toFixed/1', '?tool.math.Round($0, $1)'],
  ['substr/2', 'tool.str.Substring($0, $1, $2)'],
  ['keys/0', 'tool.map.Keys($0)'],
  ['values/0', 'tool.map.Values($0)'],
  ['items/0 entries/0', 'tool.map.Entries($0)'],
  ['get/1', '$0[$1]'],
  ['get/2 fetch/2', 'tool.map.Get($0, $1, $2)'],
  ['has/1', { map: 'tool.map.Has($0, $1)', list: 'tool.list.Contains($0, $1)', unknown: '?tool.map.Has($0, $1)' }],
  ['hasOwnProperty/1 has_key/1 containsKey/1 contains_key/1 hasOwn/1', 'tool.map.Has($0, $1)'],
  ['append/1 push/1', '?tool.list.Append($0, $1)'],
  ['pop/0', '?tool.list.Last($0)'],
  ['first/0', '$0[0]'],
  ['last/0', 'tool.list.Last($0)'],
  ['sorted/0', 'tool.list.Sort($0)'],
  ['sort/0', '?tool.list.Sort($0)'],
  ['reversed/0', 'tool.list.Reverse($0)'],
  ['reverse/0', '?tool.list.Reverse($0)'],
  ['concat/1 extend/1', '?%0 + %1'],
  ['copy/0 slice/0', '$0'],
  ['uniq/0', 'tool.list.Unique($0)'],
  ['flat/0 flatten/0', '?tool.list.Flatten($0)'],
  ['sum/0', 'tool.math.Sum($0)'],
  [
    'iter/0 into_iter/0 iter_mut/0 clone/0 unwrap/0 collect/0 to_owned/0 as_str/0 to_vec/0 toList/0 ToList/0 ToArray/0 to_a/0',
    '$0',
  ],
  ['to_string/0 ToString/0', '("" + %0)'],
  ['Contains/1 ContainsKey/1 member/1', within],
  ['toInt/0 toDouble/0', '?tool.str.ToNumber($0)'],
);

/** Functions, by name and number of arguments; a star stands for any number. */
const FUNCTIONS = table(
  ['len/1 length/1 size/1 count/1 strlen/1', 'len($1)'],
  ['str/1 String/1 string/1 tostring/1 toString/1 strval/1 strconv.Itoa/1', '("" + %1)'],
  ['float/1 Number/1 parseFloat/1 Number.parseFloat/1 tonumber/1 number/1', 'tool.str.ToNumber($1)'],
  ['int/1 parseInt/1 Number.parseInt/1 intval/1', '?tool.str.ToNumber($1)'],
  ['bool/1 Boolean/1', '?some %1'],
  ['list/1 tuple/1 Array.from/1', '?$1'],
  ['list/0', '[]'],
  ['dict/0', '{}'],
  ['set/1', 'tool.list.Unique($1)'],
  ['sorted/1', 'tool.list.Sort($1)'],
  ['reversed/1', 'tool.list.Reverse($1)'],
  ['zip/2', 'tool.list.Zip($1, $2)'],
  ['range/1', 'tool.list.Range(0, $1)'],
  ['range/2', 'tool.list.Range($1, $2)'],
  ['range/3', 'tool.list.Range($1, $2, $3)'],
  ['abs/1 math.abs/1 Math.abs/1 math.fabs/1', 'tool.math.Abs($1)'],
  ['round/1 Math.round/1 math.round/1', '?tool.math.Round($1)'],
  ['round/2', '?tool.math.Round($1, $2)'],
  ['floor/1 math.floor/1 Math.floor/1', 'tool.math.Floor($1)'],
  ['ceil/1 math.ceil/1 Math.ceil/1', 'tool.math.Ceil($1)'],
  ['trunc/1 math.trunc/1 Math.trunc/1', 'tool.math.Trunc($1)'],
  ['sqrt/1 math.sqrt/1 Math.sqrt/1', 'tool.math.Sqrt($1)'],
  ['sign/1 Math.sign/1', 'tool.math.Sign($1)'],
  ['pow/2 math.pow/2 Math.pow/2', '(%1 ** %2)'],
  ['sum/1', 'tool.math.Sum($1)'],
  ['max/1', 'tool.math.Max($1)'],
  ['min/1', 'tool.math.Min($1)'],
  ['max/* math.max/* Math.max/*', 'tool.math.Max([$*])'],
  ['min/* math.min/* Math.min/*', 'tool.math.Min([$*])'],
  ['type/1', '?typeof %1'],
  ['chr/1 String.fromCharCode/1', 'char($1)'],
  ['isNaN/1', '?(tool.str.ToNumber($1) == nil)'],
  ['isnull/1 is_null/1 is_none/1', 'is_nil($1)'],
  ['empty/1 is_empty/1', '?no %1'],
  ['upper/1 toupper/1 strtoupper/1 uppercase/1 strings.ToUpper/1 string.upper/1', 'tool.str.ToUpper($1)'],
  ['lower/1 tolower/1 strtolower/1 lowercase/1 strings.ToLower/1 string.lower/1', 'tool.str.ToLower($1)'],
  ['trim/1 strip/1 strings.TrimSpace/1', 'tool.str.TrimSpace($1)'],
  ['strings.Split/2', 'tool.str.Split($1, $2)'],
  ['explode/2', 'tool.str.Split($2, $1)'],
  ['split/2', '?tool.str.Split($1, $2)'],
  ['strings.Join/2', 'tool.str.Join($1, $2)'],
  ['implode/2', 'tool.str.Join($2, $1)'],
  ['join/2', '?tool.str.Join($1, $2)'],
  ['keys/1 Object.keys/1', 'tool.map.Keys($1)'],
  ['values/1 Object.values/1', 'tool.map.Values($1)'],
  ['Object.entries/1', 'tool.map.Entries($1)'],
  ['Object.assign/2', 'tool.map.Merge($1, $2)'],
  ['json.dumps/1 JSON.stringify/1 json.stringify/1 json.encode/1 json_encode/1', 'tool.json.Stringify($1)'],
  ['json.loads/1 JSON.parse/1 json.parse/1 json.decode/1 json_decode/1', 'tool.json.Parse($1)'],
  ['Array.isArray/1', 'is_list($1)'],
  ['Promise.all/1 ipairs/1 pairs/1', '$1'],
  ['strings.Contains/2', 'tool.str.Contains($1, $2)'],
  ['strings.HasPrefix/2', 'tool.str.HasPrefix($1, $2)'],
  ['strings.HasSuffix/2', 'tool.str.HasSuffix($1, $2)'],
  ['strings.ReplaceAll/3', 'tool.str.Replace($1, $2, $3)'],
  ['str_replace/3', 'tool.str.Replace($3, $1, $2)'],
  ['in_array/2', 'tool.list.Contains($2, $1)'],
  ['array_keys/1', 'tool.map.Keys($1)'],
  ['array_values/1', 'tool.map.Values($1)'],
  ['isset/1', '(%1 != nil)'],
  ['parseInt/2 Number.parseInt/2', '?tool.str.ToNumber($1)'],
  ['errors.New/1 Some/1 Ok/1', '$1'],
  ['listOf/0 mutableListOf/0 arrayOf/0 array/0', '[]'],
  ['mapOf/0 mutableMapOf/0', '{}'],
  ['listOf/1 mutableListOf/1 arrayOf/1 setOf/1 array/1', '[$1]'],
  ['listOf/* mutableListOf/* arrayOf/* setOf/* array/*', '[$*]'],
  ['Number.isInteger/1', 'is_int($1)'],
  ['append/2', 'tool.list.Append($1, $2)'],
);

/** The argument of `isinstance` and the test for it. */
export const TYPE_TESTS: Readonly<Record<string, string>> = {
  str: 'is_string',
  int: 'is_int',
  float: 'is_number',
  list: 'is_list',
  dict: 'is_map',
  bool: 'is_bool',
};

export interface Call {
  readonly text: string;
  /** Whether the name has another meaning in some language. */
  readonly doubtful: boolean;
}

/** A call of a function in NeuroScript; undefined for a function that is not known. */
export function functionCall(name: string, args: readonly string[]): Call | undefined {
  const form = FUNCTIONS.get(`${name}/${args.length}`) ?? (args.length > 1 ? FUNCTIONS.get(`${name}/*`) : undefined);
  return typeof form === 'string' ? fill(form, '', args) : undefined;
}

/** Whether a name is that of a function of another language that has an equivalent. */
export function functionCalled(name: string): boolean {
  return [...FUNCTIONS.keys()].some((key) => key.startsWith(`${name}/`));
}

/** A call of a method in NeuroScript, or `in`, or a property; undefined where it is not known or depends on an unknown value. */
export function methodCall(name: string, receiver: string, kind: Kind, args: readonly string[]): Call | undefined {
  const form = METHODS.get(name === 'in' ? name : `${name}/${args.length}`);
  const text = typeof form === 'object' ? form[kind] : form;
  return text === undefined ? undefined : fill(text, receiver, args);
}

function fill(form: string, receiver: string, args: readonly string[]): Call {
  const text = form.replace(/^\?/, '').replace(/([$%])(\d|\*)/g, (_, sign: string, which: string) => {
    const written = which === '*' ? args.join(', ') : which === '0' ? receiver : (args[Number(which) - 1] ?? '');
    return sign === '%' ? operand(written) : written;
  });
  return { text, doubtful: form.startsWith('?') };
}

/** The result of a call of NeuroScript, as far as its name tells. */
export function kindOfCall(text: string): Kind {
  if (/^tool\.str\.(?:Split|Lines|SplitWords)/.test(text) || text.startsWith('tool.regex.FindAll(')) return 'list';
  if (/^tool\.str\.(?:ToUpper|ToLower|Trim|Replace|Join|Repeat|Pad|Substring|Concat)/.test(text)) return 'text';
  if (
    /^tool\.list\.(?:Append|Sort|Reverse|Slice|Range|Zip|Unique|Flatten|Rest|Tail)|^tool\.map\.(?:Keys|Values|Entries)/.test(text)
  )
    return 'list';
  if (/^tool\.map\.(?:Merge|Remove|Set|Pick|Omit)/.test(text)) return 'map';
  return /^(?:len\(|tool\.math\.)/.test(text) ? 'number' : 'unknown';
}

/** A value as an operand: in brackets if it has operators. */
export function operand(text: string): string {
  return /^(?:[\w.]+|"[^"]*"|'[^']*'|[\w.]+\([^()]*\)|\w+\[\w+\])$/.test(text) ? text : `(${text})`;
}
