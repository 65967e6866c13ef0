import { chmodSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { command, folder, linesOf } from './spawn.ts';
import { within } from './terminal.ts';

describe('check --fix', () => {
  it('makes the safe fixes in the file, says which, and keeps the permissions of the file', async () => {
    const cwd = folder({ 'a.ns': command('x = 1', 'if x > 0:', '  print(x)') });
    chmodSync(join(cwd, 'a.ns'), 0o640);
    const ended = await within(['check', '--fix', 'a.ns'], { cwd });
    expect(readFileSync(join(cwd, 'a.ns'), 'utf8')).toBe(command('set x = 1', 'if x > 0', '  emit x', 'endif'));
    expect(statSync(join(cwd, 'a.ns')).mode & 0o777).toBe(0o640);
    expect(ended.code).toBe(0);
    expect(linesOf(ended.stdout).filter((line) => line.startsWith('fixed a.ns:')).length).toBeGreaterThan(0);
    expect(ended.stdout).toContain('a.ns: no mistakes found (1 command block)');
  });

  it('leaves what it cannot fix with its hint, exits 3 then, and changes nothing that is not better', async () => {
    const cwd = folder({ 'a.ns': command('x = 1', 'emit )'), 'b.ns': command('emit )') });
    const ended = await within(['check', '--fix', 'a.ns'], { cwd });
    expect([ended.code, readFileSync(join(cwd, 'a.ns'), 'utf8')]).toEqual([3, command('set x = 1', 'emit )')]);
    expect(ended.stderr).toMatch(/^a\.ns:3:/m);
    expect((await within(['check', '--fix', 'b.ns'], { cwd })).code).toBe(3);
    expect(readFileSync(join(cwd, 'b.ns'), 'utf8')).toBe(command('emit )'));
  });

  it('makes a proposed fix with --proposed alone; --json tells which edits were made', async () => {
    const misspelt = command('set total = 1', 'emit totl');
    const cwd = folder({ 'a.ns': misspelt });
    const json = async (...flags: readonly string[]): Promise<{ code: string; fixed?: true; fix: { safe?: true } }[]> =>
      JSON.parse((await within(['check', '--json', ...flags, 'a.ns'], { cwd })).stdout);
    expect((await json('--fix')).every(({ fixed, fix }) => fixed === undefined && fix.safe === undefined)).toBe(true);
    expect(readFileSync(join(cwd, 'a.ns'), 'utf8')).toBe(misspelt);
    expect((await json('--fix', '--proposed')).map(({ code, fixed }) => [code, fixed])).toEqual([['LINT_NEVER_SET', true]]);
    expect(readFileSync(join(cwd, 'a.ns'), 'utf8')).toBe(command('set total = 1', 'emit total'));
  });

  it('says in one line that proposed fixes are left, and how to make them', async () => {
    const cwd = folder({ 'a.ns': command('x = 1', 'set total = x', 'emit totl'), 'b.ns': command('emit 1') });
    const left = await within(['check', '--fix', 'a.ns'], { cwd });
    expect(linesOf(left.stderr).filter((line) => line.includes('--proposed'))).toEqual([
      '1 proposed fix is left; --fix --proposed makes proposed fixes',
    ]);
    expect((await within(['check', '--fix', '--proposed', 'a.ns'], { cwd })).stderr).not.toContain('--proposed');
    expect((await within(['check', '--fix', 'b.ns'], { cwd })).stderr).not.toContain('--proposed');
  });

  it('refuses --proposed alone and standard input', async () => {
    const cwd = folder({ 'a.ns': command('emit 1') });
    expect((await within(['check', '--proposed', 'a.ns'], { cwd })).code).toBe(2);
    expect((await within(['check', '--fix', '-'], { cwd })).code).toBe(2);
  });
});
