import type { ChildProcess } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SLOW } from '../groups.ts';
import { command, folder, linesOf, neuroscript, pressControlC } from './spawn.ts';
import { within } from './terminal.ts';

const NONCE = 'AAAAAAAAAAAAAAAAAAAAAA';

/** Every place of a command line for a file that must be there; X stands for it. */
const FILES = [
  ...['run X', 'test X', 'check X', 'fmt X', 'turn X', 'repl X', 'inspect X', 'log verify X', 'replay X.json'],
  ...['run a.ns --tools X', 'run a.ns --policy X', 'run a.ns --mcp X', 'run a.ns --models X', 'check a.ns --tools X'],
  ...['run a.ns --global-file k=X', 'run a.ns --call f --arg-file X', 'tools --tools X', 'test a.ns --policy X'],
  ...['loop --agent script:X', 'loop --agent script:a.ns --userdata X', 'loop --agent script:a.ns --keys X'],
  ...['sessions list --store X', 'sessions show s --store X', 'sessions export --store X', 'sessions cancel s --store X'],
  ...['sessions prune --older-than 1d --store X', 'replay s --store X'],
  ...['keys list X', 'keys rotate X', 'keys export-public X', `token verify t --keys X --sid s --turn 1 --nonce ${NONCE}`],
  ...['gate propose X --queue .', 'gate approve --queue X'],
];

/** The commands that need more words than their name. */
const BARE = [
  ...['run', 'test', 'check', 'fmt', 'turn', 'loop', 'sessions show', 'sessions resume', 'sessions complete', 'sessions cancel'],
  ...['sessions prune', 'replay', 'log verify', 'keys generate', 'keys list', 'keys rotate', 'token inspect', 'token verify'],
  ...['gate propose', 'gate approve', 'gate execute', 'test conformance', 'inspect', 'completion', 'bench'],
];

describe('issue 19: whatever is wrong, one line says so', () => {
  /** One line on standard error, nothing on standard output, and the code of wrong use. */
  async function refused(line: string, cwd: string): Promise<void> {
    const { code, stdout, stderr } = await within(line.split(' '), { cwd });
    expect({ line, code, stdout }).toEqual({ line, code: line.startsWith('gate') ? 1 : 2, stdout: '' });
    expect({ line, stderr }).toEqual({ line, stderr: expect.stringMatching(/^neuroscript: [^\n]{10,300}\n$/) });
    expect(stderr).not.toContain('please report');
  }

  it('no words at all, and flags that do not exist', async () => {
    for (const line of BARE) await refused(line, folder({}));
    for (const line of BARE) await refused(`${line} --no-such-flag`, folder({}));
  });

  it.each(['none', 'dir'])('a file that is no file: %s', async (name) => {
    for (const line of FILES) {
      const cwd = folder({ 'a.ns': command('emit 1') });
      mkdirSync(join(cwd, 'dir'));
      await refused(line.replace('X', name), cwd);
    }
  });

  it('words of a hundred thousand characters', async () => {
    const long = 'x'.repeat(100_000);
    const cwd = folder({ 'a.ns': command('emit 1') });
    for (const line of [
      'X',
      'explain X',
      'run X',
      'run a.ns --X',
      'run a.ns --fuel X',
      'run a.ns --global X',
      'tools X',
      'loop --agent X',
    ]) {
      const { code, stderr } = await within(line.replace('X', long).split(' '), { cwd });
      expect({ line, code, lines: linesOf(stderr).length, short: stderr.length < 1100 }).toEqual({
        line,
        code: 2,
        lines: 1,
        short: true,
      });
    }
  });
});

it.each([
  ['an endless program', ['run', 'a.ns', '--cpu', '30s', '--fuel', '1e15'], ''],
  ['a question', ['run', 'q.ns'], ''],
  ['requests', ['run', '--jsonl'], '{"src":""}\n'],
])('issue 19: Ctrl-C ends %s with 130 and without a word of Node', SLOW, async (_, args, stdin) => {
  const cwd = folder({
    'a.ns': command('emit 1', 'while true', 'set x = 1', 'endwhile'),
    'q.ns': command('promptuser "?" into x'),
  });
  // The first output shows that the command works; a second Ctrl-C would kill it.
  let pressed = false;
  const press = (_text: string, child: ChildProcess): void => {
    if (!pressed) pressControlC(child);
    pressed = true;
  };
  const { code, stderr } = await neuroscript(args, { cwd, stdin, keepStdinOpen: true, onStdout: press, onStderr: press });
  expect({ code, trace: /\n {4}at |unexpected/.test(stderr) }).toEqual({ code: 130, trace: false });
});
