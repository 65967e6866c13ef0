import { describe, expect, it } from 'vitest';
import { decoderGrammar } from '../../../grammar/decoder/index.ts';
import { parse } from '../../../grammar/index.ts';
import { toolGrammar } from '../../../src/tools/index.ts';
import { pureTools } from '../../../stdlib-tools/index.ts';
import { programs } from './corpus.ts';
import { follow, Gbnf } from './gbnf.ts';
import { ALLOWED } from './view.ts';

const anyTool = new Gbnf(decoderGrammar({ tools: null, whole: 'file' }));

describe('a grammar for a decoder', () => {
  it.each([
    ['program', false],
    ['program', true],
    ['turn', false],
    ['turn', true],
  ] as const)('loads in the syntax of llama.cpp: a %s, small: %s', (of, small) => {
    for (const tools of [[], ALLOWED, pureTools()])
      for (const format of ['gbnf', 'ebnf'] as const)
        expect(new Gbnf(toolGrammar(tools, { of, small, format })).names).toContain('root');
  });

  it('grows with the number of tools, and no faster', () => {
    const size = (count: number): number => toolGrammar(pureTools().slice(0, count)).length;
    expect((size(80) - size(40)) / (size(40) - size(0))).toBeLessThan(1.2);
  });

  it('issue 22.2: reads every program of the repository to its end, in either dialect of strings', () => {
    const all = programs();
    expect(all.filter((text) => !follow(anyTool, text).whole)).toEqual([]);
    expect(all.length).toBeGreaterThan(500);
    expect(all.filter((text) => /^:: strings: *double-bracket/m.test(text)).length).toBeGreaterThan(10);
  });

  const whole = (text: string): boolean => follow(anyTool, text).whole;
  const statement = (line: string): boolean => whole(`command\n  ${line}\nendcommand\n`);

  it.each([
    ['set if = 1', false],
    ['set iff = 1', true],
    ['set True = 1', false],
    ['set trueish = 1', true],
    ['emit m.if.True', true],
    ['emit notx', true],
    ['emit not"x"', true],
    ['emit not x and(y)or z', true],
    ['emit 1and 2', true],
    ['emit 1 andx', false],
    ['emit 5- -2', true],
    ['emit a - # no', false],
    ['emit (a - # yes\n 1)', true],
    ['emit (a --\n1)', false],
    ['emit (6 / // no\n 2)', true],
    ['emit (6 // no\n 2)', false],
    ['emit 2 ** -1', false],
    ['emit "\\ud83d\\ude00"', true],
    ['emit "\\ud83d"', false],
    ['emit "\\q"', false],
    ["emit '\\''", true],
    ["emit '''a''b\n'c'''", true],
    ["emit '''a''''", false],
    ['emit ```{{x}}{``{{ {"a": 1} }}```', true],
    ['emit ```{{ {"a": {"b": 1}} }}```', false],
    ['emit ```{{ {"a": {"b": 1} } }} {{open```', true],
    ['emit {{x}} + {{@nl}}', true],
    ['emit ```{{@nl}{{x}}```', true],
    ["emit ```{{'}}'x```", true],
    ['emit { {"a": 1}: 2}', true],
    ['emit 1e308', true],
    ['emit 2e308', false],
    ['break', false],
    ['return 1', false],
    ['return', true],
    ['set a, b.c[0] = [1, 2,]', true],
    ['for each k, v in xs together\n set a[k] = tool.a.B(v)\nendfor', true],
    ['together\n set a = tool.a.B()\nendtogether', true],
    ['together\n set a = tool.a.B(last)\nendtogether', true],
    ['together\n set a = tool.a.B()\n set b = tool.a.B(last)\nendtogether', false],
    ['for each x in y together\n set a = tool.a.B(last)\nendfor', false],
    ['together\n set a = 1\nendtogether', false],
    ['emit [together, endtogether]', true],
    ['on event "x" do\n emit 1\nendon', false],
    ['if a\n on event "x" do\n return 1\n endon\nendif', true],
    ['on error do\n emit 1\nendon\non error do\n emit 1\nendon', false],
    ['if a\nendif', false],
    ['if a\n emit 1\nelse\n emit 2\nendif # end', true],
    ['emit eval(x)', true],
    ['emit eval(x,)', false],
  ])('%j: %s', (line, valid) => {
    expect(statement(line)).toBe(valid);
  });

  const HEADER = ':: strings: double-bracket\n';

  it.each([
    ['emit [[a {{x}} b\n]c]]', true],
    ['emit[[a]]', true],
    ['emit [[[a]]', true],
    ['emit [[a]]]', false],
    ['emit [[a]] + [ [1], [2] ]', true],
    ['emit [[1,2],[3]]', true],
    ['emit [[5],6]', false],
    ['emit [[x]', false],
    ['emit a[ [1][0]]', true],
    ['emit a[[1][0]]', false],
    ['emit a[b[0]]', true],
    ['set a[b[0]] = [[]]', true],
    ['set a[[x]] = 1', false],
    ['emit [\n[1]]', true],
    ['emit [-[[5]], "x"]', true],
    ['emit [{[[k]]: 1}, ([[v]])]', true],
    ['emit [[{{l[0]}} {{}} {{@nl}} {{LAST}} `` ```]]', true],
    ['emit [[{{@nl}b{{@nl}}]]', true],
    ['emit [[{{l[m[0] ]}}]]', true],
    ['emit [[{{l[m[0]]}}]]', false],
    ['emit [[{{ [1, [2] ] }}]]', true],
    ['emit [[{{f(l[0])}}{{never]]', true],
    ['emit [[{{ "]" }}]]', false],
    ['emit ```{{l[0]}} [[ ]]```', true],
    ['if a[0]\n emit [[x]]\nendif', true],
  ])('P11: behind the header `[[` begins a text: %j: %s', (line, valid) => {
    const program = `${HEADER}command\n  ${line}\nendcommand\n`;
    expect(whole(program)).toBe(valid);
    if (valid) expect(parse(program, { name: 'p.ns' }).ok).toBe(true);
  });

  it.each([
    [':: strings : double-bracket # text', true],
    [':: a: b\n# c\n\n:: strings: double-bracket\n:: c: d', true],
    [':: strings: double-bracket // text', false],
    [':: strings: double-brackets', false],
    [':: strings: double-brack', false],
    [':: strings: double bracket', false],
    [':: strings double-bracket', false],
    [':: strings:', false],
    [':: strings: single\n:: strings: double-bracket', true],
    [':: Strings: double-bracket', false],
    ['\\\n:: a: b', false],
    [':: a: b', false],
  ])('P11: %j chooses the dialect: %s', (header, chosen) => {
    for (const [text, valid] of [
      ['[[a b]]', chosen],
      ['[[5], 6]', !chosen],
    ] as const) {
      const program = `${header}\ncommand\n  emit ${text}\nendcommand\n`;
      expect(whole(program)).toBe(valid);
      expect(parse(program, { name: 'p.ns' }).ok).toBe(valid);
    }
  });
});
