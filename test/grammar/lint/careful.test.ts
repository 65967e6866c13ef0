import { describe, expect, it } from 'vitest';
import type { Environment } from '../../../grammar/lint/index.ts';
import { brief, command, findings, fixed } from './lint.ts';

const only = (code: string, all: readonly string[]): readonly string[] => all.filter((found) => found.endsWith(code));

describe('a variable of a loop that keeps the value of the pass before (issue 50)', () => {
  const kept = (...body: readonly string[]) => only('KEPT_VALUE', brief(['for each x in self', ...body, 'endfor']));
  const handler = ['on error do', 'clear_error', 'endon'];

  it('is reported where the statement that sets it may fail under a handler that goes on', () => {
    expect(kept(...handler, 'set price = x.price', 'emit price')).toEqual(['7:6 LINT_KEPT_VALUE']);
    expect(kept(...handler, 'set a, b = x.both', 'emit a', 'emit b')).toEqual(['7:6 LINT_KEPT_VALUE']);
    expect(kept(...handler, 'set price = tool.a.Price(x)', 'if price > 1', 'emit 1', 'endif')).toEqual(['7:4 LINT_KEPT_VALUE']);
    const outside = [...handler, 'for each x in self', 'set y = x.a', 'emit y', 'endfor'];
    expect(only('KEPT_VALUE', brief(outside))).toEqual(['7:6 LINT_KEPT_VALUE']);
  });

  it('is reported where only some ways through the pass set it, once', () => {
    expect(kept('if x > 1', 'set size = "big"', 'endif', 'emit size', 'emit size')).toEqual(['6:6 LINT_KEPT_VALUE']);
    expect(kept('for each y in x', 'if y > 1', 'set found = y', 'break', 'endif', 'endfor', 'emit found')).toEqual([
      '9:6 LINT_KEPT_VALUE',
    ]);
  });

  it.each<[string, readonly string[]]>([
    ['every way sets it', ['if x', 'set a = 1', 'else', 'set a = 2', 'endif', 'emit a']],
    ['the other way leaves the pass', ['if x', 'set a = 1', 'else', 'continue', 'endif', 'emit a']],
    ['it is set at the beginning', ['set a = nil', 'if x', 'set a = 1', 'endif', 'emit a']],
    ['the pass reads it first', ['emit a', 'if x', 'set a = x', 'endif', 'emit a']],
    ['it is a sum', [...handler, 'set a = a + x', 'emit a']],
    ['the handler leaves the pass', ['on error do', 'clear_error', 'continue', 'endon', 'set a = x.a', 'emit a']],
    ['the handler sets it', ['on error do', 'clear_error', 'set a = 0', 'endon', 'set a = x.a', 'emit a']],
    ['the handler does not clear', ['on error do', 'emit 1', 'endon', 'set a = x.a', 'emit a']],
    ['nothing that sets it can fail', [...handler, 'set a = x', 'emit a', 'emit x.a']],
    ['the other branch reads what an earlier pass has set', ['if x', 'set a = x', 'else', 'emit a', 'endif']],
    [
      'an endless loop sets it before it ends',
      ['while true', 'set a = tool.b.C()', 'if a', 'break', 'endif', 'endwhile', 'emit a'],
    ],
    ['a user gives it', [...handler, 'promptuser "n?" into n', 'emit n']],
    ['it is a maximum that the pass compares', ['if x == 1', 'set a = x', 'endif', 'if x > a', 'set a = x', 'endif', 'emit a']],
    ['it is that of the pass before', ['if x == 1', 'set a = 0', 'endif', 'emit x - a', 'set a = x']],
    ['the same under a handler', [...handler, 'if x.first', 'set a = x.b', 'endif', 'emit x.b - a', 'set a = x']],
    ['pages set it', ['set more = true', 'while more', 'set a = tool.b.C()', 'set more = a.more', 'endwhile', 'emit a']],
  ])('is not where %s', (_, body) => {
    expect(kept(...body)).toEqual([]);
  });

  it('is not where it has a value before the loop, or keeps that of a handler which has a finding', () => {
    expect(
      only('KEPT_VALUE', brief(['set a = 0', 'for each x in self', 'if x', 'set a = 1', 'endif', 'emit a', 'endfor'])),
    ).toEqual([]);
    const both = brief(['for each x in self', ...handler, 'set a = x.a', 'must a', 'emit a', 'endfor']);
    expect(both.map((found) => found.split(' ')[1])).toEqual(['LINT_GOES_ON']);
  });

  it('is not where the program reads it behind the loop before it sets it', () => {
    const branch = ['for each x in self', 'if x', 'set a = x', 'endif', 'emit a', 'endfor'];
    expect(only('KEPT_VALUE', brief([...branch, 'emit a']))).toEqual([]);
    expect(only('KEPT_VALUE', brief([...branch, 'set a = a + 1']))).toEqual([]);
    expect(only('KEPT_VALUE', brief([...branch, 'for each x in self', 'set a = x', 'emit a', 'endfor']))).toEqual([]);
    expect(only('KEPT_VALUE', brief([...branch, 'for each x in self', 'if x', 'emit a', 'endif', 'endfor']))).toEqual([]);
    const failing = ['for each x in self', ...handler, 'set a = x.a', 'emit a', 'endfor', 'emit a'];
    expect(only('KEPT_VALUE', brief(failing))).toEqual(['7:6 LINT_KEPT_VALUE']);
  });

  it.each<[string, string, readonly string[]]>([
    ['an argument cannot be nil', 'set it on the other ways', ['if x', 'set a = x', 'endif', 'call tool.b.C(a)']],
    ['an operand cannot be nil', 'set it on the other ways', ['if x', 'set a = x', 'endif', 'if a > 1', 'emit 1', 'endif']],
    ['a part of nil is read', 'set it on the other ways', ['if x', 'set a = x', 'endif', 'emit [1, a.b]']],
  ])('has no fix where %s', (_, fix, body) => {
    const [found] = findings(command('for each x in self', ...body, 'endfor'));
    expect([found?.code, found?.fix.edits, found?.fix.message]).toEqual(['LINT_KEPT_VALUE', [], expect.stringContaining(fix)]);
  });

  it('has no fix that repeats an error without end, or takes a value that is read later', () => {
    const pages = ['set more = true', 'while more', ...handler, 'set a = tool.b.C()', 'set more = a.more', 'endwhile'];
    const outside = [...handler, 'for each x in self', 'set y = x.a', 'emit y', 'endfor', 'emit y'];
    for (const lines of [pages, outside]) {
      const found = findings(command(...lines)).filter(({ code }) => code === 'LINT_KEPT_VALUE');
      expect(found.map(({ fix }) => fix.edits)).toEqual([[]]);
    }
  });

  it('is mended by continue in the handler, or by nil at the beginning', () => {
    const lines = [
      '  for each x in [1]',
      '    on error do',
      '      clear_error',
      '    endon',
      '    set a = x.a',
      '    emit a',
      '  endfor',
    ];
    expect(fixed(command(...lines))).toBe(command(...lines.toSpliced(3, 0, '      continue')));
    const branch = ['  for each x in [1]', '    if x > 1', '      set a = x', '    endif', '    emit a', '  endfor'];
    expect(fixed(command(...branch))).toBe(command(...branch.toSpliced(1, 0, '    set a = nil')));
  });

  it('takes no longer than a loop is long', () => {
    const many = Array.from({ length: 400 }, (_, index) => [
      `if x > ${index}`,
      `set a${index} = x`,
      'endif',
      `emit a${index}`,
    ]).flat();
    const nested = Array.from({ length: 60 }, () => 'for each x in self');
    expect(findings(command(...nested, ...many, ...nested.map(() => 'endfor'))).length).toBeGreaterThan(0);
  });
});

describe('what always fails', () => {
  it('an index below zero is reported, read and set, at its place', () => {
    const found = (line: string) => only('NEGATIVE_INDEX', brief(['set xs = [[1]]', line, 'emit xs']));
    expect(found('emit xs[-1]')).toEqual(['3:9 LINT_NEGATIVE_INDEX']);
    expect(found('emit [1, 2][-2]')).toEqual(['3:13 LINT_NEGATIVE_INDEX']);
    expect(found('set xs[0][-1] = 2')).toEqual(['3:11 LINT_NEGATIVE_INDEX']);
    for (const line of ['emit xs[0]', 'emit xs[-0]', 'emit xs[len(xs) - 1]', 'emit {"a": 1}[-1]', 'emit xs["-1"]'])
      expect([line, found(line)]).toEqual([line, []]);
  });

  it('a literal that a tool cannot take is reported', () => {
    const takes = ['string', 'number', 'list', null] as const;
    const tools = [{ name: 'tool.a.b', least: 0, most: 4, takes }];
    const found = (args: string) => only('ARGUMENT_TYPE', brief([`emit tool.a.B(${args})`], { tools }));
    expect(found('5')).toEqual(['2:15 LINT_ARGUMENT_TYPE']);
    expect(found('"a", [1], "b", {}')).toEqual(['2:20 LINT_ARGUMENT_TYPE', '2:25 LINT_ARGUMENT_TYPE']);
    for (const args of ['"5", "6", [1], 1', 'self, self, self', 'nil, nil, nil', '"" + 5, 1 + 1'])
      expect([args, found(args)]).toEqual([args, []]);
  });
});

describe('a result that nothing looks at (issue 50)', () => {
  const environment: Environment = {
    tools: [
      ...['tool.list.sort', 'tool.list.contains'].map((name) => ({ name, least: 1, most: 2, pure: true as const })),
      { name: 'tool.pay.approve', least: 1, most: 2, answers: true },
      ...['tool.memory.cas', 'tool.shop.order'].map((name) => ({ name, least: 1, most: 3 })),
    ],
  };
  const unseen = (...lines: readonly string[]) => only('UNSEEN_RESULT', brief(lines, environment));

  it('is reported for calls that do nothing else', () => {
    expect(unseen('set xs = [2, 1]', 'call tool.list.Sort(xs)', 'emit xs')).toEqual(['3:1 LINT_UNSEEN_RESULT']);
    expect(unseen('call len("a")')).toEqual(['2:1 LINT_UNSEEN_RESULT']);
    const sum = 'func sum(needs xs) means\n  set n = 0\n  for each x in xs\n    set n = n + x\n  endfor\n  return n\nendfunc\n';
    const main = 'func main() means\n  call sum([1])\n  emit 1\nendfunc\n';
    expect(findings(sum + main).map(({ code, line }) => [code, line])).toEqual([['LINT_UNSEEN_RESULT', 9]]);
  });

  it('is reported for a result that says whether a write or a plan was accepted, also under a handler', () => {
    const cas = 'call tool.memory.CAS("/a", 1, 2)';
    expect(unseen(cas)).toEqual(['2:1 LINT_UNSEEN_RESULT']);
    expect(unseen('on error do', 'clear_error', 'endon', cas, 'emit 1')).toEqual(['5:1 LINT_UNSEEN_RESULT']);
  });

  it('is reported for a tool that answers with true or false, and an unused answer is to be tested', () => {
    const call = 'call tool.pay.Approve("p3", 500)';
    expect(unseen(call, 'call tool.shop.Order(1)')).toEqual(['2:1 LINT_UNSEEN_RESULT']);
    expect(unseen('on error do', 'emit 1', 'endon', call)).toEqual(['5:1 LINT_UNSEEN_RESULT']);
    expect(unseen('must tool.pay.Approve("p3", 500)', 'if tool.pay.Approve("p4", 5)', 'emit 1', 'endif')).toEqual([]);
    const unused = (tool: string) => findings(command(`set ok = ${tool}`, 'emit 1'), environment).map(({ fix }) => fix.message);
    expect(unused('tool.pay.Approve("p3", 500)')).toEqual([expect.stringMatching(/^test it: .*`if ok`$/)]);
    expect(unused('tool.shop.Order(1)')).toEqual([expect.stringContaining('write `call`')]);
  });

  it('is not for calls with an effect, calls that may be there to fail, and values that are looked at', () => {
    expect(unseen('call tool.shop.Order(1)', 'call tool.list.Sort(tool.shop.Order(1))')).toEqual([]);
    expect(unseen('on error do', 'emit "no list"', 'endon', 'call tool.list.Sort(self)', 'emit 1')).toEqual([]);
    expect(unseen('call tool.list.Sort([1])', 'emit last')).toEqual([]);
    const last = 'func f(needs xs) means\n  emit 1\n  call tool.list.Sort(xs)\nendfunc\n';
    expect(findings(last, environment)).toEqual([]);
    for (const effect of ['emit n', 'fail', 'must n', 'call tool.shop.Order(n)', 'call f(n)']) {
      const text = `func f(needs n) means\n  if n\n    ${effect}\n  endif\n  return n\nendfunc\nfunc g() means\n  call f(1)\n  emit 1\nendfunc\n`;
      expect([effect, findings(text, environment)]).toEqual([effect, []]);
    }
  });

  it('is mended where the call returns a changed copy', () => {
    const sorted = (statement: string) => command('  set xs = [2, 1]', `  ${statement}`, '  emit xs');
    expect(fixed(sorted('call tool.list.Sort(xs)'), environment)).toBe(sorted('set xs = tool.list.Sort(xs)'));
    expect(fixed(sorted('call tool.list.Contains(xs, 1)'), environment)).toBe(sorted('call tool.list.Contains(xs, 1)'));
  });

  it('does not follow calls of calls without end', () => {
    const chain = Array.from({ length: 3000 }, (_, n) => `func f${n}(needs a) means\n  return f${n + 1}(a)\nendfunc\n`).join('');
    expect(findings(`${chain}func f3000(needs a) means\n  call f0(a)\n  emit a\nendfunc\n`)).toEqual([]);
  });
});
