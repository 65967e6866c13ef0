import { describe, expect, it } from 'vitest';
import { brief, command, findings, fixed } from './lint.ts';

const briefly = (text: string, globals: readonly string[] = []): readonly string[] =>
  findings(text, { globals }).map(({ line, column, code }) => `${line}:${column} ${code}`);

describe('variables that are never set', () => {
  it('are reported where they are read, with the nearest name that is set', () => {
    expect(brief(['emit x', 'set total = 1', 'emit [total, totl]'])).toEqual(['2:6 LINT_NEVER_SET', '4:14 LINT_NEVER_SET']);
    expect(fixed(command('set total = 1', 'emit totl'))).toBe(command('set total = 1', 'emit total'));
  });

  it('P12: also in templates and placeholders, at their true positions', () => {
    expect(brief(['emit ```a {{x.b}} {{ len(y) }}``` + {{z}}'])).toEqual([
      '2:13 LINT_NEVER_SET',
      '2:26 LINT_NEVER_SET',
      '2:39 LINT_NEVER_SET',
    ]);
  });

  it('P13: also in a literal that eval fills; an eval of another text suppresses reports', () => {
    expect(brief(['set x = 1', 'emit eval("{{x}} {{ y.z }}")'])).toEqual(['3:11 LINT_NEVER_SET']);
    const misspelt = command('set total = 1', 'emit eval("{{totl}}") + total');
    expect(findings(misspelt).map(({ fix }) => fix)).toEqual([{ message: 'did you mean `total`?', edits: [] }]);
    expect(brief(['set x = 1', 'set t = "{{x}}"', 'emit eval(t)'])).toEqual([]);
  });

  it('a variable is set by set, into, loops, parameters, handlers, and by setting an element', () => {
    const source = `func f(needs a optional b) means
  on error do
    emit system_error.code, system_error_message
    clear_error
  endon
  set c, d.e = [a, b]
  for each g, h in c
    emit [g, h, d]
  endfor
  promptuser "?" into i
  ask "m", "p" into j[0]
  return i, j
endfunc
on event "x" as k do
  emit k
endon
`.replace('emit system_error.code, system_error_message', 'emit [system_error.code, system_error_message]');
    expect(briefly(source)).toEqual([]);
  });

  it('procedures and event handlers have variables of their own; command blocks share theirs', () => {
    expect(briefly('func f() means\n  set x = 1\n  return x\nendfunc\nfunc g() means\n  return x\nendfunc\n')).toEqual([
      '6:10 LINT_NEVER_SET',
    ]);
    expect(briefly('command\n  set x = 1\nendcommand\ncommand\n  emit x\nendcommand\n')).toEqual([]);
    expect(briefly('on event x do\n  set x = 1\n  emit x\nendon\n')).toEqual(['1:10 LINT_NEVER_SET']);
  });

  it('declared globals are set; self is always set', () => {
    expect(briefly(command('emit limit', 'whisper self, limit'), ['limit'])).toEqual([]);
  });
});

describe('map keys', () => {
  it('a bare word that is never set probably means text', () => {
    const source = command('set b = "k"', 'emit {a: 1, b: 2, "c": c, (d): 3}');
    expect(briefly(source)).toEqual(['3:7 LINT_MAP_KEY', '3:24 LINT_NEVER_SET', '3:28 LINT_NEVER_SET']);
    expect(fixed(command('emit {a: {c: 1}}'))).toBe(command('emit {"a": {"c": 1}}'));
  });
});

describe('double brackets', () => {
  it('P11: a single bare word in them that is never set probably means text', () => {
    expect(brief(['emit [[hello]]'])).toEqual(['2:6 LINT_DOUBLE_BRACKET']);
    expect(fixed(command('emit [[hello]]'))).toBe(command('emit "hello"'));
    expect(brief(['set x = 1', 'emit [[x]]', 'emit [[1, 2], [3]]'])).toEqual([]);
    expect(brief(['emit [ [x] ]'])).toEqual(['2:9 LINT_NEVER_SET']);
  });

  it('P11: with the header, a text that looks like a list in a list is reported', () => {
    const header = ':: strings: double-bracket\n\n';
    expect(briefly(header + command('emit [[1,2],[3]]', 'emit [[dear {{self}}]]'))).toEqual(['4:6 LINT_DOUBLE_BRACKET']);
    expect(fixed(header + command('emit [["a", 1]]'))).toBe(header + command('emit [ ["a", 1]]'));
  });
});

describe('variables that are never read', () => {
  it('are reported where they are set first', () => {
    expect(brief(['set x = 1', 'set x = 2', 'set y.z[0] = 3'])).toEqual(['2:5 LINT_UNUSED_VARIABLE', '4:5 LINT_UNUSED_VARIABLE']);
  });

  it('not when the name begins with an underscore, or an eval or `last` may read it', () => {
    expect(brief(['set _x = 1', 'set y = 1', 'emit eval(_z())'].slice(0, 1))).toEqual([]);
    expect(brief(['set y = 1', 'emit last'])).toEqual([]);
    expect(brief(['set y = 1', 'emit eval(self)'])).toEqual([]);
  });

  it('not when the value is the result of the procedure (language.md 8)', () => {
    expect(briefly('func f() means\n  set x = 5\nendfunc\n')).toEqual([]);
    expect(briefly('func f() means\n  set x = 5\n  if self\n    set y = 1\n  endif\nendfunc\n')).toEqual([
      '4:9 LINT_UNUSED_VARIABLE',
    ]);
    expect(briefly(command('set x = 5'))).toEqual(['2:5 LINT_UNUSED_VARIABLE']);
  });

  it('parameters and loop variables are a remark; the fix adds an underscore', () => {
    const source = 'func f(needs a optional b) means\n  for each k, v in a\n    emit v\n  endfor\nendfunc\n';
    expect(findings(source).map(({ line, column, severity }) => `${line}:${column} ${severity}`)).toEqual([
      '1:25 info',
      '2:12 info',
    ]);
    expect(findings(fixed(source))).toEqual([]);
  });
});

describe('global constants', () => {
  it('are set; a variable of the same name hides a constant', () => {
    const constants = ['K', 'LIMIT'];
    expect(brief(['emit K'], { constants })).toEqual([]);
    expect(brief(['set K = 8', 'emit K + LIMIT'], { constants })).toEqual(['2:5 LINT_SHADOWED_GLOBAL']);
    expect(brief(['emit LIMITT'], { constants })).toEqual(['2:6 LINT_NEVER_SET']);
  });
});

describe('globals', () => {
  it('P7: setting one is an error, by set and by into, also an element of it', () => {
    const source = command('set limit = 1', 'set limit.a = 2', 'promptuser "?" into limit', 'emit limit');
    expect(briefly(source, ['limit'])).toEqual(['2:5 LINT_SET_GLOBAL', '3:5 LINT_SET_GLOBAL', '4:21 LINT_SET_GLOBAL']);
    expect(briefly(source)).toEqual([]);
  });

  it('P7: a parameter or loop variable of that name is a variable for the rest of its block', () => {
    const source = 'func f(needs limit) means\n  set limit = limit + 1\n  return limit\nendfunc\n';
    expect(briefly(source, ['limit'])).toEqual(['1:14 LINT_SHADOWED_GLOBAL']);
  });
});
