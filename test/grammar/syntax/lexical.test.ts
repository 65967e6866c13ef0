import { describe, expect, it } from 'vitest';
import { RESERVED } from '../../../grammar/vocabulary/keywords.ts';
import { bare, command, expression, file, places, problems, shape, statements } from '../help.ts';

describe('comments and lines (language.md 1.3, 1.4)', () => {
  it('1.3: #, -- and // begin a comment anywhere outside of a string', () => {
    expect(statements("emit 'x' # c", "emit 'y' -- c", "emit 'z' // c")).toHaveLength(3);
    expect(shape(expression('5--2'))).toBe('5');
    expect(shape(expression('6//2'))).toBe('6');
    expect(shape(expression("'a#b--c//d'"))).toBe('"a#b--c//d"');
    expect(shape(expression('x - -2'))).toBe('(x - (- 2))');
  });

  it('1.4: a backslash at the end of a line joins lines', () => {
    expect(shape(expression('"a" + \\\n "b"'))).toBe('("a" + "b")');
  });

  it('P21: white space after a continuation backslash is allowed', () => {
    expect(shape(expression("'x' \\ \t\n + 'y'"))).toBe('("x" + "y")');
  });

  it('1.4: a comment after the backslash is an error at the backslash', () => {
    expect(places(command('emit 1 + \\ # c', '2'))[0]).toBe('2:10');
  });

  it('1.3: a backslash at the end of a comment does not join lines', () => {
    expect(statements('emit 1 # \\', 'emit 2')).toHaveLength(2);
  });
});

describe('P21: newlines in brackets', () => {
  it('P21: are free in ( ) [ ] { } and {{ }}', () => {
    expect(shape(expression('(\n1 +\n\n2\n)'))).toBe('(1 + 2)');
    expect(shape(expression('[\n1, # one\n2\n]'))).toBe('[1 2]');
    expect(shape(expression('{\n"a"\n:\n1,\n"b": 2\n}'))).toBe('{"a":1 "b":2}');
    expect(shape(expression('f(\n1,\n2\n)'))).toBe('f(1 2)');
    expect(shape(expression('m[\n0\n]'))).toBe('m[0]');
    expect(shape(expression('{{\nx\n}\n}'))).toBe('text(x)');
    expect(file('func f(\nneeds a,\nb\n) means\nemit 1\nendfunc').procedures).toHaveLength(1);
  });

  it('P21: one trailing comma is allowed in lists, maps and arguments', () => {
    expect(shape(expression('[1,]'))).toBe('[1]');
    expect(shape(expression("{'a': 1,}"))).toBe('{"a":1}');
    expect(shape(expression('f(1,)'))).toBe('f(1)');
    expect(shape(expression('tool.a.b(1,\n)'))).toBe('tool.a.b(1)');
  });

  it.each(['[,]', '[1,,]', 'f(,)', '{,}', "{'a':1,,}"])('P21: a lone or doubled comma in %s is an error', (text) => {
    expect(problems(command(`emit ${text}`))).toHaveLength(1);
  });

  it('P21: an unclosed bracket is reported where it was opened', () => {
    expect(problems(command('set x = f(1,', '  [2, 3', 'emit 4'))).toMatchObject([
      { at: '2:10', message: '`(` is never closed' },
      { at: '3:3', message: '`[` is never closed' },
    ]);
    expect(problems(command('set x = (1 + [2)'))).toMatchObject([{ at: '2:14', message: '`[` is never closed' }]);
    expect(problems('command\nemit {\n"a": 1')[0]).toMatchObject({ at: '1:1' });
    expect(places('command\nemit {\n"a": 1')).toContain('2:6');
  });

  it('P21: the text after an unclosed bracket is still checked', () => {
    expect(places(command('set x = [1, 2', 'emit ]', 'set y = (', 'if a', 'emit 1', 'endif', 'emit !b'))).toEqual([
      '2:9',
      '3:6',
      '4:9',
      '8:6',
    ]);
  });

  it('P21: a closing bracket without an opening one is an error at that bracket', () => {
    expect(problems(command('emit 1)'))).toMatchObject([{ at: '2:7', message: '`)` closes nothing' }]);
  });
});

describe('names and numbers (language.md 1.5 to 1.7)', () => {
  it('1.5: keywords are lower case and case-sensitive', () => {
    expect(shape(expression('TRUE + NIL + Log'))).toBe('(TRUE + NIL + Log)');
    expect(problems(command('SET x = 1'))).toMatchObject([{ at: '2:1', hint: 'write `set`' }]);
  });

  const keywords =
    'acos and as asin ask atan break call clear clear_error command continue cos do each else emit endcommand endfor endfunc endif endon endwhile error eval event fail false for func fuzzy if in into last len ln log means must mustbe named needs nil no not on optional or promptuser return returns set sin some tan timedate tool true typeof while whisper with'.split(
      ' ',
    );

  it('1.5: there are 63 keywords, none of them a name', () => {
    expect(keywords).toHaveLength(63);
    for (const word of keywords) expect(places(command(`set ${word} = 1`)), word).toContain('2:5');
  });

  it.each(keywords)('P10: after a dot %s is an ordinary name', (word) => {
    expect(shape(expression(`m.${word}`))).toBe(`m.${word}`);
    expect(shape(expression(`tool.${word}.New()`))).toBe(word === 'tool' ? 'tool.new()' : `tool.${word}.new()`);
    expect(bare(statements(`set m.${word} = 1`))).toMatchObject([{ targets: [{ steps: [{ k: 'field', name: word }] }] }]);
  });

  it.each([
    ['null', 'nil'],
    ['NULL', 'nil'],
    ['None', 'nil'],
    ['undefined', 'nil'],
    ['True', 'true'],
    ['False', 'false'],
  ])('ruling 12: %s is no name; the hint says %s', (word, meant) => {
    expect(problems(command(`emit [${word}]`))).toMatchObject([{ at: '2:7', hint: `write \`${meant}\`` }]);
    expect(problems(command(`set ${word} = 1`))).toMatchObject([{ at: '2:5', hint: `write \`${meant}\`` }]);
    expect(shape(expression(`m.${word}['${word}']`))).toBe(`m.${word}["${word}"]`);
    expect(shape(expression(`{'${word}': ${word}_}`))).toBe(`{"${word}":${word}_}`);
  });

  it('1.6: names are ASCII letters, digits and _', () => {
    expect(shape(expression('_ + _a1 + A_'))).toBe('(_ + _a1 + A_)');
    expect(problems(command('emit é'))).toMatchObject([{ at: '2:6' }]);
  });

  it.each([
    ['007', 7],
    ['1e3', 1000],
    ['2.50', 2.5],
    ['1E+2', 100],
    ['1e-7', 1e-7],
    ['100000000000000000000000', 1e23],
    ['9007199254740993', 9007199254740992],
    ['1e-999', 0],
    ['1.7976931348623157e308', Number.MAX_VALUE],
  ])('1.7: %s is %d', (text, value) => {
    expect(expression(text)).toMatchObject({ k: 'num', v: value });
  });

  it.each(['1e400', '1_000', '0x10', '5km', '1e', '.5', '1.', '1.2.3', '1..2'])('1.7: %s is not a number', (text) => {
    expect(problems(command(`emit ${text}`))).toHaveLength(1);
  });

  it('1.2: no white space is needed between a number and a keyword', () => {
    expect(shape(expression('5and 3or 2'))).toBe('((5 and 3) or 2)');
  });
});

describe('P11: double brackets', () => {
  const header = ':: strings: double-bracket\n';

  it('P11: are a list in a list', () => {
    expect(shape(expression('[[1,2],[3]]'))).toBe('[[1 2] [3]]');
    expect(shape(expression('m[[1]]'))).toBe('m[[1]]');
    expect(shape(expression('[[5],6]'))).toBe('[[5] 6]');
  });

  it('P11: text in them is an error whose hint says to quote it', () => {
    for (const text of ['[[loop:continue]]', '[[a\nb]]', '[[v={{x}}]]', '[[<{{nope}}>]]', '[[open {{never]]']) {
      const [first, ...rest] = problems(command(`emit ${text}`));
      expect(first?.hint, text).toMatch(/quotes|never|missing/);
      expect(rest.length, text).toBeLessThan(2);
    }
    expect(problems(command('emit [[loop:continue]]'))[0]?.hint).toContain('quotes');
  });

  it('P11: with the header they open a template that ends at the first ]]', () => {
    const source = `${header}\n${command('emit [[a {{x}}\n b]]', 'emit [[1,2],[3]]')}`;
    const [first, second] = file(source).commands[0]?.body.stmts ?? [];
    expect(first?.k === 'emit' && shape(first.value)).toBe('<"a " x "\\n b">');
    expect(second?.k === 'emit' && shape(second.value)).toBe('"1,2],[3"');
  });

  it('P11: the header counts with or without a blank line below it, and as a parse option', () => {
    expect(problems(`# c\n:: a: b\n${header}command\nemit [[loop:done]]\nendcommand`)).toEqual([]);
    expect(problems(command('emit [[loop:done]]'), { doubleBracketStrings: true })).toEqual([]);
  });

  it('P11: lines elsewhere, other keys and other values do not count', () => {
    for (const source of [
      'command\n:: strings: double-bracket\nemit [[a]]\nendcommand',
      ':: Strings: double-bracket\ncommand\nemit [[a b]]\nendcommand',
      ':: strings: single\ncommand\nemit [[a b]]\nendcommand',
    ]) {
      const parsed = problems(source.replace('[[a]]', '[[a b]]'));
      expect(parsed).toHaveLength(1);
    }
  });

  it('P11: without a closing ]] the template is an error at its start', () => {
    expect(problems(`${header}${command('emit [[5],6]')}`)).toMatchObject([{ at: '3:6' }]);
  });
});

describe('metadata (language.md 1.11, P32)', () => {
  it('P32: header lines belong to the file, lines right after a block head to the block', () => {
    const parsed = file(':: name: lib # comment\n:: v: 1\nfunc f() means # c\n  :: doc: says -- hi\n  emit 1\nendfunc\n');
    expect(parsed.metadata).toEqual([
      ['name', 'lib'],
      ['v', '1'],
    ]);
    expect(parsed.procedures[0]?.metadata).toEqual([['doc', 'says']]);
    expect(file('command\n:: a: b\nemit 1\nendcommand').commands[0]?.metadata).toEqual([['a', 'b']]);
  });

  it('1.11: text is cut at # and --, split at the first colon, trimmed; // stays; the last value wins', () => {
    const parsed = file(':: u: http://x/y:z\n::\tk\n:: u :  w  \n:: K: x');
    expect(parsed.metadata).toEqual([
      ['u', 'w'],
      ['k', ''],
      ['K', 'x'],
    ]);
    expect(file(':: u: http://x/y:z').metadata).toEqual([['u', 'http://x/y:z']]);
  });

  it('1.11: a continuation keeps the backslash and the newline in the value', () => {
    expect(file(':: a: b \\\n c\n').metadata).toEqual([['a', 'b \\\n c']]);
  });

  it('1.11: an empty key and a missing blank are errors', () => {
    expect(places(':: : v')).toEqual(['1:1']);
    expect(places(':: # only a comment')).toEqual(['1:1']);
    expect(places('::key: v')).toEqual(['1:1']);
  });

  it('1.11: elsewhere metadata is an error', () => {
    expect(places('func a() means\nemit 1\nendfunc\n:: k: v\nfunc b() means\nemit 1\nendfunc')).toEqual(['4:1']);
    expect(places('command\n\n:: k: v\nemit 1\nendcommand')).toEqual(['3:1']);
    expect(places('command\n# c\n:: k: v\nemit 1\nendcommand')).toEqual(['3:1']);
    expect(places(command('emit 1', ':: k: v'))).toEqual(['3:1']);
    expect(places(command('emit x :: y'))).toEqual(['2:8']);
    expect(places("on event 'e' do\n:: k: v\nemit 1\nendon")).toEqual(['2:1']);
  });
});

it.each([...RESERVED])('the reserved word %s is not a name', (word) => {
  expect(places(command(`set ${word} = 1`))).toContain('2:5');
});
