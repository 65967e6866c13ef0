import { describe, expect, it } from 'vitest';
import { command, folder, neuroscript } from './spawn.ts';

describe('check', () => {
  it('says what a program without mistakes holds, and runs nothing', async () => {
    const cwd = folder({
      'a.ns': command('emit tool.memory.Get("/x")', 'fail "must not run"'),
      'lib.ns': 'func f() means\n  return 1\nendfunc\n',
      'empty.ns': '',
    });
    const ended = await neuroscript(['check', 'a.ns', 'lib.ns', 'empty.ns'], { cwd });
    expect(ended).toEqual({
      code: 0,
      stderr: '',
      stdout:
        'a.ns: no mistakes found (1 command block; calls tool.memory.get)\n' +
        'lib.ns: no mistakes found (1 procedure)\n' +
        'empty.ns: no mistakes found (nothing to run)\n',
    });
  });

  it('shows every syntax error of every file with its source line, and exits 3', async () => {
    const cwd = folder({ 'a.ns': command('let x = 1', 'emit )'), 'b.ns': command('emit 1') });
    const ended = await neuroscript(['check', 'a.ns', 'b.ns'], { cwd });
    expect(ended.code).toBe(3);
    expect(ended.stderr).toMatch(/^a\.ns:2:3: .*\(NS15\)\n {6}let x = 1\n {6}\^/m);
    expect(ended.stdout).toBe('b.ns: no mistakes found (1 command block)\n');
  });

  it('--json prints the list of the contract', async () => {
    const cwd = folder({ 'a.ns': command('let x = 1') });
    const ended = await neuroscript(['check', 'a.ns', '--json'], { cwd });
    expect(ended).toMatchObject({ code: 3, stderr: '' });
    const findings = JSON.parse(ended.stdout);
    expect(findings).toHaveLength(1);
    expect(findings[0]).toMatchObject({ code: 'NS15', severity: 'error', file: 'a.ns', line: 2, column: 3, endLine: 2 });
    const keys = ['code', 'column', 'endColumn', 'endLine', 'file', 'line', 'message', 'severity'];
    expect(
      Object.keys(findings[0])
        .filter((key) => key !== 'fix')
        .sort(),
    ).toEqual(keys);
    expect((await neuroscript(['check', '-', '--json'], { stdin: command('emit 1') })).stdout).toBe('[]\n');
  });
});
