import { describe, expect, it } from 'vitest';
import { command, problems } from './help.ts';

/** Lines of a command block (⏎ separates them) as models write them, the place of the one error, and words of its text. */
const table: readonly (readonly [lines: string, at: string, words: string])[] = [
  ['let x = 1', '2:1', 'set x ='],
  ['var x = 1', '2:1', 'set x ='],
  ['x = 1', '2:1', 'set x ='],
  ['m.a = 1', '2:1', 'set'],
  ['m[0] = 1', '2:1', 'set'],
  ['x += 1', '2:1', 'set x = x +'],
  ['x++', '2:1', 'set x = x +'],
  ['set x += 1', '2:7', 'set x = x +'],
  ['set x := 1', '2:7', 'set x ='],
  ['set x == 1', '2:7', 'set x ='],
  ['print(1)', '2:1', 'emit'],
  ['print "a"', '2:1', 'emit'],
  ['console.log(1)', '2:1', 'emit'],
  ['f(1)', '2:1', 'call f('],
  ['tool.a.b(1)', '2:1', 'call tool.'],
  ['len(x)', '2:1', 'call len('],
  ['list.append(1)', '2:1', 'no methods'],
  ['call f', '2:7', 'f()'],
  ['if x⏎emit 1⏎else if y⏎emit 2⏎endif', '4:6', '`else`, on the next line `if …`'],
  ['if x⏎emit 1⏎else if y⏎emit 2⏎else⏎emit 3⏎endif⏎endif', '4:6', '`else`, on the next line'],
  ['if x⏎emit 1⏎elif y⏎emit 2⏎endif', '4:1', '`else`, on the next line'],
  ['if x⏎emit 1⏎elseif y⏎emit 2⏎else⏎emit 3⏎endif', '4:1', '`else`, on the next line'],
  ['if x then⏎emit 1⏎endif', '2:6', 'ends with its line'],
  ['if x:⏎emit 1⏎endif', '2:5', ':'],
  ['while x do⏎emit 1⏎endwhile', '2:9', 'ends with its line'],
  ['for x in y⏎emit x⏎endfor', '2:5', 'for each item in'],
  ['for i = 1 to 9⏎emit i⏎endfor', '2:5', 'for each item in'],
  ['foreach x in y⏎emit x⏎endfor', '2:1', 'for each item in'],
  ['emit !x', '2:6', 'not x'],
  ['if !x⏎emit 1⏎endif', '2:4', 'not x'],
  ['emit a && b', '2:8', 'write `and`'],
  ['emit a || b', '2:8', 'write `or`, which gives true or false; for a default write `if is_nil(x)`, `set x = …`, `endif`'],
  ['emit a === b', '2:8', '`==`'],
  ['emit a !== b', '2:8', '`!=`'],
  ['emit a <> b', '2:9', '`!=`'],
  ['emit a is b', '2:8', '`==`'],
  ['emit a in b', '2:8', 'not an operator'],
  ['emit a ? b : c', '2:8', '`if` … `else` … `endif`'],
  ['emit a if b else c', '2:8', 'if …'],
  ['if x = 1⏎emit 1⏎endif', '2:6', '`==`'],
  ['emit f(a = 1)', '2:10', 'no names'],
  ["emit {'a' = 1}", '2:11', "{'key': value}"],
  ['emit null', '2:6', '`nil`'],
  ['emit None', '2:6', '`nil`'],
  ['emit undefined', '2:6', '`nil`'],
  ['emit NULL', '2:6', '`nil`'],
  ['emit True', '2:6', '`true`'],
  ['emit False', '2:6', '`false`'],
  ['emit `text`', '2:6', '```…```'],
  ['emit """abc"""', '2:6', "'''…'''"],
  ['emit f"abc"', '2:7', '{{x}}'],
  ['emit “abc”', '2:6', '"…"'],
  ['emit $x', '2:6', 'bare name'],
  ['set x = 1; emit x', '2:10', 'line of its own'],
  ['emit 1;', '2:7', 'with its line'],
  ['emit a, b', '2:7', 'emit [a, b]'],
  ['if x {⏎emit 1⏎}', '2:6', '`endif`'],
  ['if x { emit 1 }', '2:6', '`endif`'],
  ['while x {⏎emit 1⏎}⏎emit 2', '2:9', '`endwhile`'],
  ['if x emit 1 endif', '2:6', 'line of its own'],
  ['if x emit 1 else emit 2 endif', '2:6', 'line of its own'],
  ['while x emit 1 endwhile', '2:9', 'line of its own'],
  ['mustbe x', '2:1', 'must condition'],
  ['emit timedate', '2:6', 'tool.time.Now()'],
  ['set x = must tool.json.Parse("{}")', '2:9', 'on the next line'],
  ['set now = timedate', '2:11', 'tool.time.Now()'],
  ['emit fuzzy', '2:6', 'reserved'],
  ['set log = 1', '2:5', 'another name'],
  ['emit .5', '2:6', '0.5'],
  ['emit 1.', '2:8', '1.0'],
  ['emit 0x10', '2:6', 'decimal'],
  ['emit 1_000', '2:6', 'underscores'],
  ['emit m.1', '2:8', '[1]'],
  ['emit 2 ** -1', '2:11', '2 ** ('],
  ['emit [[loop:done]]', '2:12', 'quotes'],
  ['SET x = 1', '2:1', 'write `set`'],
  ['Emit 1', '2:1', 'lower case'],
  ['throw "x"', '2:1', "fail 'message'"],
  ['raise "x"', '2:1', "fail 'message'"],
  ['assert x', '2:1', 'must condition'],
  ['import x', '2:1', 'no imports'],
  ['on error as e do⏎emit 1⏎endon', '2:10', 'system_error'],
  ['on error⏎emit 1⏎endon', '2:9', 'on error do'],
  ['while x⏎emit 1', '2:1', '`endwhile`'],
  ['if x⏎while y⏎emit 1⏎endif', '3:1', '`endwhile`'],
  ['if x⏎emit 1', '2:1', '`endif`'],
  ['for each x in y⏎emit 1', '2:1', '`endfor`'],
  ['on error do⏎emit 1', '2:1', '`endon`'],
  ['while x⏎emit 1⏎endfor⏎endwhile', '4:1', '`endwhile`'],
  ['emit 1⏎endif', '3:1', 'ends no open block'],
  ['emit 1⏎else⏎emit 2', '3:1', '`else`'],
  ['emit 1 +⏎2', '2:9', 'backslash'],
  ['set x', '2:6', 'set x ='],
  ['ask "m"', '2:8', 'ask model, prompt'],
  ['whisper x', '2:10', 'whisper handle, value'],
  ['emit', '2:5', 'emit value'],
  ['emit error.message', '2:6', 'system_error.message'],
  ['emit event.payload', '2:6', 'as e do'],
  ['set x = tool.list.Map(l, func(x) means)', '2:26', 'a procedure is not a value'],
  ['emit x[1:2]', '2:9', 'no slices'],
  ['emit x[:2]', '2:8', 'no slices'],
  ['emit x[1:]', '2:9', 'no slices'],
  ['emit [i * 2 for i in l]', '2:13', '`for each x in list`'],
  ['emit {k: v for k in m}', '2:12', 'no comprehensions'],
  ['emit f(x for x in l)', '2:10', 'no comprehensions'],
  ['emit x.len()', '2:11', '`len(x)`'],
  ['if x.size() > 1⏎emit 1⏎endif', '2:10', '`len(x)`'],
  ['set y = x.append(1)', '2:17', 'set x[len(x)] = item'],
  ['emit m.keys()', '2:12', 'for each key, value in m'],
  ['emit x.upper()', '2:13', 'no methods'],
  ['set a = 1, b = 2', '2:10', 'a `set` for each'],
  ['set a, b = 1, 2', '2:13', '[1, 2]'],
  ['set (a, b) = [1, 2]', '2:5', 'set a, b = [1, 2]'],
  ['set [a, b] = l', '2:5', 'set a, b = [1, 2]'],
  ['set "x" = 1', '2:5', 'no quotes'],
  ['set f = lambda x: x + 1', '2:16', 'func name(needs x) means'],
  ['set f = (x) => x + 1', '2:13', 'a procedure is not a value'],
  ['set f = func(x) means', '2:9', 'a procedure is not a value'],
  ['emit 1..3', '2:8', '`while i <= 3`'],
  ['for each i in 1..3⏎emit i⏎endfor', '2:17', 'no ranges'],
  ['for i in range(3)⏎emit i⏎endfor', '2:5', '`while i < n`'],
  ['for each i from 1 to 3⏎emit i⏎endfor', '2:12', '`while i < n`'],
  ['emit ++x', '2:6', 'set x = x + 1'],
  ['set x++', '2:6', 'set x = x + 1'],
  ['set x -= 1', '2:7', 'set x = x -'],
  ['emit +1', '2:6', 'leave it out'],
  ['/* c */', '2:1', '`#`'],
  ['emit 1 /* c */', '2:9', 'no block comments'],
  ["emit 'it's'", '2:11', 'or write the text in "…"'],
  ['set x = call f()', '2:9', '`set x = f()`'],
  ['set x = ask "m", "p"', '2:9', 'ask model, prompt into x'],
  ['set x = promptuser "q"', '2:9', 'into x'],
  ['call x = f()', '2:8', '`set x = f(…)`'],
  ['set x: number = 1', '2:6', 'no types'],
  ['set x as int = 1', '2:7', 'no types'],
  ['emit x as string', '2:8', 'no casts'],
  ['call f(path: "a")', '2:12', 'in the order of the parameters'],
  ['call f(path="a")', '2:12', 'no names'],
  ['emit "a" "b"', '2:10', 'join text with `+`'],
  ['emit a b', '2:8', 'join text with `+`'],
  ['emit "x" . "y"', '2:12', 'join text with `+`'],
  ['emit [1 2]', '2:9', 'by commas'],
  ['emit {a: 1 b: 2}', '2:12', 'by commas'],
  ['emit f(1 2)', '2:10', 'by commas'],
  ['emit a ?? b', '2:8', 'is_nil(x)'],
  ['emit a?.b', '2:7', 'is_nil(x)'],
  ['emit a->b', '2:8', '`x.key`'],
  ['ask "m", "p" -> x', '2:15', 'into x'],
  ['emit @x', '2:6', 'bare name'],
  ['emit a is not nil', '2:8', '`!=`'],
  ['emit a not in b', '2:8', '`not in`'],
  ['emit a AND b', '2:8', '`and`'],
  ['emit NOT a', '2:10', '`not`'],
  ['emit new Map()', '2:10', '`{}`'],
  ['emit await f()', '2:12', 'one after the other'],
  ['emit <<EOF', '2:6', "'''…'''"],
  ['fail 1, "x"', '2:7', "fail 'message'"],
  ['must x, "m"', '2:7', '`if not (…)`'],
  ['if x: emit 1⏎endif', '2:5', 'line of its own'],
  ['clear_event "x"', '2:1', 'clear event'],
  ['goto a', '2:1', 'while'],
  ['endswitch', '2:1', 'a block ends with'],
  ['while x⏎break 2⏎endwhile', '3:7', 'alone'],
];

describe('an error for foreign syntax shows the NeuroScript form', () => {
  it.each(table)('%s', (lines, at, words) => {
    const found = problems(command(...lines.split('⏎')));
    const [first] = found;
    expect(first?.at).toBe(at);
    expect(`${first?.message} | ${first?.hint}`).toContain(words);
    // Other lines of the foreign construct may be reported, but only those that are wrong themselves.
    expect(found.length).toBeLessThanOrEqual(lines.includes('+⏎2') ? 2 : 1);
  });

  it('top-level forms of other languages', () => {
    expect(problems('function f(x) {\n  return x\n}')[0]).toMatchObject({
      at: '1:1',
      hint: expect.stringContaining('func name(needs a, b) means'),
    });
    expect(problems('def f(x):\n  return x')).toMatchObject([{ at: '1:1', hint: expect.stringContaining('func name') }]);
    expect(problems('func f(a, b) means\nemit a\nendfunc')).toMatchObject([
      { at: '1:8', hint: expect.stringContaining('needs a, b') },
    ]);
    expect(problems('func f(needs a, optional b) means\nemit a\nendfunc')).toMatchObject([
      { at: '1:17', hint: expect.stringContaining('comma') },
    ]);
    expect(problems('func f(needs a)\nemit a\nendfunc')).toMatchObject([
      { at: '1:16', message: expect.stringContaining('`means`') },
    ]);
    expect(problems('func main() {\n  emit 1\n}')).toMatchObject([{ at: '1:13', hint: expect.stringContaining('`endfunc`') }]);
    expect(problems('let x = 1\nprint(x)')).toMatchObject([{ at: '1:1', hint: expect.stringContaining('`command`') }]);
    expect(problems('```neuroscript\ncommand\nemit 1\nendcommand\n```')).toMatchObject([
      { at: '1:1', hint: expect.stringContaining('fence') },
    ]);
  });
});

describe('recovery', () => {
  it('reports the errors of independent lines together, in textual order', () => {
    const found = problems(
      command(
        'let a = 1',
        'emit 1',
        'emit !a',
        'set = 2',
        'while a',
        '  emit "b\\q"',
        'endwhile',
        'break',
        'call f(1',
        'emit 2 ** -1',
      ),
    );
    expect(found.map((problem) => problem.at)).toEqual(['2:1', '4:6', '5:5', '7:10', '9:1', '10:7', '11:11']);
  });

  it('reports errors in several procedures', () => {
    expect(
      problems('func a() means\nemit\nendfunc\nfunc b() means\nlet x\nendfunc\nfunc c(x) means\nemit 1\nendfunc'),
    ).toMatchObject([{ at: '2:5' }, { at: '5:1' }, { at: '7:8' }]);
  });

  it('a wrong head of a block costs one error; its body is still checked', () => {
    expect(problems(command('if x = 1', 'emit !y', 'else', 'emit', 'endif')).map((problem) => problem.at)).toEqual([
      '2:6',
      '3:6',
      '5:5',
    ]);
    expect(problems(command('while', 'break', 'endwhile')).map((problem) => problem.at)).toEqual(['2:6']);
    expect(problems('func (x) means\nemit\nendfunc').map((problem) => problem.at)).toEqual(['1:6', '2:5']);
  });

  it('unclosed blocks are reported where they were opened, inner and outer', () => {
    expect(problems('func f() means\n  if x\n    emit 1\nfunc g() means\n  emit 1\nendfunc')).toMatchObject([
      { at: '1:1', message: 'this `func` block is never closed' },
      { at: '2:3', message: 'this `if` block is never closed' },
    ]);
    expect(problems('command\nemit 1')).toMatchObject([{ at: '1:1', hint: 'write `endcommand` before the end of the file' }]);
  });

  it('a procedure inside a block is one error', () => {
    expect(problems('command\nfunc f() means\nemit 1\nendfunc\nendcommand')).toMatchObject([{ at: '1:1' }]);
    expect(problems('func f() means\nfunc g() means\nemit 1\nendfunc\nendfunc')).toMatchObject([{ at: '1:1' }]);
    expect(problems('command\nif x\nfunc g() means\nemit 1\nendfunc\nendif\nendcommand')).toMatchObject([
      { at: '1:1' },
      { at: '2:1' },
    ]);
  });

  it('gives at most 100 errors', () => {
    expect(problems(command(...Array.from({ length: 500 }, () => 'let x = 1')))).toHaveLength(100);
    expect(problems('!x'.repeat(500))).toHaveLength(100);
  });
});
