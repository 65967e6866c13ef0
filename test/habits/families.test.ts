import { describe, expect, it } from 'vitest';
import { parse } from '../../grammar/index.ts';
import { runInPage } from '../../src/browser/engine.ts';
import { fixed } from './harness.ts';

/** Slips of writers of other languages by family, and what the first proposed fixes make of them. `⏎` separates lines. */
const SLIPS: readonly (readonly [family: string, program: string, ...prints: readonly string[]])[] = [
  ['a generator as an argument', 'xs = [{"n": 3}, {"n": 4}]⏎print(sum(x["n"] for x in xs))', '7'],
  ['a generator that is joined', 'xs = [1, 2]⏎s = ", ".join(str(x) for x in xs)⏎print(s)', '1, 2'],
  ['a search for any item', 'xs = [1, 3]⏎if any(x > 2 for x in xs):⏎  print("yes")', 'yes'],
  ['a search for all items', 'xs = [1, 3]⏎if all(x > 2 for x in xs):⏎  print("yes")⏎print("end")', 'end'],
  ['a search for the item', 'const xs = [{id: 1}, {id: 2}];⏎const x = xs.find(x => x.id === 2);⏎console.log(x.id);', '2'],
  ['an assignment within a condition', 'xs = [1, 2]⏎if (n := len(xs)) > 1:⏎  print(n)', '2'],
  ['a `finally`', 'try:⏎  print("a")⏎finally:⏎  print("b")', 'a', 'b'],
  ['an `else` of a `try`', 'try:⏎  n = 1⏎except ValueError as e:⏎  print(e)⏎else:⏎  print(n)', '1'],
  ['`begin` and `rescue`', 'begin⏎  raise "bad"⏎rescue => e⏎  puts e.message⏎end', 'bad'],
  [
    'cases that share statements',
    'switch ("b") {⏎case "a":⏎case "b":⏎  console.log(1);⏎  break;⏎default:⏎  console.log(2);⏎}',
    '1',
  ],
  ['cases in one line', 'x = 2⏎case x⏎when 1 then puts "one"⏎when 2, 3 then puts "more"⏎else puts "none"⏎end', 'more'],
  [
    'arms of a match',
    'let x = 3;⏎match x {⏎  1 => println!("one"),⏎  2 | 3 => println!("more"),⏎  _ => println!("none"),⏎}',
    'more',
  ],
  ['cases without a subject', 'n := 3⏎switch {⏎case n == 3:⏎  fmt.Println("three")⏎default:⏎  fmt.Println("other")⏎}', 'three'],
  ['a loop of three parts without brackets', 'for i := 0; i < 2; i++ {⏎  fmt.Println(i)⏎}', '0', '1'],
  [
    'braces in lines of their own',
    'var xs = new List<string> { "a", "b" };⏎foreach (var x in xs)⏎{⏎  Console.WriteLine($"is {x}");⏎}',
    'is a',
    'is b',
  ],
  ['a test that sets a name', 'let name: String? = "Ada"⏎if let n = name {⏎  print("is \\(n)")⏎}', 'is Ada'],
  ['items spread in a list', 'const a = [1];⏎const b = [...a, 2];⏎console.log(b.length);', '2'],
  ['the first item by a pattern', 'const [first] = ["a", "b"];⏎console.log(first);', 'a'],
  ['tables of Lua', 'local xs = {"a", "b"}⏎local t = { n = 2 }⏎print(#xs + t.n)', '4'],
  ['symbols of Ruby', 'h = { name: "Ada" }⏎puts h[:name]', 'Ada'],
  ['joined texts of PHP', '$n = "Ada";⏎echo "Hello " . $n . "!";', 'Hello Ada!'],
  ['entries without commas', 'set m = {⏎  "a": 1⏎  "b": 2⏎}⏎emit m.b', '2'],
  ['a `contains` between values', 'set xs = ["a"]⏎if xs contains "a"⏎  emit "yes"⏎endif', 'yes'],
  ['a name for the error', 'on error e do⏎  emit "is " + e.message⏎  clear_error⏎endon⏎fail "bad"', 'is bad'],
  ['keywords with capitals', 'For i = 1 To 2⏎  Print i⏎Next i', '1', '2'],
  ['a test for emptiness', 'set xs = []⏎if xs is empty⏎  emit "none"⏎endif⏎if xs is not empty⏎  emit "some"⏎endif', 'none'],
  ['a block in one line', 'if 2 > 1 then emit "yes" end', 'yes'],
  ['the rest of a list', 'a, *more = [1, 2, 3]⏎print(len(more))', '2'],
  ['a pattern in `set`', 'set [a, b] = [1, 2]⏎emit b', '2'],
  ['arguments with names', 'for each i in tool.list.Range(start: 0, end: 2)⏎  emit i⏎endfor', '0', '1'],
  ['a call without brackets', 'set xs = [2, 1]⏎set s = tool.list.Sort xs⏎emit s⏎emit len xs', '[1, 2]', '2'],
  ['a tool without its first word', 'emit str.ToUpper("a")⏎emit tools.str.ToUpper("b")', 'A', 'B'],
  ['a map in square brackets', 'set a = ["x": 1]⏎set b = ["y" => 2]⏎emit a.x + b.y', '3'],
  ['an item that is appended by empty brackets', 'set xs = []⏎set xs[] = 3⏎emit xs', '[3]'],
  ['a variable with the name of a keyword', 'set last = 1⏎for each event in [2]⏎  emit event + last⏎endfor', '3'],
  ['a choice within a value', 'set n = 2⏎emit "it is " + (n % 2 == 0 ? "even" : "odd")', 'it is even'],
  ['an element that may be missing', 'const m = {};⏎if (m.a?.b === "x") emit 1⏎const c = m.a?.b ?? "none";⏎emit c', 'none'],
  ['what a test says when it fails', 'on error do⏎  emit system_error.message⏎  clear_error⏎endon⏎must 1 == 2, "why"', 'why'],
  ['a failure with a code', 'on error do⏎  emit system_error.message⏎  clear_error⏎endon⏎fail("why", 3)', 'why'],
  ['a statement behind its test', 'for each n in [1, 2]⏎  if n == 1 continue⏎  emit n⏎endfor', '2'],
  ['`next` within a test', 'for each n in [1, 2]⏎  if n == 1⏎    next⏎  endif⏎  emit n⏎endfor', '2'],
  ['ends in the wrong order', 'for each n in [1]⏎  if n == 1⏎    emit n⏎endfor⏎endif⏎emit 2', '1', '2'],
  ['a value that goes on in the next line', 'set a = 1 +⏎  2⏎if a == 3⏎    and a > 2⏎  emit a⏎endif', '3'],
  ['a backslash that begins no escape', 'emit tool.regex.FindAll("\\d", "a1")', '["1"]'],
  ['a value that a block returns', 'set n = 1⏎return n', '1'],
  ['a comparison of three values', 'set n = 5⏎if 1 < n < 9⏎  emit n⏎endif', '5'],
  ['values behind a text with `%`', 'set n = 2⏎emit "%d of %s" % (n, "x")', '2 of x'],
  ['a default by `or`', 'set m = {}⏎set n = m.n or 10⏎emit n + 1', '11'],
  ['names in quotes', 'set n = 1⏎emit "n is {{n}}"', 'n is 1'],
  ['a `try` of several statements', 'try:⏎  fail "no"⏎  emit "never"⏎except:⏎  emit "caught"⏎emit "end"', 'caught', 'end'],
  ['a text in one of a list', 'for each s in ["ab", "c"]⏎  if "b" in s⏎    emit s⏎  endif⏎endfor', 'ab'],
  ['a guard', 'set t = ""⏎guard t != "" else {⏎  emit "none"⏎  return⏎}⏎emit t', 'none'],
  ['a loop without an end, as its body is indented', 'set n = 0⏎for each x in [1, 2]⏎  set n = x⏎⏎emit n', '2'],
  ['a quote that is missing before what is added', 'set who = "Ada"⏎emit "Hello, + who', 'Hello, Ada'],
  ['an end that is missing within a plus', 'emit "salt + pepper', 'salt + pepper'],
  ['a key with the name of a length', 'set fs = [{"size": 7}]⏎for each f of fs⏎  emit f.size⏎endfor', '7'],
  ['a tool with the name of a method', 'emit tool.str.StartsWith("ab", "a")', 'true'],
  ['half-open ranges', 'for i in 0..<2 {⏎  emit i⏎}', '0', '1'],
];

describe('issue 50: several values of an emit', () => {
  it.each(['emit("n", 1)', 'emit "n", 1', 'emit ("n", 1)'])('are joined by a blank, as by a print: %s', (statement) => {
    const text = `command\n${statement}\nendcommand\n`;
    const parsed = parse(text, { name: '' });
    expect(parsed.ok || parsed.errors.map(({ message, hint }) => [message, hint])).toEqual([
      ['`emit` takes one value', 'write `emit a + " " + b`; for a list, `emit [a, b]`'],
    ]);
    expect(fixed(text)).toBe('command\nemit "n" + " " + 1\nendcommand\n');
  });

  it('are not seen where the brackets belong to the value', () => {
    expect(fixed('command\nx = 1\nemit (x) + (x)\nendcommand\n')).toBe('command\nset x = 1\nemit (x) + (x)\nendcommand\n');
  });
});

describe('issue 43: the fixes of a family of slips', () => {
  it.each(SLIPS)('mend %s', (_, written, ...prints) => {
    const { emits, error } = runInPage(fixed(`command\n${written.replaceAll('⏎', '\n')}\nendcommand\n`), { lines: [] });
    expect({ emits: emits.map(String), error }).toEqual({ emits: prints, error: null });
  });
});
