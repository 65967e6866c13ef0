import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { helpPage } from '../../src/cli/manual/manual.ts';
import { readManual } from '../../src/cli/manual/read.ts';
import { SLOW } from '../groups.ts';
import { linesOf } from './spawn.ts';
import { within } from './terminal.ts';

/** The names of the commands that a help text lists. */
const commandsIn = (help: string): string[] =>
  [...(/^Commands:\n([\s\S]*?)\n\n/m.exec(`${help}\n`)?.[1] ?? '').matchAll(/^ {2}([a-z-]+)/gm)].map(([, name = '']) => name);

it('the help of every command fits 80 columns, and names arguments in capitals, as messages do', async () => {
  const { stdout: top } = await within(['--help']);
  const all = [['--help']];
  for (const name of commandsIn(top).filter((each) => !['help', 'gate'].includes(each))) {
    all.push([name, '--help']);
    for (const sub of commandsIn((await within([name, '--help'])).stdout)) if (sub !== 'help') all.push([name, sub, '--help']);
  }
  expect(all.length).toBeGreaterThan(30);
  const long: string[] = [];
  const small: string[] = [];
  for (const argv of all) {
    const { code, stdout, stderr } = await within(argv);
    expect({ argv, code, stderr }).toEqual({ argv, code: 0, stderr: '' });
    long.push(...linesOf(stdout).filter((line) => line.length > 80));
    const usage = (linesOf(stdout)[0] ?? '').replace(/\[(options|command)\]/g, '');
    if (/[<[][^\]>]*[a-z]/.test(usage)) small.push(usage);
  }
  expect([long, small]).toEqual([[], []]);
  for (const argv of [['--help'], ['loop', '--help'], ['gate', 'execute', '--help']])
    expect(linesOf((await within(argv, { columns: 60 })).stdout).filter((line) => line.length > 60)).toEqual([]);
});

it('help comes from the manual, and what a mistyped command gets does not', async () => {
  const manual = readManual();
  for (const argv of [
    ['--help'],
    ['-h'],
    ['help'],
    ['run', '--help'],
    ['help', 'run'],
    ['sessions', 'show', '-h'],
    ['version'],
  ]) {
    const { stdout } = await within(argv);
    expect({ argv, page: helpPage(argv, manual) }).toEqual({ argv, page: stdout });
  }
  for (const argv of [
    [],
    ['rnu', '--help'],
    ['help', 'rnu'],
    ['run', 'a.ns', '--help'],
    ['gate', 'execute', 'x', '--', 'ls', '--help'],
  ])
    expect(helpPage(argv, manual)).toBeNull();
  expect(helpPage(['--help'], null)).toBeNull();
  expect(helpPage(['--help'], manual, 79)).toBeNull();
});

it('a reader of the help that closes its end is no failure, and a full disk is one', SLOW, async () => {
  const bin = fileURLToPath(new URL('../../bin/neuroscript.js', import.meta.url));
  const shell = (line: string) => spawnSync('bash', ['-c', line, process.execPath, bin], { encoding: 'utf8' });
  expect(shell('set -o pipefail; "$0" "$1" loop --help | head -1')).toMatchObject({
    status: 0,
    stdout: 'Usage: neuroscript loop [options]\n',
    stderr: '',
  });
  const full = shell('"$0" "$1" loop --help >/dev/full');
  expect(full).toMatchObject({ status: 2 });
  expect(full.stderr).toMatch(/^neuroscript: the output cannot be written: ENOSPC[^\n]*\n$/);
});

it('issue 19: --help takes at most three times as long as an empty Node program', { ...SLOW, timeout: 120_000 }, () => {
  const bin = fileURLToPath(new URL('../../bin/neuroscript.js', import.meta.url));
  /** CPU seconds of four processes: unlike elapsed time, nearly the same on a busy machine. */
  const spent = (...argv: readonly string[]): number => {
    const line = 'for i in 0 1 2 3; do "$@" >/dev/null || exit 1; done; times';
    const { status, stdout } = spawnSync('bash', ['-c', line, 'bash', process.execPath, ...argv], { encoding: 'utf8' });
    expect(status).toBe(0);
    const parts = [...(linesOf(stdout)[1] ?? '').matchAll(/(\d+)m([\d.]+)s/g)];
    expect(parts).toHaveLength(2);
    return parts.reduce((sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds), 0);
  };
  const empty = spent('-e', '0');
  expect([['--help'], ['run', '--help'], ['--version']].filter((argv) => spent(bin, ...argv) > 3 * empty)).toEqual([]);
});
