import { chmodSync, lstatSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folder, linesOf } from './spawn.ts';
import { within } from './terminal.ts';

const UGLY = 'command\nemit 1+2   # sum\nendcommand';
const NEAT = 'command\n  emit 1 + 2  # sum\nendcommand\n';
const BROKEN = 'command\nemit 1 +\nendcommand\n';

describe('fmt', () => {
  it('rewrites files in place and lists those that changed', async () => {
    const cwd = folder({ 'a.ns': UGLY, 'b.ns': NEAT });
    chmodSync(join(cwd, 'a.ns'), 0o640);
    expect(await within(['fmt', 'a.ns', 'b.ns'], { cwd })).toEqual({ code: 0, stdout: 'a.ns\n', stderr: '' });
    expect(readFileSync(join(cwd, 'a.ns'), 'utf8')).toBe(NEAT);
    expect(statSync(join(cwd, 'a.ns')).mode & 0o777).toBe(0o640);
    expect(readdirSync(cwd).sort()).toEqual(['a.ns', 'b.ns']);
    expect(await within(['fmt', 'a.ns'], { cwd })).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('takes a folder for all programs below it', async () => {
    const cwd = folder({ 'p/a.ns': UGLY, 'p/q/b.ns': UGLY, 'p/c.txt': UGLY });
    expect(await within(['fmt', 'p'], { cwd })).toEqual({ code: 0, stdout: 'p/a.ns\np/q/b.ns\n', stderr: '' });
    expect(readFileSync(join(cwd, 'p/c.txt'), 'utf8')).toBe(UGLY);
  });

  it('a link stays a link', async () => {
    const cwd = folder({ 'a.ns': UGLY });
    symlinkSync('a.ns', join(cwd, 'link.ns'));
    expect((await within(['fmt', 'link.ns'], { cwd })).code).toBe(0);
    expect(lstatSync(join(cwd, 'link.ns')).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(cwd, 'a.ns'), 'utf8')).toBe(NEAT);
  });

  it('--check writes nothing, lists what would change, and exits 1', async () => {
    const cwd = folder({ 'a.ns': UGLY, 'b.ns': NEAT });
    expect(await within(['fmt', '--check', 'b.ns', 'a.ns'], { cwd })).toEqual({ code: 1, stdout: 'a.ns\n', stderr: '' });
    expect(readFileSync(join(cwd, 'a.ns'), 'utf8')).toBe(UGLY);
    expect(await within(['fmt', '--check', 'b.ns'], { cwd })).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(await within(['fmt', '--check', '-'], { stdin: UGLY })).toEqual({ code: 1, stdout: '-\n', stderr: '' });
  });

  it('reads - and prints the program', async () => {
    expect(await within(['fmt', '-'], { stdin: UGLY })).toEqual({ code: 0, stdout: NEAT, stderr: '' });
    expect(await within(['fmt', '-'], { stdin: NEAT })).toEqual({ code: 0, stdout: NEAT, stderr: '' });
  });

  it('leaves a file with a syntax error alone, formats the others, and exits 3', async () => {
    const cwd = folder({ 'a.ns': BROKEN, 'b.ns': UGLY });
    const ended = await within(['fmt', 'a.ns', 'b.ns'], { cwd });
    expect([ended.code, ended.stdout]).toEqual([3, 'b.ns\n']);
    expect(ended.stderr).toContain('a.ns:2:9:');
    expect(readFileSync(join(cwd, 'a.ns'), 'utf8')).toBe(BROKEN);
    expect(readFileSync(join(cwd, 'b.ns'), 'utf8')).toBe(NEAT);
  });

  it('formats the others when a file cannot be read, and exits with 2', async () => {
    const cwd = folder({ 'a.ns': new Uint8Array([0xff]), 'b.ns': BROKEN, 'c.ns': UGLY });
    symlinkSync('loop', join(cwd, 'loop'));
    const ended = await within(['fmt', 'no.ns', 'loop', '.'], { cwd });
    expect([ended.code, ended.stdout]).toEqual([2, 'c.ns\n']);
    expect(linesOf(ended.stderr).filter((line) => !line.startsWith(' '))).toEqual([
      'neuroscript: cannot read no.ns: there is no such file',
      'neuroscript: cannot read loop: its symbolic links go in a circle',
      'neuroscript: a.ns is not UTF-8 text (line 1)',
      expect.stringMatching(/^b\.ns:2:9:/),
    ]);
    expect(readFileSync(join(cwd, 'c.ns'), 'utf8')).toBe(NEAT);
  });

  it('takes of a folder the ordinary files that are programs, once each', async () => {
    const cwd = folder({ 'p/a.ns': UGLY, 'p/a.test.ns': '#: a case\nemit 1 #=> 1\n', 'p/b.ns/c.ns': NEAT, 'p/.d/e.ns': UGLY });
    symlinkSync('nowhere', join(cwd, 'p/link.ns'));
    expect(await within(['fmt', '--check', 'p', 'p/a.ns', '.'], { cwd })).toEqual({ code: 1, stdout: 'p/a.ns\n', stderr: '' });
    expect(await within(['fmt', '--check', 'p/.d/e.ns'], { cwd })).toMatchObject({ code: 1 });
  });
});
