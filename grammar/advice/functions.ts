/** Advice on functions of other languages: what to write in NeuroScript. */
const counting = 'count in a loop: `set i = 0`, `while i < n`, …, `set i = i + 1`, `endwhile`';
const loopOrTool = 'use a loop, or call a tool';
const textTool = 'call a tool for text, such as `tool.str.ToUpper(x)`';

const table: readonly (readonly [names: string, hint: string])[] = [
  ['range xrange seq', counting],
  ['str string tostring', "to make text from a value, write `'' + x`"],
  ['int float number num parseint parsefloat tonumber toint', 'text that spells a number counts as that number: write `x + 0`'],
  ['bool boolean', 'any value can be a condition; to get true or false, write `some x`'],
  ['list array tuple set dict map object hash', 'an empty list is `[]`, an empty map is `{}`'],
  ['print println printf echo puts say write', 'write `emit x`'],
  ['length size count strlen', 'write `len(x)`'],
  ['append push add insert', 'to append an item, write `set l[len(l)] = item`'],
  ['keys values items entries', 'write `for each key, value in m` … `endfor`'],
  ['has contains includes haskey has_key exists', 'a missing key reads as nil: write `not is_nil(m[key])`'],
  ['isinstance type gettype', "write `typeof x == 'string'`, or `is_string(x)`"],
  ['isnull is_null isnil isnone is_none isundefined defined isset', 'write `is_nil(x)`'],
  ['empty is_empty isempty', 'write `no x`'],
  ['enumerate zip', 'write `for each i, item in list` … `endfor`'],
  ['sqrt', 'write `x ** 0.5`'],
  ['pow', 'write `x ** y`'],
  ['sum min max avg sorted sort reversed reverse filter reduce any all find slice unique', loopOrTool],
  ['abs round floor ceil ceiling trunc', loopOrTool],
  ['upper lower uppercase lowercase split join replace trim strip substring substr startswith endswith format', textTool],
  ['input readline prompt', "write `promptuser 'question' into x`"],
  ['raise throw error', "write `fail 'message'`"],
  ['assert', 'write `must condition`'],
  ['now time today date', 'a tool gives the time: `tool.time.Now()`'],
  ['random rand randint uuid', 'random values come from a tool of the host'],
  ['json parse stringify dumps loads', 'call a tool that reads and writes JSON'],
];

/** Made at its first use, which few programs come to: every isolate would make it otherwise. */
let byName: ReadonlyMap<string, string> | undefined;

/** What to write instead of calling a function of another language; undefined for any other name. */
export function foreignFunction(name: string): string | undefined {
  byName ??= new Map(table.flatMap(([names, hint]) => names.split(' ').map((each): [string, string] => [each, hint])));
  return byName.get(name.toLowerCase());
}

const items =
  'no tool takes a function: go over the items in a loop: `set out = []`, `for each x in list`, `set out[len(out)] = …`, `endfor`';

/** What to write instead of a tool that other libraries have, by group and local names. */
const tools: readonly (readonly [group: string, names: string, hint: string])[] = [
  ['tool.list', 'map filter reduce foreach any all find findindex some every pluck', items],
  ['tool.list', 'concat extend addall combine', 'write `a + b`'],
  ['tool.str', 'format sprintf', 'fill values in: three backticks, `{{x}}`; `tool.math.Round(x, 2)` rounds'],
  ['tool.time', 'format', 'a time is text such as 2025-10-15T08:00:00Z: cut it with `tool.str.Substring("" + t, 0, 10)`'],
];

/** What to write instead of a tool that other libraries have; undefined for any other name. */
export function foreignTool(group: string, local: string): string | undefined {
  return tools.find(([of, names]) => of === group && names.split(' ').includes(local))?.[2];
}
