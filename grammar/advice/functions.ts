/** Functions that other languages have and programs call here, and what there is in their place. */
const counting = 'count in a loop: `set i = 0`, `while i < n`, …, `set i = i + 1`, `endwhile`';
const work = 'do it in a loop, or call a tool';
const textTool = 'call a tool that works on texts';

const table: readonly (readonly [names: string, hint: string])[] = [
  ['range xrange seq', counting],
  ['str string tostring', "a text is made by `'' + x`"],
  ['int float number num parseint parsefloat tonumber toint', 'a text of digits counts as a number: `x + 0`'],
  ['bool boolean', 'conditions take any value; a boolean is made by `some x`'],
  ['list array tuple set dict map object hash', 'an empty list is `[]`, an empty map `{}`'],
  ['print println printf puts echo say write', 'write `emit x`'],
  ['length size count strlen', 'write `len(x)`'],
  ['append push add insert', 'to append an item write `set l[len(l)] = item`'],
  ['keys values items entries', 'write `for each key, value in m` … `endfor`'],
  ['has contains includes haskey has_key exists', 'a missing key is nil: `not is_nil(m[key])`'],
  ['isinstance type gettype', "write `typeof x == 'string'`, or `is_string(x)`"],
  ['isnull is_null isnil isnone is_none isundefined defined isset', 'write `is_nil(x)`'],
  ['empty is_empty isempty', 'write `no x`'],
  ['enumerate zip', 'write `for each i, item in list` … `endfor`'],
  ['sqrt', 'write `x ** 0.5`'],
  ['pow', 'write `x ** y`'],
  ['sum min max avg sorted sort reversed reverse filter reduce any all find slice unique', work],
  ['abs round floor ceil ceiling trunc', work],
  ['upper lower uppercase lowercase split join replace trim strip substring substr startswith endswith format', textTool],
  ['input readline prompt', "write `promptuser 'question' into x`"],
  ['raise throw error', "write `fail 'message'`"],
  ['assert', 'write `must condition`'],
  ['now time today date', 'the time comes from a tool: `tool.time.Now()`'],
  ['random rand randint uuid', 'chance comes from a tool of the host'],
  ['json parse stringify dumps loads', 'call a tool that reads and writes JSON'],
];

const byName: ReadonlyMap<string, string> = new Map(
  table.flatMap(([names, hint]) => names.split(' ').map((name): [string, string] => [name, hint])),
);

/** What to write instead of a call of this name; undefined when no other language is known to have it. */
export function borrowed(name: string): string | undefined {
  return byName.get(name.toLowerCase());
}
