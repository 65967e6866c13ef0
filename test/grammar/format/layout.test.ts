import { describe, expect, it } from 'vitest';
import { format } from '../../../grammar/format/index.ts';
import { WIDTH } from '../../../grammar/format/layout.ts';

/** The canonical layout of a source that parses. */
function formatted(source: string): string {
  const result = format(source, { name: 'test.ns' });
  if (!result.ok) throw new Error(`${result.errors[0].message}\n${source}`);
  return result.text;
}

const lines = (...all: readonly string[]): string => all.map((line) => `${line}\n`).join('');
/** The canonical layout of statements in a command block, without the block. */
const body = (...all: readonly string[]): string =>
  formatted(lines('command', ...all, 'endcommand'))
    .split('\n')
    .slice(1, -2)
    .map((line) => line.replace(/^ {2}/, ''))
    .join('\n');

describe('lines', () => {
  it('are indented by the blocks around them', () => {
    const source =
      'func f(needs a) means\nif a\nfor each x in a\nwhile x\nemit x\nendwhile\nendfor\nelse\non error do\nclear_error\nendon\nfail\nendif\non event "e" do\nemit 1\nendon\nendfunc\n';
    expect(formatted(source)).toBe(
      lines(
        'func f(needs a) means',
        '  if a',
        '    for each x in a',
        '      while x',
        '        emit x',
        '      endwhile',
        '    endfor',
        '  else',
        '    on error do',
        '      clear_error',
        '    endon',
        '    fail',
        '  endif',
        '  on event "e" do',
        '    emit 1',
        '  endon',
        'endfunc',
      ),
    );
  });

  it('keep their groups: at most one empty line, none at the ends of a block, one between blocks', () => {
    const source =
      '\n\ncommand\n\n\nemit 1\n\n\n\nemit 2\nif 1\n\nemit 3\n\nelse\n\nemit 4\n\nendif\n\nendcommand\ncommand\nemit 5\nendcommand\n\n\n';
    const inner = ['  emit 1', '', '  emit 2', '  if 1', '    emit 3', '  else', '    emit 4', '  endif'];
    expect(formatted(source)).toBe(lines('command', ...inner, 'endcommand', '', 'command', '  emit 5', 'endcommand'));
  });

  it('begin a new line for every block, even if the source has two on one line', () => {
    const source = 'func f() means\nreturn\nendfunc func g() means\nreturn\nendfunc on event "e" do\nreturn\nendon\n';
    expect(
      formatted(source)
        .split('\n')
        .filter((line) => line === ''),
    ).toHaveLength(3);
  });

  it('an empty source has none', () => {
    expect(formatted('')).toBe('');
    expect(formatted('\n \n')).toBe('');
    expect(formatted('# a\n\n\n\n# b')).toBe('# a\n\n# b\n');
  });

  it('continued with a backslash are joined where they fit', () => {
    expect(body('emit 1 + \\', '     2 + \\  ', ' 3')).toBe('emit 1 + 2 + 3');
  });
});

describe('blanks', () => {
  it.each([
    ['set  a,b=[ 1,2 ]', 'set a, b = [1, 2]'],
    ['emit -  -a+-b--1', 'emit - -a + -b  --1'],
    ['emit ~ a&not   b', 'emit ~a & not b'],
    ['emit 2**-(1)', ''],
    ['emit 2 **3** 4', 'emit 2 ** 3 ** 4'],
    ['emit( 1 )', 'emit (1)'],
    ['call f ( a , b )', 'call f(a, b)'],
    ['call tool . str . Len( a )', 'call tool.str.Len(a)'],
    ['emit m . a [ 0 ] . if', 'emit m.a[0].if'],
    ['emit typeof ( x )+len ( y )', 'emit typeof(x) + len(y)'],
    ['emit {"a":1 , b : [ ]}', 'emit {"a": 1, b: []}'],
    ['emit { {1:2}:3 }', 'emit { {1: 2}: 3 }'],
    ['emit {{ x }}+{{@nl}}', 'emit {{x}} + {{@nl}}'],
    ['emit eval ( "a" )', 'emit eval("a")'],
    ['ask "m" ,"p"  with { } into r[ 0 ]', 'ask "m", "p" with {} into r[0]'],
    ['whisper  self ,1', 'whisper self, 1'],
    ['emit [1,[2,3,],]', 'emit [1, [2, 3]]'],
    ['emit 1<2==true', 'emit 1 < 2 == true'],
  ])('%s', (line, expected) => {
    if (expected === '') expect(format(`command\n${line}\nendcommand\n`, { name: 'x' }).ok).toBe(false);
    else expect(body(line)).toBe(expected);
  });

  it('P11: a blank separates two brackets that together would begin a text', () => {
    expect(formatted(':: strings: double-bracket\n\ncommand\nemit [ [1] ] + a[ [2] ] + [[text {{x}}]]\nendcommand\n')).toContain(
      'emit [ [1] ] + a[ [2] ] + [[text {{x}}]]',
    );
    expect(body('emit [ [1] ]')).toBe('emit [[1]]');
  });

  it('signatures and metadata', () => {
    const source =
      '::  title :  x  \n:: note\n:: path: C\\\\d # c\nfunc  f( needs a,b  optional c returns d )means\n::  doc:y\nreturn\nendfunc\n';
    expect(formatted(source)).toBe(
      lines(
        ':: title: x',
        ':: note',
        ':: path: C\\\\d # c',
        '',
        'func f(needs a, b optional c returns d) means',
        '  :: doc: y',
        '  return',
        'endfunc',
      ),
    );
  });
});

describe('literals', () => {
  it.each(['"a\\tb\\u00e9"', "'it\\'s'", "'''a\n   b'''", '```a {{  x+1 }}\n  {{@nl}}```', '1e3', '007', '2.50'])(
    '%s keeps its form',
    (text) => {
      expect(body(`emit ${text}`)).toBe(`emit ${text}`.replace(/\n {2}/g, '\n'));
    },
  );
});

describe('comments', () => {
  it('keep their text and place: above, behind, before the end of a block', () => {
    const source = '#a\ncommand #b\n#c\nemit 1 --d\n\n//e\nif 1\nemit 2\n#f\nendif   # g\nendcommand # h\n# i\n';
    expect(formatted(source)).toBe(
      lines(
        '#a',
        'command  #b',
        '  #c',
        '  emit 1  --d',
        '',
        '  //e',
        '  if 1',
        '    emit 2',
        '    #f',
        '  endif  # g',
        'endcommand  # h',
        '',
        '# i',
      ),
    );
  });

  it('inside brackets stay with the item that they follow or precede', () => {
    expect(body('emit [ # a', '1, # b', '# c', '2 # d', ', 3', '# e', ']')).toBe(
      ['emit [', '  # a', '  1,  # b', '  # c', '  2,  # d', '  3,', '  # e', ']'].join('\n'),
    );
    expect(body('emit (1 + # a', '2)')).toBe(['emit (', '  1 + 2  # a', ')'].join('\n'));
  });

  it('after a continued line move to its end', () => {
    expect(body('emit 1 + \\', '2 # a')).toBe('emit 1 + 2  # a');
  });
});

describe('long lines', () => {
  const word = (length: number): string => 'x'.repeat(length);

  it('are broken at the first column beyond the width', () => {
    const call = (length: number) => `call f(${word(length)}, 1)`;
    const fits = WIDTH - '  call f(, 1)'.length;
    expect(body(call(fits))).toBe(call(fits));
    expect(body(call(fits + 1))).toBe(['call f(', `  ${word(fits + 1)},`, '  1,', ')'].join('\n'));
  });

  it('have no comma after the last item if the language forbids it', () => {
    expect(
      body(`emit (${word(95)} + 1)`)
        .split('\n')
        .at(-2),
    ).toMatch(/[^,]$/);
    expect(
      body(`emit eval(${word(95)} + 1)`)
        .split('\n')
        .at(-2),
    ).toMatch(/[^,]$/);
    const head = formatted(`func f(needs ${word(60)} optional ${word(60)} returns c) means\nreturn\nendfunc\n`);
    expect(head.split('\n').slice(0, 5)).toEqual([
      'func f(',
      `  needs ${word(60)}`,
      `  optional ${word(60)}`,
      '  returns c',
      ') means',
    ]);
  });

  it('a list or map that is the last argument is broken in place of the arguments', () => {
    const map = `{"a": ${word(50)}, "b": ${word(50)}}`;
    expect(body(`call f(1, ${map})`)).toBe(['call f(1, {', `  "a": ${word(50)},`, `  "b": ${word(50)},`, '})'].join('\n'));
  });

  it('without brackets are broken before their loosest operators', () => {
    const [a, b, c] = [word(40), `${word(40)} * 2`, word(40)];
    expect(body(`emit ${a} + ${b} + ${c}`)).toBe([`emit ${a} \\`, `    + ${b} \\`, `    + ${c}`].join('\n'));
    expect(body(`if ${a} and ${b} or ${c}`, 'emit 1', 'endif').split('\n').slice(0, 2)).toEqual([
      `if ${a} and ${b} \\`,
      `    or ${c}`,
    ]);
    expect(body(`emit (${a} + ${b} + ${c})`)).toBe(['emit (', `  ${a}`, `    + ${b}`, `    + ${c}`, ')'].join('\n'));
  });

  it('a list or map that spans lines in the source still spans lines; others are joined', () => {
    expect(body('set m = {', '"a": 1}')).toBe(['set m = {', '  "a": 1,', '}'].join('\n'));
    expect(body('set m = {"a": 1,', '"b": 2}')).toBe('set m = {"a": 1, "b": 2}');
    expect(body('call f(', 'a,', 'b)')).toBe('call f(a, b)');
  });
});

describe('a source that cannot be formatted', () => {
  it('has syntax errors, or a result beyond the size limit', () => {
    const broken = format('command\nemit\nendcommand\n', { name: 'x' });
    expect(broken.ok ? [] : broken.errors.map(({ line }) => line)).toEqual([2]);
    const deep = `command\n${'if 1\n'.repeat(150)}${'emit 1\n'.repeat(200)}${'endif\n'.repeat(150)}endcommand\n`;
    expect(format(deep, { name: 'x', maxBytes: 10_000 })).toMatchObject({ ok: false, errors: [{ line: 1 }] });
    expect(format(deep, { name: 'x', maxBytes: 200_000 }).ok).toBe(true);
  });
});
