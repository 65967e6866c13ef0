/**
 * The pure tools: those that run inside the isolate, without a frame to the host. Each is listed with its arguments, from
 * which the host makes its definition (`stdlib-tools`) and the interpreter the checks of a call (`guest/pure`): `name: type`,
 * with `?` behind a name that may be left out or nil, and ` = value` (JSON) for a default. Types are ArgTypes (language.md 9.4).
 */
export const PURE_TOOLS = {
  'tool.str.Length': 'input_string: string',
  'tool.str.Substring': 'input_string: string, start_index: int, length: int',
  'tool.str.ToUpper': 'input_string: string',
  'tool.str.ToLower': 'input_string: string',
  'tool.str.TrimSpace': 'input_string: string',
  'tool.str.Trim': 'input_string: string, characters: string',
  'tool.str.TrimPrefix': 'input_string: string, prefix: string',
  'tool.str.TrimSuffix': 'input_string: string, suffix: string',
  'tool.str.Split': 'input_string: string, delimiter: string',
  'tool.str.SplitWords': 'input_string: string',
  'tool.str.Lines': 'content_string: string',
  'tool.str.LineCount': 'content_string: string',
  'tool.str.Join': 'string_list: any, separator: string',
  'tool.str.Concat': 'strings_list: any',
  'tool.str.Replace': 'input_string: string, old_substring: string, new_substring: string, count: int = -1',
  'tool.str.Contains': 'input_string: string, substring: string',
  'tool.str.HasPrefix': 'input_string: string, prefix: string',
  'tool.str.HasSuffix': 'input_string: string, suffix: string',
  'tool.str.IndexOf': 'input_string: string, substring: string, start_index: int = 0',
  'tool.str.LastIndexOf': 'input_string: string, substring: string',
  'tool.str.Count': 'input_string: string, substring: string',
  'tool.str.EqualFold': 'left: string, right: string',
  'tool.str.Repeat': 'input_string: string, count: int',
  'tool.str.PadLeft': 'input_string: string, length: int, pad: string = " "',
  'tool.str.PadRight': 'input_string: string, length: int, pad: string = " "',
  'tool.str.Normalize': 'input_string: string, form: string = "NFC"',
  'tool.str.ToNumber': 'input_string: string',
  'tool.str.ToBase64': 'input_string: string',
  'tool.str.FromBase64': 'encoded_string: string',
  'tool.str.BytesToBase64': 'string_data: string',
  'tool.str.BytesFromBase64': 'base64_string: string',
  'tool.str.ToHex': 'input_string: string',
  'tool.str.FromHex': 'encoded_string: string',
  'tool.str.ParseJsonString': 'json_string: string',
  'tool.str.ParseFromJsonBase64': 'base64_string: string',
  'tool.str.ToJsonString': 'value: any, pretty_print: bool = false, prefix: string = "", indent: string = "  "',
  'tool.str.MatchRegex': 'pattern: string, input_string: string',
  'tool.str.FindAllRegex': 'pattern: string, input_string: string',
  'tool.str.ReplaceRegex': 'pattern: string, input_string: string, replacement: string',
  'tool.str.Inspect': 'input_variable?: any, max_length: int = 128, max_depth: int = 5',
  'tool.str.StripAnsi': 'input_string: string',
  'tool.math.Add': 'num1: float, num2: float',
  'tool.math.Subtract': 'num1: float, num2: float',
  'tool.math.Multiply': 'num1: float, num2: float',
  'tool.math.Divide': 'num1: float, num2: float',
  'tool.math.Modulo': 'num1: int, num2: int',
  'tool.math.Abs': 'num: float',
  'tool.math.Sign': 'num: float',
  'tool.math.Floor': 'num: float',
  'tool.math.Ceil': 'num: float',
  'tool.math.Trunc': 'num: float',
  'tool.math.Round': 'num: float, digits: int = 0',
  'tool.math.Sqrt': 'num: float',
  'tool.math.Power': 'base: float, exponent: float',
  'tool.math.Clamp': 'num: float, least: float, most: float',
  'tool.math.Min': 'numbers: slice_float',
  'tool.math.Max': 'numbers: slice_float',
  'tool.math.Sum': 'numbers: slice_float',
  'tool.math.Mean': 'numbers: slice_float',
  'tool.math.Median': 'numbers: slice_float',
  'tool.list.Length': 'list: slice_any',
  'tool.list.IsEmpty': 'list: slice_any',
  'tool.list.Append': 'list: slice_any, element?: any',
  'tool.list.AppendInPlace': 'list: slice_any, element?: any',
  'tool.list.Prepend': 'list: slice_any, element?: any',
  'tool.list.Insert': 'list: slice_any, index: int, element?: any',
  'tool.list.RemoveAt': 'list: slice_any, index: int',
  'tool.list.Get': 'list: slice_any, index: int, default?: any',
  'tool.list.Slice': 'list: slice_any, start: int, end: int',
  'tool.list.Contains': 'list: slice_any, element?: any',
  'tool.list.IndexOf': 'list: slice_any, element?: any',
  'tool.list.Reverse': 'list: slice_any',
  'tool.list.Sort': 'list: slice_any',
  'tool.list.SortBy': 'list: slice_any, key: string, descending: bool = false',
  'tool.list.GroupBy': 'list: slice_any, key: string',
  'tool.list.Head': 'list: slice_any',
  'tool.list.Last': 'list: slice_any',
  'tool.list.Rest': 'list: slice_any',
  'tool.list.Tail': 'list: slice_any, count: int',
  'tool.list.Unique': 'list: slice_any',
  'tool.list.Flatten': 'list: slice_any, depth: int = 1',
  'tool.list.Chunk': 'list: slice_any, size: int',
  'tool.list.Zip': 'left: slice_any, right: slice_any',
  'tool.list.Range': 'start: int, end: int, step: int = 1',
  'tool.map.Keys': 'map: map',
  'tool.map.Values': 'map: map',
  'tool.map.Entries': 'map: map',
  'tool.map.FromEntries': 'entries: slice_any',
  'tool.map.Has': 'map: map, key: string',
  'tool.map.Get': 'map: map, key: string, default?: any',
  'tool.map.Set': 'map: map, key: string, value?: any',
  'tool.map.Remove': 'map: map, key: string',
  'tool.map.Merge': 'map: map, other: map',
  'tool.map.Pick': 'map: map, keys: slice_string',
  'tool.map.Omit': 'map: map, keys: slice_string',
  'tool.json.Parse': 'text: string',
  'tool.json.Stringify': 'value?: any, indent: int = 0',
  'tool.json.Canonical': 'value?: any',
  'tool.json.IsValid': 'text: string',
  'tool.regex.Match': 'pattern: string, input_string: string',
  'tool.regex.Find': 'pattern: string, input_string: string',
  'tool.regex.FindAll': 'pattern: string, input_string: string, limit: int = -1',
  'tool.regex.Groups': 'pattern: string, input_string: string, limit: int = -1',
  'tool.regex.Replace': 'pattern: string, input_string: string, replacement: string, limit: int = -1',
  'tool.regex.Split': 'pattern: string, input_string: string, limit: int = -1',
  'tool.regex.Escape': 'input_string: string',
  'tool.shape.Validate': 'value: map, shape: map, options?: map',
  'tool.shape.Problems': 'value: map, shape: map, options?: map',
  'tool.shape.Select': 'value: any, path: any, options?: map',
  'tool.shape.IsValidPath': 'path_string: string',
  'tool.template.Render': 'template: string, values: map, missing?: string',
  'tool.diff.Lines': 'before: string, after: string',
  'tool.diff.Unified': 'before: string, after: string, context: int = 3',
  'tool.error.New': 'code: any, message: string',
} as const satisfies Readonly<Record<string, string>>;

/** The name of a pure tool, as documents write it. */
export type PureToolName = keyof typeof PURE_TOOLS;

/** The ArgTypes that pure tools use. */
export type PureArgType = 'any' | 'string' | 'int' | 'float' | 'bool' | 'map' | 'slice_any' | 'slice_string' | 'slice_float';

/** One argument of a pure tool. */
export interface PureArg {
  readonly name: string;
  readonly type: PureArgType;
  readonly required: boolean;
  /** Null when there is none. */
  readonly default: string | number | boolean | null;
}

/** The arguments of a pure tool. */
export function pureArgs(name: PureToolName): readonly PureArg[] {
  const text: string = PURE_TOOLS[name];
  return text.split(', ').map((part) => {
    const [, arg = '', optional = '', type = '', fallback] = ARGUMENT.exec(part) ?? [];
    // The table is ours, and `test/wire` reads all of it.
    const value: PureArg['default'] = fallback === undefined ? null : JSON.parse(fallback);
    return { name: arg, type: type as PureArgType, required: optional === '' && value === null, default: value };
  });
}

const ARGUMENT = /^([a-z_0-9]+)(\??): ([a-z_]+)(?: = (.+))?$/;
