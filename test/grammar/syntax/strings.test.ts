import { describe, expect, it } from 'vitest';
import { command, expression, places, problems, shape } from '../help.ts';

const value = (text: string): string => {
  const node = expression(text);
  if (node.k !== 'str') throw new Error(`${text} is a ${node.k}`);
  return node.v;
};

describe('string literals (language.md 1.8)', () => {
  it.each([
    [String.raw`"a\tb\x41\u00e9\101"`, 'a\tbAéA'],
    [String.raw`"\"\'\\\b\t\n\f\r\v\~${'\\`'}"`, '"\'\\\b\t\n\f\r\v~`'],
    [String.raw`"\77\377\0123"`, '?\u00ff\n3'],
    [String.raw`"\xe9\xFF"`, '\u00e9\u00ff'],
    [String.raw`"\ud83d\ude00"`, '😀'],
    [String.raw`"\uD83D\uDE00!"`, '😀!'],
  ])('P23: the value of %s', (text, expected) => {
    expect(value(text)).toBe(expected);
  });

  it('ruling 2: backslash-newline inside "…" joins the lines', () => {
    expect(value('"one \\\ntwo"')).toBe('one two');
  });

  it.each([
    [String.raw`"a\q"`, '2:8'],
    [String.raw`"\7"`, '2:7'],
    [String.raw`"\8"`, '2:7'],
    [String.raw`"\u12"`, '2:7'],
    [String.raw`"\U0001F600"`, '2:7'],
    [String.raw`"\x4"`, '2:7'],
    [String.raw`"ab\ud83d"`, '2:9'],
    [String.raw`"\ud83d\u0041"`, '2:7'],
    [String.raw`"\ude00"`, '2:7'],
    [String.raw`'\q'`, '2:7'],
  ])('P23: %s is an error at the escape', (text, at) => {
    expect(places(command(`emit ${text}`))).toEqual([at]);
  });

  it('1.8: several bad escapes are reported one by one', () => {
    expect(places(command(String.raw`emit "\q \z"`))).toEqual(['2:7', '2:10']);
  });

  it.each([
    [String.raw`'a\tb'`, String.raw`a\tb`],
    [String.raw`'it\'s'`, "it's"],
    [String.raw`'a\\b'`, String.raw`a\\b`],
    [String.raw`'\\\'x'`, String.raw`\\'x`],
    ["'one \\\ntwo'", 'one \\\ntwo'],
    [String.raw`'C:\\dir'`, String.raw`C:\\dir`],
  ])("1.8: only \\' is replaced in %s", (text, expected) => {
    expect(value(text)).toBe(expected);
  });

  it("1.8: '''…''' is verbatim, over several lines", () => {
    expect(value("'''a\nb \\q {{x}}'''")).toBe('a\nb \\q {{x}}');
    expect(value("''''''")).toBe('');
  });

  it('1.8: a string that is not closed on its line is an error at its quote', () => {
    expect(problems(command("emit 'a", "b'"))[0]).toMatchObject({ at: '2:6', message: expect.stringContaining('never closed') });
    expect(places(command('emit "abc'))).toEqual(['2:6']);
    expect(places(command("emit '''abc"))).toEqual(['2:6']);
    expect(places(command('emit ```abc'))).toEqual(['2:6']);
  });

  it('1.8: "…" and \'…\' do not interpolate', () => {
    expect(value('"v={{x}}"')).toBe('v={{x}}');
    expect(value("'v={{x}}'")).toBe('v={{x}}');
  });
});

describe('P12: templates', () => {
  const template = (body: string): string => shape(expression(`\`\`\`${body}\`\`\``));

  it('P12: parts are any expression, parsed once', () => {
    expect(template('v={{x}} {{ x }}!')).toBe('<"v=" x " " x "!">');
    expect(template('{{1+1}}')).toBe('<(1 + 1)>');
    expect(template('{{m.a[0]}}{{f(1, 2)}}')).toBe('<m.a[0] f(1 2)>');
    expect(template('a\n{{\n x\n}}\nb')).toBe('<"a\\n" x "\\nb">');
  });

  it('P12: a part ends at the first }} outside of a string literal', () => {
    expect(template(`{{ "}}" }}{{ '}}' + x }}{{ '''}}''' }}`)).toBe('<"}}" ("}}" + x) "}}">');
    expect(template(String.raw`{{ "\"}}" }}`)).toBe(String.raw`<"\"}}">`);
    expect(template("{{ {'a': {'b': 1} } }}")).toBe('<{"a":{"b":1}}>');
    expect(problems(command("emit ```{{ {'a':{'b':1}} }}```"))).not.toEqual([]);
  });

  it.each([
    ['nl', '\n'],
    ['cr', '\r'],
    ['tab', '\t'],
    ['bt', '`'],
    ['tbt', '```'],
    ['sq', "'"],
    ['dq', '"'],
    ['tsq', "'''"],
    ['tdq', '"""'],
  ])('1.9: {{@%s}} is its character', (name, text) => {
    expect(template(`a{{@${name}}}b{{ @${name} }}`)).toBe(JSON.stringify(`a${text}b${text}`));
  });

  it('ruling 3: {{}} inserts nothing, an unknown symbol stays, an unclosed {{ is text', () => {
    expect(template('{{}}x{{ }}')).toBe('"x"');
    expect(template('{{@bogus}} {{@NL}}')).toBe('"{{@bogus}} {{@NL}}"');
    expect(template('open {{never')).toBe('"open {{never"');
    expect(template('{{x}} {{ y } }')).toBe('<x " {{ y } }">');
    expect(template('')).toBe('""');
  });

  it('P14: {{LAST}} in any letter case is the last value', () => {
    expect(template('{{LAST}}{{ last }}{{Last}}')).toBe('<last last last>');
    expect(template('{{LAST + 1}}')).toBe('<(LAST + 1)>');
  });

  it('P12: text that is not an expression is an error at its true position', () => {
    expect(places(command('emit ```one', 'two {{x y}} three```'))).toEqual(['3:9']);
    expect(places(command('emit ```{{a}} {{ !b }}```'))).toEqual(['2:18']);
    expect(places(command('emit ```{{#if x}}```'))).toEqual(['2:16']);
    expect(places(command('emit ```{{ (1 }} {{ b] }}```'))).toEqual(['2:12', '2:22']);
    expect(places(command('emit ```{{ "b }} c```'))).toEqual(['2:12']);
  });

  it('P12: several wrong parts are several errors only where the lexer finds them', () => {
    expect(places(command('emit ```{{x y}} {{z w}}```', 'emit !a'))).toEqual(['2:13', '3:6']);
  });

  it('P12: templates in templates with double brackets', () => {
    expect(shape(expression('[[a{{ ```b{{x}}``` }}c]]', { doubleBracketStrings: true }))).toBe('<"a" <"b" x> "c">');
  });

  it('ruling 4: a bare {{x}} is the text of x, a bare symbol its character', () => {
    expect(shape(expression('{{x}}'))).toBe('text(x)');
    expect(shape(expression('{{ m.a + 1 }}'))).toBe('text((m.a + 1))');
    expect(shape(expression('{{last}}'))).toBe('text(last)');
    expect(shape(expression('{{LAST}}'))).toBe('text(last)');
    expect(shape(expression('{{@nl}}'))).toBe('"\\n"');
    expect(shape(expression('{{ @ sp }}'))).toBe('"{{@sp}}"');
  });

  it('1.2: {{ is always one token: a map in a map begins with a blank', () => {
    expect(shape(expression("{ {'a': 1}: 2}"))).toBe('{{"a":1}:2}');
    expect(shape(expression("{'a': {{x}}}"))).toBe('{"a":text(x)}');
    expect(problems(command("emit {{'a':1}:2}"))).toHaveLength(1);
    expect(problems(command('emit {{}}'))).toHaveLength(1);
  });
});
