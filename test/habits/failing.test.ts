import { describe, expect, it } from 'vitest';
import { HELD_OUT, habitsOf, KNOWN, UNSEEN } from '../../conformance/habits/corpus.ts';
import { parse } from '../../grammar/index.ts';
import { withEdits } from '../../grammar/repair/apply.ts';
import { runInPage } from '../../src/browser/engine.ts';
import { misspeltIn, strictlyIn } from '../../src/runtime/admission.ts';
import { calleesOf } from '../../src/worker/callees.ts';
import { checkSources } from '../../src/worker/check.ts';
import { SLOW } from '../groups.ts';
import { CORPUS, wholeCheck } from '../lsp/corpus.ts';
import { ENVIRONMENT } from './harness.ts';

const ITEMS = 'set xs = [1, 2, 3]⏎';
const ORDERS = 'set orders = [{"price": 3, "qty": 2}]⏎for each o in orders⏎';

/** Programs that compile and fail while they run, and what they print with the corrections of the failure. `⏎` separates lines. */
const FAILING: readonly (readonly [slip: string, program: string, ...prints: readonly string[]])[] = [
  ['the length of a list, everywhere', `${ITEMS}if xs.length == 3⏎  emit xs.length⏎endif`, '3'],
  ['the size of a text', 'set s = "abc"⏎emit s.size', '3'],
  ['the length of an inner list', 'set m = {"xs": [1, 2]}⏎emit m.xs.length', '2'],
  ['the length of a map', 'set m = {"a": 1}⏎emit m.length + 1', '2'],
  ['the first item', `${ITEMS}emit xs.first`, '1'],
  ['a method without brackets', 'set s = "ab"⏎emit s.upper', 'AB'],
  ['a negative index', `${ITEMS}emit xs[-1]`, '3'],
  ['a negative index that is set', `${ITEMS}set xs[-1] = 5⏎emit xs[2]`, '5'],
  ['the index behind the last', `${ITEMS}emit xs[len(xs)]`, '3'],
  ['a loop that goes one too far', `${ITEMS}set i = 0⏎while i <= len(xs)⏎  emit xs[i]⏎  set i = i + 1⏎endwhile`, '1', '2', '3'],
  ['indices from 1', `${ITEMS}set i = 1⏎while i <= len(xs)⏎  emit xs[i]⏎  set i = i + 1⏎endwhile`, '1', '2', '3'],
  ['a range that goes one too far', `${ITEMS}for each i in tool.list.Range(0, len(xs) + 1)⏎  emit xs[i]⏎endfor`, '1', '2', '3'],
  ['a range from 1', `${ITEMS}for each i in tool.list.Range(1, len(xs) + 1)⏎  emit xs[i]⏎endfor`, '1', '2', '3'],
  ['half an index', `${ITEMS}emit xs[len(xs) / 2]`, '2'],
  ['half an argument', 'emit tool.str.Repeat("a", 5 / 2)', 'aa'],
  ['an item as an index', 'set xs = ["a", "b"]⏎for each i in xs⏎  emit xs[i]⏎endfor', 'a', 'b'],
  ['an item as a key', 'set m = {"a": 1}⏎for each k in m⏎  emit m[k] + 1⏎endfor', '2'],
  ['a number of passes', 'set n = 2⏎for each i in n⏎  emit i⏎endfor', '0', '1'],
  ['a misspelt variable, everywhere', 'set total = 3⏎emit totl + 1⏎emit totl * 2', '4', '6'],
  ['a misspelt argument', 'set name = "Ada"⏎emit tool.str.ToUpper(nam)', 'ADA'],
  ['a misspelt key, everywhere', 'set m = {"user": {"n": 1, "k": 2}}⏎emit m.usr.n⏎emit m["usr"].k⏎emit m.usr.k', '1', '2', '2'],
  ['a misspelt key of items', `${ORDERS}  emit o.prcie * o.qty⏎endfor`, '6'],
  ['a key with another letter case', 'set m = {"name": {"n": "A"}}⏎emit m.Name.n', 'A'],
  ['bare keys', 'set m = {name: "Ada", tags: ["x"]}⏎emit m.tags[0]', 'x'],
  ['a default by `or`', 'set o = {}⏎set limit = o.limit or 10⏎emit limit + 1', '11'],
  ['a sum that begins with nothing', 'for each n in [1, 2]⏎  set total = total + n⏎endfor⏎emit total', '3'],
  ['a list that begins with nothing', 'for each n in [1, 2]⏎  set out = out + [n]⏎endfor⏎emit len(out)', '2'],
  ['a count in a map', 'set m = {}⏎for each w in ["a", "a"]⏎  set m[w] = m[w] + 1⏎endfor⏎emit m.a', '2'],
  ['lists in a map', 'set m = {}⏎for each w in ["a"]⏎  set m.all = m.all + [w]⏎endfor⏎emit len(m.all)', '1'],
  ['an item that is added', `${ITEMS}set xs = xs + 4⏎emit len(xs)`, '4'],
  ['keys of an empty list', 'set person = []⏎set person.name = "Ada"⏎emit person.name', 'Ada'],
  ['a list that a call does not change', 'set xs = []⏎call tool.list.Append(xs, 4)⏎emit xs[0] + 1', '5'],
  ['JSON in a text', 'set data = ```{"n": 1}```⏎emit data.n + 1', '2'],
  ['a list of JSON in a text', `set data = '[{"n": 1}]'⏎emit data[0].n`, '1'],
  ['JSON in an item', `for each row in ['{"n": 1}']⏎  emit row.n⏎endfor`, '1'],
  ['JSON that a call gives', 'set r = tool.json.Stringify({"a": 1})⏎emit r.a', '1'],
  ['texts joined by `&`', 'set a = "x"⏎emit a & " " & a', 'x x'],
  ['a power by `^`', 'emit 4 ^ 0.5', '2'],
  ['an error as a second value', 'set n, err = tool.str.ToNumber("5")⏎if err != nil⏎  fail err⏎endif⏎emit n + 1', '6'],
  ['a number for a text', 'emit tool.str.PadLeft(5, 3, "0")', '005'],
  ['arguments in the other order', 'set xs = ["a"]⏎emit tool.list.Contains("a", xs)⏎emit tool.str.Join("-", xs)', 'true', 'a'],
  ['arguments of which each fits only the other place', 'set n = 2⏎emit tool.str.Repeat(n, "#")', '##'],
  ['a number for a key', 'emit tool.map.Get({"1": "a"}, 1)', 'a'],
  ['a key that is a letter case away, of what a tool gives', `set row = tool.json.Parse('{"Price": 3}')⏎emit 0 + row.price`, '3'],
  [
    'a key that is spelt otherwise, in a variable',
    'set t = {"made_at": "a-b"}⏎set d = t.madeAt⏎emit tool.str.Split(d, "-")[1]',
    'b',
  ],
  ['the size of a map that grows', 'set m = {}⏎set m["a"] = 1⏎set n = m.size⏎if n > 0⏎  emit n⏎endif', '1'],
  ['the keys of a map', 'set m = {"a": 1}⏎set ks = m.keys⏎emit tool.str.Join(ks, "")', 'a'],
  ['fields of an entry', 'set es = tool.map.Entries({"a": 2})⏎for each e in es⏎  emit e.key⏎  emit e.value + 1⏎endfor', 'a', '3'],
  ['types of other languages in a shape', 'emit tool.shape.Validate({"n": "a"}, {"n": "text"})', 'true'],
  ['a range from 1 to a number', `${ITEMS}for each i in tool.list.Range(1, 4)⏎  emit xs[i]⏎endfor`, '1', '2', '3'],
  ['maps that are added', 'set m = {"a": 1} + {"b": 2}⏎emit m.b', '2'],
  ['a tool for texts that gets a list', 'set xs = ["a"]⏎emit tool.str.Contains(xs, "a")', 'true'],
  ['the order of a list as a word', 'set xs = tool.list.SortBy([{"n": 1}, {"n": 2}], "n", "desc")⏎emit xs[0].n', '2'],
  ['the order of a list as another word', 'set xs = tool.list.SortBy([{"n": 2}, {"n": 1}], "n", "asc")⏎emit xs[0].n', '1'],
  ['the order of a list as a minus', 'set xs = tool.list.SortBy([{"n": 1}, {"n": 2}], "-n")⏎emit xs[0].n', '2'],
  [
    'several numbers for texts',
    'set a = 5⏎set b = 7⏎emit tool.str.PadLeft(a, 2, "0") + ":" + tool.str.PadLeft(b % 6, 2, "0")',
    '05:01',
  ],
  ['length and padding in the other order', 'set n = 3⏎emit tool.str.PadLeft(n, "0", 2)', '03'],
  ['a number as padding', 'emit tool.str.PadLeft("7", 3, 0)', '007'],
  [
    'a slice of a text',
    'set s = "abcdef"⏎emit tool.list.Slice(s, len(s) - 4, len(s))⏎emit tool.list.Slice(s, 1, 3)',
    'cdef',
    'bc',
  ],
  [
    'groups of all matches',
    `for each m in tool.regex.FindAll('(a)(b)', "ab ab")⏎  emit m.groups[0] + m.groups[1]⏎endfor`,
    'ab',
    'ab',
  ],
  ['groups by name', `set m = tool.regex.Find('(?P<k>a)(?P<v>b)', "ab")⏎emit m.groups.v + m.groups.k`, 'ba'],
  [
    'entries that are sorted as if they were maps',
    'set es = tool.list.SortBy(tool.map.Entries({"a": 2, "b": 1}), "value")⏎for each e in es⏎  emit e.key + " " + e.value⏎endfor',
    'b 1',
    'a 2',
  ],
  ['a character that is set', 'set s = "ada"⏎set s[0] = tool.str.ToUpper(s[0])⏎emit s⏎set s[2] = "A"⏎emit s', 'Ada', 'AdA'],
  ['a key of a map that may be missing', 'set c = {"a": 1}⏎set t = c.http.timeout⏎if t == nil⏎  set t = 30⏎endif⏎emit t', '30'],
];

/** Programs whose failure has no evident correction. */
const UNCLEAR: readonly (readonly [why: string, program: string])[] = [
  ['what is nil may be meant so', 'set u = nil⏎emit u.name'],
  [
    'a key of what a tool gives is unknown',
    `set m = tool.json.Parse('{"a": 1}')⏎call tool.map.Get({"item": 1}, "a")⏎emit m.items[0]`,
  ],
  ['an entry of a list of lists', 'set es = [[1, 2]]⏎for each e in es⏎  emit e.key⏎endfor'],
  ['a range ends elsewhere', `${ITEMS}for each i in tool.list.Range(1, 9)⏎  emit xs[i]⏎endfor`],
  ['both of two arguments need a fix', 'emit tool.str.Repeat(nil, "#")'],
  ['a literal index may be another one', 'set xs = [5]⏎emit xs[1]'],
  ['a variable had a value', 'set n = nil⏎set n = n + 1'],
  ['text is no number', 'set n = "abc"⏎if n > 3⏎  emit "big"⏎endif'],
  ['a text has no field', 'set s = "abc"⏎emit s.name'],
  ['comparisons bind tighter than `&`', 'set a = "x"⏎emit a & "y" == "xy"'],
  ['the program fails by its own will', 'set x = 1⏎must x > 2'],
  ['an unset variable that plays no part', 'set total = 1⏎emit is_nil(totl)⏎emit 1 / 0'],
];

const TOOLS = (ENVIRONMENT.tools ?? []).map(({ name }) => ({ name, least: 0, most: 255, pure: true as const }));

/** Runs a program, and with all corrections of its failure until nothing more is corrected, as an agent is told them. */
function corrected(written: string): {
  readonly emits: readonly string[];
  readonly failed: string | undefined;
  readonly edits: number;
} {
  let [text, edits] = [`command\n${written.replaceAll('⏎', '\n')}\nendcommand\n`, 0];
  for (let attempt = 1; ; attempt++) {
    const { emits, error } = runInPage(text, { lines: [] });
    const { line, column, code, message, hint } = error ?? {};
    if (line == null || column == null || code === undefined || message === undefined || attempt > 3)
      return { emits, failed: message, edits };
    const environment = { tools: TOOLS, failed: { code, line, column, message, hint } };
    const { findings } = checkSources([{ name: 'src', text }], 1_000_000, environment);
    // The first is the error itself.
    if (findings.length > 0) expect(findings[0]).toMatchObject({ code, line, column, message, fix: { message: hint ?? '' } });
    const all = findings.flatMap(({ fix }) => fix.edits);
    if (all.length === 0) return { emits, failed: message, edits };
    edits += all.length;
    text = withEdits(text, all);
  }
}

describe('issue 43: the corrections of a program that failed while it ran', () => {
  it.each(FAILING)('mend %s', (_, written, ...prints) => {
    const { emits, failed, edits } = corrected(written);
    expect({ emits, failed, isCorrected: edits > 0 }).toEqual({ emits: prints, failed: undefined, isCorrected: true });
  });

  it.each(UNCLEAR)('are none where %s', (_, written) => {
    expect(corrected(written)).toMatchObject({ failed: expect.any(String), edits: 0 });
  });

  it('call no tool that the program cannot have', () => {
    const failed = { code: 'NS7', line: 3, column: 15, message: 'for each i cannot iterate over number 2', hint: 'x' };
    const text = 'command\nset n = 2\nfor each i in n\n  emit i\nendfor\nendcommand\n';
    const fixOf = (tools: typeof TOOLS) => checkSources([{ name: 'src', text }], 1_000_000, { tools, failed }).findings;
    expect(fixOf(TOOLS)).toHaveLength(1);
    expect(fixOf([])).toEqual([]);
  });
});

describe('issue 43: a variable that may be misspelt is seen before the program runs', () => {
  it.each<[program: string, ...unset: string[]]>([
    ['set total = 1⏎emit totl', 'totl'],
    ['set m = {"a": 1}⏎if true⏎  emit ```{{n}}: {{x.y[z]}}```⏎endif', 'n', 'x', 'z'],
    ['for each k, v in xs⏎  emit v⏎endfor', 'xs'],
    ['set total = 1⏎emit total + unset'],
    ['for each _ in xs⏎  emit y⏎endfor'],
    ['set total = 1⏎emit eval(text)'],
    ['set m.total = 1⏎emit m⏎emit n'],
  ])('%s', (written, ...unset) => {
    const parsed = parse(`command\n${written.replaceAll('⏎', '\n')}\nendcommand\n`, { name: '' });
    const found = parsed.ok ? calleesOf(parsed.file.procedures, parsed.file.commands).unset : null;
    expect(found?.toSorted()).toEqual(unset);
  });

  it('and with other slips, which no right program has but one that shows what becomes of a slip', SLOW, () => {
    const right = [...KNOWN, HELD_OUT, UNSEEN].flatMap((file) => habitsOf(file).map(({ name, right: text }) => ({ name, text })));
    const suite = CORPUS.filter((text) => /^command$/m.test(text)).map((text, index) => ({ name: `program ${index}`, text }));
    const taken = [...right, ...suite].filter(({ text }) => {
      const { findings } = checkSources([{ name: 'src', text }], 1_000_000, { tools: TOOLS });
      return strictlyIn(findings).some(({ code }) => /LOGIC|KEY|UNSEEN/.test(code));
    });
    expect(taken.map(({ name }) => name)).toEqual(['python 89: tool call as a statement']);
  });

  it('and no program of the suite has one', SLOW, () => {
    const taken = CORPUS.filter((text) => misspeltIn(wholeCheck(text, ENVIRONMENT) ?? []).length > 0);
    expect(taken).toEqual([]);
    expect(misspeltIn(wholeCheck('command\n  set total = 1\n  emit totl\nendcommand\n') ?? [])).toHaveLength(1);
  });
});
