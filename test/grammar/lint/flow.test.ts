import { describe, expect, it } from 'vitest';
import { brief, command, findings, fixed } from './lint.ts';

const unreachable = (...lines: readonly string[]): readonly number[] =>
  findings(command(...lines)).flatMap(({ code, line }) => (code === 'LINT_UNREACHABLE' ? [line] : []));

describe('statements that are never executed', () => {
  it.each([
    ['after return', ['return', 'emit 1'], [3]],
    ['after fail', ['fail "x"', 'emit 1', 'emit 2'], [3]],
    ['after a false must', ['must false', 'emit 1'], [3]],
    ['after break and continue', ['while self', 'if self', 'break', 'emit 1', 'endif', 'continue', 'emit 2', 'endwhile'], [5, 8]],
    ['after a choice of which all ways end', ['if self', 'return', 'else', 'fail', 'endif', 'emit 1'], [7]],
    ['after a choice that may go on', ['if self', 'return', 'endif', 'emit 1'], []],
    ['after an endless loop', ['while true', 'emit 1', 'endwhile', 'emit 2'], [5]],
    ['after an endless loop with a way out', ['while true', 'if self', 'break', 'endif', 'endwhile', 'emit 2'], []],
    ['after a loop whose inner loop breaks', ['while true', 'while self', 'break', 'endwhile', 'endwhile', 'emit 2'], [7]],
    [
      'under a condition that never holds',
      ['if false', 'emit 1', 'else', 'emit 2', 'endif', 'while nil', 'emit 3', 'endwhile'],
      [3, 8],
    ],
    ['beside a condition that always holds', ['if not ""', 'emit 1', 'else', 'emit 2', 'endif'], [5]],
    ['once, not again within', ['return', 'if self', 'return', 'emit 1', 'endif'], [3]],
    ['a handler stands anywhere in its block', ['emit 1 / 0', 'return', 'on error do', 'clear_error', 'endon'], []],
  ])('%s', (_what, lines, expected) => {
    expect(unreachable(...lines)).toEqual(expected);
  });

  it('P16: after a handler clears the error, execution continues behind the failing statement', () => {
    const handler = (inside: string) => ['on error do', inside, 'endon'];
    expect(unreachable(...handler('clear_error'), 'fail "x"', 'emit 1')).toEqual([]);
    expect(unreachable(...handler('clear_error'), 'if self', 'fail "x"', 'emit 1', 'endif')).toEqual([]);
    expect(unreachable(...handler('emit 1'), 'fail "x"', 'emit 1')).toEqual([6]);
    expect(unreachable(...handler('fail "y"'), 'emit 1 / 0', 'emit 1')).toEqual([]);
    const inner = handler('emit 0');
    const choice = ['if self', ...inner, 'emit 1 / 0', 'return', 'else', 'return', 'endif', 'emit 2'];
    expect(unreachable(...handler('clear_error'), ...choice)).toEqual([]);
    expect(unreachable(...choice)).toEqual([11]);
    const loop = ['while true', ...inner, 'emit 1 / 0', 'endwhile', 'emit 2'];
    expect(unreachable(...handler('clear_error'), ...loop)).toEqual([]);
    expect(unreachable(...loop)).toEqual([8]);
    expect(unreachable('on error do', 'fail "y"', 'clear_error', 'endon', 'emit 1 / 0')).toEqual([4]);
  });

  it('P16: a failing return is skipped too when a handler clears the error', () => {
    const body = (value: string) =>
      findings(`func f(needs a) means\n  on error do\n    clear_error\n  endon\n  return ${value}\n  emit a\nendfunc\n`).map(
        ({ code }) => code,
      );
    expect(body('a / 2')).toEqual([]);
    expect(body('a')).toEqual(['LINT_HANDLER_NEVER_RUNS', 'LINT_UNREACHABLE']);
  });
});

describe('handlers', () => {
  it.each([
    ['nothing but output', ['emit [self, 1]'], true],
    ['an operator', ['emit self + 1'], false],
    ['a call', ['call f()'], false],
    ['an element that is set', ['set a[0] = 1', 'emit a'], false],
    ['several variables from a list of as many', ['set a, b = [1, 2]', 'emit [a, b]'], true],
    ['several variables from anything', ['set a, b = self', 'emit [a, b]'], false],
    ['a loop over a literal', ['for each x in [1]', 'emit x', 'endfor'], true],
    ['a loop over a variable', ['for each x in self', 'emit x', 'endfor'], false],
    ['what a nested block does', ['if self', 'emit 1 / 0', 'endif'], false],
    ['must', ['must self'], false],
  ])('%s: never runs is %s', (_what, lines, never) => {
    const codes = brief([...lines, 'on error do', 'clear_error', 'endon']).map((found) => found.split(' ')[1]);
    expect(codes.includes('LINT_HANDLER_NEVER_RUNS')).toBe(never);
  });

  it('clear_error belongs in a handler, return does not', () => {
    expect(brief(['clear_error', 'on error do', 'if self', 'clear_error', 'endif', 'return', 'endon', 'emit 1 / 0'])).toEqual([
      '2:1 LINT_CLEAR_ERROR_OUTSIDE',
      '7:1 LINT_RETURN_IN_HANDLER',
    ]);
  });

  describe('a handler after which the program goes on (issue 50)', () => {
    const loop = (handler: readonly string[], ...rest: readonly string[]) =>
      brief(['for each x in self', 'on error do', ...handler, 'endon', ...rest, 'endfor']).filter((found) =>
        found.endsWith('GOES_ON'),
      );

    it('is reported where a must, a fail or a call was to stop what follows', () => {
      expect(loop(['clear_error'], 'must x', 'emit x')).toEqual(['6:1 LINT_GOES_ON']);
      expect(loop(['clear_error'], 'if x', 'fail "no"', 'endif', 'emit x')).toEqual(['7:1 LINT_GOES_ON']);
      expect(loop(['clear_error'], 'if x', 'emit x', 'else', 'fail "no"', 'endif')).toEqual([]);
      expect(loop(['clear_error'], 'if x', 'must x', 'emit x', 'endif')).toEqual(['7:1 LINT_GOES_ON']);
      expect(loop(['clear_error'], 'call tool.a.Check(x)', 'call tool.a.Apply(x)')).toEqual(['6:1 LINT_GOES_ON']);
      expect(brief(['on error do', 'clear_error', 'endon', 'must self', 'emit 1'])).toEqual(['5:1 LINT_GOES_ON']);
    });

    const went = (...lines: readonly string[]) =>
      brief(['on error do', 'emit "failed"', 'clear_error', 'endon', ...lines]).filter((found) => found.endsWith('GOES_ON'));

    it.each<[string, readonly string[]]>([
      ['a text', ['call tool.pay.Send("p2", 1)', 'emit "paid"']],
      ['a text with what was sent', ['for each s in self', 'call tool.pay.Send(s.id)', 'emit "paid " + s.id', 'endfor']],
      ['a count', ['set n = 0', 'for each s in self', 'call tool.pay.Send(s)', 'set n = n + 1', 'endfor', 'emit n']],
      ['a sum', ['set n = 0', 'for each s in self', 'set r = tool.pay.Send(s)', 'set n = n + s.sum', 'endfor', 'emit n']],
      ['the end of a loop', ['for each s in self', 'call tool.pay.Send(s)', 'endfor', 'emit "all paid"']],
      ['a use of the result', ['set page = tool.net.Get("x")', 'emit len(page)', 'call tool.a.Assign(1, page)']],
    ])('is reported where a success is told after a failed call: %s', (_, lines) => {
      const line = lines.findIndex((text) => text.includes('tool.')) + 6;
      expect(went(...lines)).toEqual([expect.stringMatching(new RegExp(`^${line}:`))]);
    });

    it('is reported where a procedure returns true after a failed call', () => {
      const pay = (value: string) =>
        findings(
          `func pay(needs s) means\n  on error do\n    clear_error\n  endon\n  call tool.pay.Send(s)\n  return ${value}\nendfunc\n`,
        ).map(({ code, line }) => [code, line]);
      expect(pay('true')).toEqual([['LINT_GOES_ON', 5]]);
      expect(pay('{"ok": 1}')).toEqual([['LINT_GOES_ON', 5]]);
      expect(pay('false')).toEqual([]);
    });

    it.each<[string, readonly string[]]>([
      ['nothing tells of it', ['set n = 1', 'call tool.log.Write("x")', 'set m = 2', 'emit n + m']],
      ['another result is told', ['set sum = tool.a.Sum()', 'for each s in sum', 'call tool.log.Write(s)', 'endfor', 'emit sum']],
      ['a loop counts its passes', ['set i = 0', 'while i < 3', 'call tool.a.B("x")', 'set i = i + 1', 'endwhile']],
      ['a procedure cannot refuse', ['call shown(1)', 'emit "done"']],
      ['the result has a default', ['set r = 0', 'set r = tool.a.B()', 'emit 1 + r']],
      ['the result is tested', ['set r = tool.a.B()', 'if r != nil', 'emit 1 + r', 'endif']],
      ['the result may be nil', ['set r = tool.a.B()', 'emit r']],
      ['the handler stands below', ['set r = tool.a.B()', 'emit 1 + r', 'emit "x"']],
    ])('is not where %s', (why, lines) => {
      const handler = ['on error do', 'emit "failed"', 'clear_error', 'endon'];
      const all = why.endsWith('below') ? [...lines, ...handler, 'call tool.c.D()'] : [...handler, ...lines];
      const text = `func shown(needs a) means\n  emit a\nendfunc\nfunc main() means\n${all.join('\n')}\nendfunc\n`;
      expect(findings(text).filter(({ code }) => code === 'LINT_GOES_ON')).toEqual([]);
    });

    it('is not where a variable of the handler decides what follows', () => {
      const flagged = (body: readonly string[]) => loop(['set ok = false', 'set errors = errors + 1', 'clear_error'], ...body);
      expect(flagged(['must x', 'if ok', 'call tool.a.B(x)', 'endif'])).toEqual([]);
      expect(flagged(['must x', 'if errors > 1', 'continue', 'endif', 'call tool.a.B(x)'])).toEqual([]);
      expect(flagged(['call tool.a.B(x)', 'if ok', 'emit "paid"', 'endif'])).toEqual([]);
      expect(flagged(['must x', 'if ok', 'emit 1', 'endif', 'emit "paid"'])).toHaveLength(1);
      expect(flagged(['must x', 'emit "paid"', 'if errors > 1', 'continue', 'endif'])).toHaveLength(1);
    });

    it('has no edits in a while, where continue may repeat the error without end', () => {
      const lines = [
        'set more = true',
        'while more',
        'on error do',
        'clear_error',
        'endon',
        'must more',
        'set more = false',
        'endwhile',
      ];
      const [found] = findings(command(...lines));
      expect([found?.code, found?.fix.edits]).toEqual(['LINT_GOES_ON', []]);
    });

    it('is not where the handler leaves, nothing follows, or another handler guards', () => {
      for (const end of ['continue', 'break', 'fail "no"']) expect(loop(['clear_error', end], 'must x', 'emit x')).toEqual([]);
      expect(loop(['emit 1'], 'must x', 'emit x')).toEqual([]);
      expect(loop(['clear_error'], 'emit x', 'must x')).toEqual([]);
      expect(loop(['clear_error'], 'if x', 'on error do', 'emit 1', 'endon', 'must x', 'emit x', 'endif')).toEqual([]);
    });

    it('is mended in a loop by continue, and the refused step is not applied', () => {
      const lines = [
        '  for each x in [1]',
        '    on error do',
        '      clear_error',
        '    endon',
        '    must x > 1',
        '    emit x',
        '  endfor',
      ];
      expect(fixed(command(...lines))).toBe(command(...lines.toSpliced(3, 0, '      continue')));
    });
  });
});
