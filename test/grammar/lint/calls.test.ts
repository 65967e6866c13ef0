import { describe, expect, it } from 'vitest';
import { analyse, type Environment } from '../../../grammar/lint/index.ts';
import { BUILTINS } from '../../../grammar/vocabulary/builtins.ts';
import { builtin } from '../../../src/guest/builtins.ts';
import { drive } from '../../guest/driver.ts';
import { brief, checked, command, findings, fixed } from './lint.ts';

const tools: Environment = {
  tools: [
    { name: 'tool.memory.get', least: 1, most: 1 },
    { name: 'tool.memory.put', least: 2, most: 3 },
  ],
  complete: true,
};

describe('calls', () => {
  it('of procedures: all files count, in any order; names are case-sensitive', () => {
    const lib = checked('func f(needs a) means\n  return a\nendfunc\n', 'lib.ns');
    const use = checked(command('emit f(1)', 'emit F(1)', 'emit g(F(1))'), 'use.ns');
    expect(analyse([use, lib]).map(({ line, column, code }) => `${line}:${column} ${code}`)).toEqual([
      '3:6 LINT_UNKNOWN_PROCEDURE',
      '4:6 LINT_UNKNOWN_PROCEDURE',
      '4:8 LINT_UNKNOWN_PROCEDURE',
    ]);
    expect(analyse([lib, use])[0]?.fix).toEqual({
      message: 'did you mean `f`?',
      edits: [{ line: 3, column: 6, endLine: 3, endColumn: 7, text: 'f' }],
    });
  });

  it('P5: as many arguments as the procedure takes', () => {
    const lib = 'func f(needs a optional b) means\n  return [a, b, f(), f(1), f(1, 2), f(1, 2, 3)]\nendfunc\n';
    expect(findings(lib).map(({ column, message }) => `${column} ${message}`)).toEqual([
      '17 `f` takes 1 to 2 arguments, not 0',
      '37 `f` takes 1 to 2 arguments, not 3',
    ]);
    const twice = [checked('func f(needs a) means\nreturn a\nendfunc\n'), checked('func f() means\nreturn 1\nendfunc\n', 'b.ns')];
    const counted = analyse([...twice, checked(command('emit [f(), f(1), f(1, 2)]'), 'c.ns')]);
    expect(counted.filter(({ code }) => code === 'LINT_ARGUMENT_COUNT').map(({ column }) => column)).toEqual([18]);
  });

  it('a procedure that two files define', () => {
    const files = ['a.ns', 'b.ns', 'c.ns'].map((name) => checked('func f() means\nreturn 1\nendfunc\n', name));
    expect(analyse(files).map(({ code, file, line, column, message }) => [code, file, line, column, message])).toEqual(
      ['b.ns', 'c.ns'].map((file) => {
        const message = 'a.ns also defines the procedure `f`, so the files cannot run together';
        return ['LINT_DUPLICATE_PROCEDURE', file, 1, 6, message];
      }),
    );
  });

  it('functions of other languages: the hint shows the NeuroScript form', () => {
    const fixOf = (call: string): string => findings(command(`emit ${call}`))[0]?.fix.message ?? '';
    expect(fixOf('range(3)')).toContain('`while i < n`');
    expect(fixOf('str(5)')).toContain("'' + x");
    expect(fixOf('print(1)')).toContain('emit x');
    expect(fixOf('isNull(1)')).toContain('is_nil(x)');
    expect(drive(command('emit Range(3)')).error).toMatchObject({ nsCode: 2, hint: expect.stringContaining('`while i < n`') });
  });

  it('of built-in functions: in any letter case, with one argument', () => {
    expect(brief(['emit LEN("a") + len("a", 1) + sin()', 'emit TypeOf(1)', 'emit is_nil(nil, nil)'])).toEqual([
      '2:17 LINT_ARGUMENT_COUNT',
      '2:31 LINT_ARGUMENT_COUNT',
      '4:6 LINT_ARGUMENT_COUNT',
    ]);
  });

  it('of built-in functions: the interpreter has exactly those', () => {
    expect(Object.keys(BUILTINS).filter((name) => builtin(name) === undefined)).toEqual([]);
    const candidates = ['eval', 'is_bytes', 'is_handle', 'str', 'int', 'keys', 'append', 'abs', 'exp', 'sqrt', 'range', 'print'];
    expect(candidates.filter((name) => builtin(name) !== undefined)).toEqual([]);
    expect(Object.keys(BUILTINS)).toHaveLength(26);
  });

  it.each(Object.entries(BUILTINS))(
    'of built-in functions: %s takes and returns what the table says',
    (name, { takes, returns }) => {
      const fails = (value: string): boolean => drive(command(`emit ${name}(${value})`)).error !== null;
      expect(['1', '"x"', '[]'].map(fails)).toEqual([takes === 'string', takes === 'number', takes !== 'any']);
      const value = takes === 'string' ? '"x"' : '1';
      expect(drive(command(`must typeof ${name}(${value}) == "${returns}"`)).error).toBeNull();
    },
  );

  it('of tools: those of the catalogue, with their numbers of arguments', () => {
    const lines = ['call tool.Memory.GET("/x")', 'call tool.memory.Gett("/x")', 'call tool.memory.Put("/x")', 'call tool.a.B()'];
    expect(brief(lines, tools)).toEqual(['3:6 LINT_UNKNOWN_TOOL', '4:6 LINT_ARGUMENT_COUNT', '5:6 LINT_UNKNOWN_TOOL']);
    expect(fixed(command('call tool.memory.Gett("/x")'), tools)).toBe(command('call tool.memory.get("/x")'));
    expect(brief(lines)).toEqual([]);
    expect(brief(lines, { ...tools, complete: false })).toEqual(['4:6 LINT_ARGUMENT_COUNT']);
  });

  it('of tools: what there is instead, as a model can read it, and one list for several values', () => {
    const shapes = [
      { name: 'tool.math.max', least: 1, most: 1, takes: ['list'] as const },
      { name: 'tool.str.join', least: 2, most: 2 },
    ];
    const environment = { tools: shapes, complete: true };
    const fixes = (line: string) => findings(command(line), environment).map(({ fix }) => fix.message);
    expect(fixes('emit tool.str.Zzz("a")')).toEqual(['tool.str has join']);
    expect(fixes('emit tool.zzz.Zzz("a")')).toEqual(['there are tool.math.…, tool.str.…']);
    expect(fixed(command('emit tool.math.Max(1, 2)'), environment)).toBe(command('emit tool.math.Max([1, 2])'));
    expect(fixed(command('emit tool.math.Max([1], 2)'), environment)).toBe(command('emit tool.math.Max([1], 2)'));
  });

  it('of tools: the reason of a denial, at the name', () => {
    const denied = [{ name: 'tool.memory.put', reason: 'not allowed here' }];
    const [found, ...rest] = findings(command('call tool.memory.Put("/x", 1)'), { ...tools, denied });
    expect(rest).toEqual([]);
    expect(found).toMatchObject({ code: 'LINT_DENIED_TOOL', severity: 'error', line: 2, column: 6, endColumn: 21 });
    expect(found?.message).toContain('not allowed here');
  });

  it('everywhere: in conditions, indices, templates, arguments, handlers and the names of events', () => {
    const source = `func f(needs m) means
  set m[a()] = b()
  on error do
    emit c()
    clear_error
  endon
  while d()
    ask e(), g() with {h(): i()} into m[j()]
  endwhile
  return \`\`\`{{ k() }}\`\`\`, eval(l()), {{ n() }}
endfunc
on event o() do
  must p() and not q()
endon
`;
    const unknown = findings(source).filter(({ code }) => code === 'LINT_UNKNOWN_PROCEDURE');
    expect(unknown.map(({ message }) => /`(\w)`/.exec(message)?.[1]).sort()).toEqual([...'abcdeghijklnopq']);
  });
});
