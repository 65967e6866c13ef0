import { describe, expect, it } from 'vitest';
import { runInPage } from '../../src/browser/engine.ts';
import { fixed } from './harness.ts';

/** Programs of other languages, and what they print there. `⏎` separates lines. */
const PROGRAMS: readonly (readonly [why: string, program: string, ...prints: readonly string[]])[] = [
  ['a call keeps the brackets of its operands', 'a = 1⏎print(pow(a + 1, 3))', '8'],
  ['a conversion keeps them', 'a = 1⏎b = 2⏎print("sum " + str(a + b))', 'sum 3'],
  ['bounds of a slice keep them', 's = "abcdef"⏎i = 1⏎j = 4⏎print(s[i + 1:j])', 'cd'],
  ['an augmented operator keeps them', 'x = 2⏎x *= 1+2⏎print(x)', '6'],
  ['texts that spell numbers are joined', 'a = 1⏎b = 2⏎print(str(a) + str(b))', '12'],
  ['also by an augmented operator', 's = "1"⏎s += "2"⏎print(s)', '12'],
  ['also by print', 'print(1, 2)', '1 2'],
  ['also by the dots of Lua', 'local a = "1"⏎local s = a .. "2"⏎print(s)', '12'],
  ['a comprehension reads the list that it sets', 'xs = [1, 2]⏎xs = [x * 2 for x in xs]⏎print(len(xs))', '2'],
  ['a filter does', 'let xs = [1, 2];⏎xs = xs.filter(x => x > 1);⏎console.log(xs.length);', '1'],
  ['a comprehension has variables of its own', 'x = 5⏎ys = [x for x in [1, 2]]⏎print(x)', '5'],
  ['an assignment in a chain is none of a comparison', 'a = b = 0⏎print(a)', '0'],
  ['names share a list', 'a = [1]⏎b = a⏎b.append(2)⏎print(len(a))', '2'],
  ['an item of a loop is shared', 'rows = [[1]]⏎for row in rows:⏎  row.append(0)⏎print(len(rows[0]))', '2'],
  ['`or` gives a value', 'a = []⏎b = a or 5⏎print(b)', '5'],
  ['`and` gives a value', 'const u = { n: 1 };⏎const v = u && u.n;⏎console.log(v);', '1'],
  ['`not` of Python binds less than a comparison', 'a = 1⏎if not a == 2:⏎  print("other")', 'other'],
  ['operators of bits bind more in Python', 'x = 3⏎if x & 1 == 1:⏎  print("odd")', 'odd'],
  ['`replace` of JavaScript replaces once', 'const s = "aa".replace("a", "b");⏎console.log(s);', 'ba'],
  ['`sort` of JavaScript compares texts', 'const xs = [10, 9];⏎xs.sort();⏎console.log(xs[0]);', '10'],
  ['`reverse` of JavaScript changes its list', 'const xs = [1, 2];⏎const ys = xs.reverse();⏎console.log(xs[0]);', '2'],
  ['rounding is to even in Python', 'x = round(2.5)⏎print(x)', '2'],
  ['places behind the point stay', 'x = 2.5⏎print(f"{x:.2f}")', '2.50'],
  ['`toFixed` keeps them', 'const s = (2.5).toFixed(2);⏎console.log(s);', '2.50'],
  ['`int` cuts', 'x = int(7 / 2)⏎print(x)', '3'],
  ['the shell divides whole numbers', 'n=7⏎echo $((n / 2 * 2))', '6'],
  ['a format names places', 'print("{1} {0}".format("a", "b"))', 'b a'],
  ['doubled braces are braces', 'n = 1⏎print(f"{{n}} {n}")', '{n} 1'],
  ['single quotes have escapes', "print('a\\tb')", 'a\tb'],
  ['raw text has none', 'p = r"a\\d"⏎print(p)', 'a\\d'],
  ['a dollar in Python is a dollar', 'n = 3⏎print("cost $n")', 'cost $n'],
  ['an escaped dollar is one', 'n=3⏎echo "cost \\$n"', 'cost $n'],
  ['`in` of a JavaScript loop gives indexes', 'const xs = ["a"];⏎for (const i in xs) {⏎  console.log(i);⏎}', '0'],
  ['one name of a Go range is the index', 'xs := ["a"]⏎for i := range xs {⏎  fmt.Println(i)⏎}', '0'],
  ['a loop of Python over a map gives keys', 'm = tool.json.Parse("{\\"k\\": 1}")⏎for k in m:⏎  print(k)', 'k'],
  ['`each` of Ruby has the key first', 'm = {"k": 1}⏎m.each do |k, v|⏎  puts "#{k} #{v}"⏎end', 'k 1'],
  ['a key is a name in JavaScript', 'const a = "x";⏎const m = { a: 1 };⏎console.log(m["a"]);', '1'],
  ['a loop of three parts counts in its block', 'for (let i = 0; i < 3; i++) {⏎  console.log(i);⏎  i++;⏎}', '0', '2'],
  [
    'and looks at its bound',
    'const xs = [1, 2];⏎for (let i = 0; i < xs.length; i++) {⏎  xs.pop();⏎}⏎console.log(xs.length);',
    '1',
  ],
  ['a case without a break goes on', 'switch (1) {⏎case 1:⏎  console.log("a");⏎case 2:⏎  console.log("b");⏎}', 'a', 'b'],
  [
    '`continue` goes to the test of a loop',
    'let i = 0;⏎do {⏎  i++;⏎  if (i === 2) continue;⏎  console.log(i);⏎} while (i < 2);',
    '1',
  ],
  [
    '`in` of JavaScript asks for an index',
    'const xs = ["a"];⏎if ("a" in xs) { console.log("y"); } else { console.log("n"); }',
    'n',
  ],
  ['`isNaN` of a zero', 'const s = "0";⏎if (isNaN(s)) { console.log("y"); } else { console.log("n"); }', 'n'],
  ['`typeof` has other words', 'const x = {};⏎if (typeof x === "object") { console.log("y"); } else { console.log("n"); }', 'y'],
  ['`puts` writes lines', 'puts "a", "b"', 'a', 'b'],
  ['`echo` of PHP joins', 'echo "a", "b";', 'ab'],
  ['a range of Rust leaves its end out', 'for i in 0..2 {⏎  println!("{}", i);⏎}', '0', '1'],
  ['`Object.assign` changes its first argument', 'const m = {};⏎Object.assign(m, {"a": 1});⏎console.log(m["a"]);', '1'],
];

describe('safe fixes keep what a program does', () => {
  it.each(PROGRAMS)('%s', (_, written, ...prints) => {
    const text = `command\n${written.replaceAll('⏎', '\n')}\nendcommand\n`;
    const { ok, emits } = runInPage(fixed(text, true), { lines: [] });
    // What has no safe fix does not run.
    if (ok) expect(emits.map(String)).toEqual(prints);
  });

  it('and there are programs here that they mend', () => {
    const mended = PROGRAMS.filter(([, written]) => {
      return runInPage(fixed(`command\n${written.replaceAll('⏎', '\n')}\nendcommand\n`, true), { lines: [] }).ok;
    });
    expect(mended.length).toBeGreaterThan(15);
  });
});
