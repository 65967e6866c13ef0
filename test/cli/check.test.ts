import { describe, expect, it } from 'vitest';
import { command, folder, linesOf } from './spawn.ts';
import { within } from './terminal.ts';

const TOOLS =
  'tools: { tool.memory.Get: { args: [path], otherwise: { returns: 1 } }, tool.memory.Put: { args: [path, value], otherwise: { returns: 1 } } }\n';

describe('check', () => {
  it('says what a program without mistakes holds and costs, and runs nothing', async () => {
    const cwd = folder({
      'a.ns': command('emit tool.memory.Get("/x")', 'emit "must not run"'),
      'lib.ns': 'func f() means\n  return 1\nendfunc\n',
      'empty.ns': '',
    });
    const ended = await within(['check', 'a.ns', 'lib.ns', 'empty.ns'], { cwd });
    expect([ended.code, ended.stderr]).toEqual([0, '']);
    expect(linesOf(ended.stdout)).toEqual([
      'a.ns: no mistakes found (1 command block; calls tool.memory.get)',
      '  command block in line 1: 103 fuel or more, without a bound: the result of `tool.memory.Get` may have any size (line 2)',
      'lib.ns: no mistakes found (1 procedure)',
      '  procedure f in line 1: 6 fuel',
      'empty.ns: no mistakes found (nothing to run)',
    ]);
  });

  it('takes a folder for all programs below it, as one program', async () => {
    const cwd = folder({
      'p/a.ns': command('emit twice(1)'),
      'p/lib/b.ns': 'func twice(needs n) means\n  return 2 * n\nendfunc\n',
      'p/a.test.ns': '#: a case\nemit 1 #=> 1\n',
      'p/node_modules/c.ns': command('emit )'),
    });
    const ended = await within(['check', 'p', 'p/a.ns'], { cwd });
    expect(ended).toEqual(await within(['check', 'p/lib/b.ns', 'p/a.ns'], { cwd }));
    expect([ended.code, linesOf(ended.stdout).filter((line) => line.includes('no mistakes found'))]).toMatchObject([
      0,
      { length: 2 },
    ]);
    expect(await within(['check', 'p/node_modules', 'p'], { cwd })).toMatchObject({ code: 3 });
    const none = folder({ 'a.test.ns': '' });
    expect(await within(['check', '.'], { cwd: none })).toEqual({
      code: 2,
      stdout: '',
      stderr: 'neuroscript: there is no program (*.ns) in this folder or below; name a file\n',
    });
  });

  it('issue 50: run --check says of the files of a run what check says, and runs nothing, also of definitions alone', async () => {
    const cwd = folder({
      'a.ns': command('emit twice(limit)', 'emit tool.memory.Get("/x")'),
      'lib.ns': 'func twice(needs n) means\n  return 2 * n\nendfunc\n',
      'wrong.ns': command('emit tool.memory.Gte("/x")', 'emit limit'),
      't.yaml': TOOLS,
    });
    const run = (...args: readonly string[]) => within(['run', ...args, '--check'], { cwd });
    const given = ['--tools', 't.yaml', '--global', 'limit=10'];
    expect(await run('lib.ns')).toEqual({
      code: 0,
      stdout: expect.stringContaining('no mistakes found (1 procedure)'),
      stderr: '',
    });
    expect(await run('lib.ns', 'a.ns', ...given)).toMatchObject({ code: 0, stderr: '' });
    const checked = await within(['check', 'wrong.ns', '--tools', 't.yaml', '--global', 'limit'], { cwd });
    expect(await run('wrong.ns', ...given)).toEqual(checked);
    expect(checked).toMatchObject({ code: 3, stderr: expect.stringContaining('did you mean') });
    expect(JSON.parse((await run('wrong.ns', ...given, '--json')).stdout)).toMatchObject([{ file: 'wrong.ns', line: 2 }]);
  });

  it('names tools that are no standard ones where nothing says which others there are', async () => {
    const lines = [
      'emit tool.str.ToUper("a")',
      'emit tool.shop.Price(1)',
      'emit tool.str.ToUpper("a")',
      'call tool.aeiou.magic("LOOP", {})',
    ];
    const cwd = folder({ 'a.ns': command(...lines), 't.yaml': TOOLS });
    const named = async (...flags: readonly string[]): Promise<readonly string[]> =>
      linesOf((await within(['check', 'a.ns', ...flags], { cwd })).stdout).filter((line) => line.includes('not a standard tool'));
    expect(await named()).toEqual([
      '  tool.shop.price is not a standard tool; --tools says which others there are',
      '  tool.str.touper is not a standard tool; did you mean tool.str.toupper?',
    ]);
    expect(await named('--tools', 't.yaml')).toEqual([]);
    const many = Array.from({ length: 400 }, (_, index) => `emit tool.str.ToUpper${index + 100}("a")`);
    const similar = linesOf((await within(['check', '-'], { stdin: command(...many) })).stdout);
    // Each is compared with every tool, until a program has taken what it may take of such work.
    const { length } = similar.filter((line) => line.endsWith('did you mean tool.str.toupper?'));
    expect([length > 100, length < 300]).toEqual([true, true]);
  });

  it('shows every syntax error of every file with its source line, and exits 3', async () => {
    const cwd = folder({ 'a.ns': command('let x = 1', 'emit )'), 'b.ns': command('emit 1') });
    const ended = await within(['check', 'a.ns', 'b.ns'], { cwd });
    expect(ended.code).toBe(3);
    expect(ended.stderr).toMatch(/^a\.ns:2:3: .*\(NS15\)\n {6}let x = 1\n {6}\^/m);
    expect(ended.stdout).toBe('b.ns: no mistakes found (1 command block)\n');
  });

  it('shows findings with their severity, their line, and what to write instead', async () => {
    const cwd = folder({ 'a.ns': command('emit lne("abc")', 'for each x in [1]', '  emit 1', 'endfor') });
    const ended = await within(['check', 'a.ns'], { cwd });
    expect(ended.code).toBe(3);
    expect(ended.stderr).toBe(
      'a.ns:2:8: error: no procedure is named `lne` (LINT_UNKNOWN_PROCEDURE)\n' +
        '      emit lne("abc")\n           ^^^\n  hint: did you mean `len`?\n' +
        'a.ns:3:12: info: the loop variable `x` is never read (LINT_UNUSED_PARAMETER)\n' +
        '      for each x in [1]\n               ^\n  hint: if that is intended, begin the name with an underscore: `_x`\n',
    );
    expect(linesOf(ended.stdout)[0]).toBe('a.ns: 1 error, 1 remark (1 command block)');
  });

  it('a warning fails with --strict alone, a remark never', async () => {
    const cwd = folder({ 'warn.ns': command('set x = 1'), 'info.ns': command('for each x in [1]', 'emit 1', 'endfor') });
    expect((await within(['check', 'warn.ns'], { cwd })).code).toBe(0);
    expect((await within(['check', 'warn.ns', '--strict'], { cwd })).code).toBe(3);
    expect((await within(['check', 'info.ns', '--strict'], { cwd })).code).toBe(0);
  });

  it('--tools, --policy and --global say what surrounds the program', async () => {
    const cwd = folder({
      'a.ns': command('call tool.memory.Put("/x", 1, 2)', 'call tool.memory.Gte("/x")', 'call tool.aeiou.magic("LOOP", {})'),
      'g.ns': command('emit limit'),
      's.ns': command('set limit = 1', 'emit limit'),
      't.yaml': TOOLS,
      'p.yaml': 'allow: ["*"]\ndeny: ["*.put"]\n',
    });
    const codes = async (...args: readonly string[]): Promise<string[]> => {
      const { stdout } = await within(['check', ...args, '--json'], { cwd });
      return JSON.parse(stdout).map(({ line, code }: { line: number; code: string }) => `${line} ${code}`);
    };
    expect(await codes('a.ns')).toEqual([]);
    expect(await codes('a.ns', '--tools', 't.yaml')).toEqual(['2 LINT_ARGUMENT_COUNT', '3 LINT_UNKNOWN_TOOL']);
    expect(await codes('a.ns', '--policy', 'p.yaml')).toEqual(['2 LINT_DENIED_TOOL']);
    expect(await codes('g.ns')).toEqual(['2 LINT_NEVER_SET']);
    expect(await codes('g.ns', '--global', 'limit')).toEqual([]);
    expect(await codes('g.ns', '--global', 'limit=10')).toEqual([]);
    expect((await within(['check', 'g.ns', '--global', 'limit={10'], { cwd })).stderr).toContain(
      "--global limit: '{10' is not JSON",
    );
    expect(await codes('s.ns', '--global', 'limit')).toEqual(['2 LINT_SET_GLOBAL']);
    expect((await within(['check', 'a.ns', '--tools', 'no.yaml'], { cwd })).code).toBe(2);
  });

  it('--json prints the list of the contract, with edits; --cost puts the fuel beside it', async () => {
    const cwd = folder({ 'a.ns': command('let x = 1'), 'b.ns': command('emit {a: 1}') });
    const syntax = await within(['check', 'a.ns', '--json'], { cwd });
    expect(syntax).toMatchObject({ code: 3, stderr: '' });
    const [error] = JSON.parse(syntax.stdout);
    expect(error).toMatchObject({ code: 'NS15', severity: 'error', file: 'a.ns', line: 2, column: 3, endLine: 2 });
    const lint = await within(['check', 'b.ns', '--json', '--cost'], { cwd });
    expect(lint).toMatchObject({ code: 0, stderr: '' });
    const place = { line: 2, column: 9, endLine: 2, endColumn: 10 };
    expect(JSON.parse(lint.stdout)).toEqual({
      findings: [
        {
          code: 'LINT_MAP_KEY',
          severity: 'warning',
          file: 'b.ns',
          ...place,
          message: 'the key is the value of the variable `a`, which is never set',
          fix: { message: 'put the key in quotes: `"a"`', edits: [{ ...place, text: '"a"' }] },
        },
      ],
      cost: [
        expect.objectContaining({
          kind: 'command',
          name: '',
          file: 'b.ns',
          line: 1,
          column: 1,
          because: null,
          least: expect.any(Number),
        }),
      ],
    });
    expect((await within(['check', '-', '--json'], { stdin: command('emit 1') })).stdout).toBe('[]\n');
  });

  it('explain shows the section of a code', async () => {
    const { stdout } = await within(['explain', 'LINT_COMMENT_TRAP']);
    expect(linesOf(stdout)[0]).toBe('# LINT_COMMENT_TRAP');
    expect(stdout).not.toContain('LINT_DOUBLE_BRACKET');
    expect((await within(['explain', 'LINT_COMENT_TRAP'])).stderr).toContain('did you mean LINT_COMMENT_TRAP?');
  });
});
