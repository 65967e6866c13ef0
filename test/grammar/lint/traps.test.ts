import { describe, expect, it } from 'vitest';
import { cpuMs } from '../../cost.ts';
import { SLOW } from '../../groups.ts';
import { brief, command, findings, fixed } from './lint.ts';

const traps = (line: string): boolean => brief([line]).some((found) => found.endsWith('LINT_COMMENT_TRAP'));

it('issue 44, finding 14: texts with characters that cannot be seen are shown', () => {
  expect(brief(['emit "👨\u200d💻"', 'emit "👨\\u200d💻"', 'emit ```a\u200cb {{"c"}}```'])).toEqual([
    '2:6 LINT_INVISIBLE',
    '4:9 LINT_INVISIBLE',
  ]);
  expect(brief(['emit 1 # می\u200cخواهم', '-- plain'])).toEqual(['2:8 LINT_INVISIBLE']);
});

describe('texts in quotes that look like templates', () => {
  it('are reported unless an eval may fill them', () => {
    const lines = ['set x = 1', 'emit "a {{x}}" + x', `emit 'a $${'{x}'}'`, `emit "{{}} {{1}} {x} $${'{}'}"`, 'emit ```{{x}}```'];
    expect(brief(lines)).toEqual(['3:6 LINT_PLAIN_TEMPLATE', '4:6 LINT_PLAIN_TEMPLATE']);
    expect(brief([...lines, 'emit eval("{{x}}")'])).toEqual([]);
  });

  it.each(['tool.template.Render("a {{x}}", m)', 'tool.str.Replace("a {{x}}", "{{x}}", "b")'])(
    'are none where %s fills them',
    (call) => {
      expect(brief(['set m = {"x": 1}', `emit ${call} + m`])).toEqual([]);
    },
  );
});

describe('`and` and `or` do not return an operand (language.md 4.2)', () => {
  it('reports a plain value on the right', () => {
    expect(brief(['set x = 1', 'emit x or "none"', 'emit x == "a" or ("b")', 'emit x and [1]'])).toEqual([
      '3:11 LINT_LOGIC_VALUE',
      '4:18 LINT_LOGIC_VALUE',
      '5:12 LINT_LOGIC_VALUE',
    ]);
  });

  it('does not report conditions', () => {
    expect(brief(['set x = 1', 'emit x or x > 1', 'emit x == "a" or x == "b"', 'emit x and true', 'emit "a" + "b"'])).toEqual([]);
  });
});

describe('operators that begin a comment', () => {
  it.each(['emit 5--2', 'emit 6//2', 'emit self--self', 'emit (1)//(2)', 'emit [1]--[2]', 'emit 7 // 2', 'emit 7 -- 2'])(
    '%s',
    (line) => {
      expect(traps(line)).toBe(true);
    },
  );

  it.each([
    'emit 5 - -2',
    'emit 5 -- the answer',
    'emit 5 // 2 apples',
    'emit 5 # 2',
    'emit 5#2',
    'emit "5--2" // two',
    'emit 5\n-- 5',
    'emit 5 --two',
    'emit 5 --',
  ])('%s is a comment, or none at all', (line) => {
    expect(traps(line)).toBe(false);
  });

  it('the fix is the operator', () => {
    expect(fixed(command('emit 5--2', 'emit 7 // 2'))).toBe(command('emit 5 - -2', 'emit 7 / 2'));
  });

  it('inside brackets and templates too', () => {
    expect(brief(['emit [', '5--2', ']', 'emit ```{{ 1--1', '}}```'])).toEqual([
      '3:2 LINT_COMMENT_TRAP',
      '5:13 LINT_COMMENT_TRAP',
    ]);
  });
});

describe('findings', () => {
  it('P31: lines and columns are 1-based and count code points', () => {
    const [found] = findings(command('emit "😀" + x'));
    expect(found).toMatchObject({ file: 'test.ns', line: 2, column: 12, endLine: 2, endColumn: 13 });
  });

  it('are at most a thousand', () => {
    expect(findings(command(...Array.from({ length: 3000 }, (_, index) => `emit x${index}`)))).toHaveLength(1000);
  });

  it('take time in proportion to the size of the source', SLOW, () => {
    const source = (lines: number) =>
      command(...Array.from({ length: lines }, (_, index) => `set v${index} = lenn(v${index % 7}) + w--1`));
    const time = (lines: number, rounds: number, enough?: number): number => {
      const text = source(lines);
      return cpuMs(() => findings(text), rounds, enough);
    };
    time(500, 1);
    const most = 30 * Math.max(5, time(1_000, 3));
    expect(time(10_000, 3, most)).toBeLessThan(most);
  });
});

it('issue 50: a backspace in a pattern is reported, and mended to a word boundary', () => {
  const line = (pattern: string) => `emit tool.regex.Match(${pattern}, "it is down")`;
  expect(brief([line('"\\b(down|500)\\b"'), line("'''\\b'''"), 'emit "\\b"', line('"\\\\b"')])).toEqual(['2:23 LINT_PATTERN']);
  expect(fixed(command(line('"\\b(down|500)\\b"')))).toBe(command(line('"\\\\b(down|500)\\\\b"')));
});

it('issue 50: a pattern after its text is reported, and exchanged', () => {
  const loop = (args: string) => command('for each t in [{"s": "a"}]', `emit tool.regex.Split(${args})`, 'endfor');
  expect(findings(loop(`t["s"], '''\\s+'''`)).map(({ code }) => code)).toEqual(['LINT_PATTERN']);
  expect(fixed(loop('t.s, ",", 2'))).toBe(loop('",", t.s, 2'));
  for (const args of ['",", t.s', '"," + t.s, "a,b"', 't.s, t.s', 't.pattern, "a,b"', 't["regex"], "a,b"'])
    expect(findings(loop(args)), args).toEqual([]);
});
