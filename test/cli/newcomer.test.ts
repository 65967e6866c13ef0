import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SLOW } from '../groups.ts';
import { command, folder, neuroscript } from './spawn.ts';
import { within } from './terminal.ts';

/** What a newcomer meets on the command line; the numbers are those of the findings in issue 19. */
describe('a newcomer', () => {
  const files = () =>
    folder({
      'ok.ns': command('emit 1'),
      'library.ns': 'func Add(needs a, b) means\n  return a + b\nendfunc\n',
      'handler.ns': 'on event "tick" do # no command\n  fail "no"\nendon\n',
      'memory.ns': command('emit tool.memory.Get("/a")'),
      'show.ns': command('emit seed'),
      'value.json': '{"a": [1, 2]}',
      'two.json': '2',
    });

  it.each<[string, readonly string[], number, string | RegExp]>([
    ['8: a file of procedures alone is no riddle', ['run', 'library.ns'], 2, /nothing was run: .*--call Add.*--check/],
    [
      '8: neither is a file of event handlers alone',
      ['run', 'handler.ns'],
      2,
      /nothing was run: the files have no command block; give --event NAME;/,
    ],
    ['8: an event that no file handles is mentioned', ['run', 'ok.ns', '--event', 'x'], 0, /no file has an event handler/],
    ['9: a misspelt --call gets a suggestion', ['run', 'library.ns', '--call', 'Addd'], 1, /did you mean 'Add'\?/],
    [
      '3: a failing event handler makes the exit code 1',
      ['run', 'handler.ns', '--event', 'tick'],
      1,
      /a handler of event 'tick' failed/,
    ],
    [
      '2: a denial names no tool of another group, --storage, and what to write',
      ['run', 'memory.ns'],
      4,
      /contains: \[\d+ patterns, none for tool\.memory\.\*\] .* hint: allow it with --storage FILE .*--policy FILE.*\{allow: \[tool\.memory\.get\]/,
    ],
    [
      '5: a tool that the policy hides is not unknown',
      ['tools', 'tool.memory.Get'],
      2,
      /the policy denies tool\.memory\.Get; show it with --all; allow it with --storage FILE/,
    ],
    [
      '11: a file with no JSON is named',
      ['run', 'library.ns', '--call', 'Add', '--arg-file', 'ok.ns'],
      2,
      /--arg-file ok\.ns: 'command.*' is not JSON/,
    ],
    ['11: --arg-file needs --call', ['run', 'ok.ns', '--arg-file', 'two.json'], 2, /--arg-file needs --call/],
    ['17: help of an unknown command suggests one', ['help', 'run2'], 2, /unknown command 'run2'; did you mean run\?/],
  ])('%s', async (_, args, code, says) => {
    const ended = await within(args, { cwd: files() });
    expect({ code: ended.code, stderr: ended.stderr.replaceAll('\n', ' ') }).toEqual({
      code,
      stderr: expect.stringMatching(says),
    });
  });

  it.each<[string, readonly string[], string]>([
    ['2: --storage allows the tools that keep values', ['run', 'memory.ns', '--storage', 'kept.db'], '[nil, 0]\n'],
    [
      '11: values come from files, in the order of the flags',
      ['run', 'library.ns', '--call', 'Add', '--arg-file', 'two.json', '--arg', '"x"', '--json'],
      '"result":"2x"',
    ],
    ['11: a global comes from a file', ['run', 'show.ns', '--global-file', 'seed=value.json'], '{"a": [1, 2]}\n'],
  ])('%s', async (_, args, says) => {
    expect(await within(args, { cwd: files() })).toMatchObject({ code: 0, stdout: expect.stringContaining(says), stderr: '' });
  });

  it('2: --storage none allows these tools, and makes no file', async () => {
    const cwd = folder({ 'put.ns': command('emit tool.memory.CAS("/a", 0, "kept")') });
    expect(await within(['run', 'put.ns', '--storage', 'none'], { cwd })).toMatchObject({ code: 0, stdout: '[true, 1]\n' });
    expect(readdirSync(cwd)).toEqual(['put.ns']);
  });

  it('2: what a run keeps in --storage, the next run finds', async () => {
    const cwd = folder({
      'put.ns': command('emit tool.memory.CAS("/a", 0, "kept")'),
      'get.ns': command('emit tool.memory.Get("/a")'),
    });
    expect(await within(['run', 'put.ns', '--storage', 's.db'], { cwd })).toMatchObject({ code: 0, stdout: '[true, 1]\n' });
    expect(await within(['run', 'get.ns', '--storage', 's.db'], { cwd })).toMatchObject({ code: 0, stdout: '["kept", 1]\n' });
  });

  it('17: every way to ask for the version works', async () => {
    const answers = await Promise.all([['--version'], ['-v'], ['version']].map((args) => within(args)));
    expect(new Set(answers.map(({ code, stdout }) => `${code} ${stdout}`)).size).toBe(1);
    expect(answers[0]).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  });

  it('10: the sessions of a new home are none, and its store is made by the first loop alone', SLOW, async () => {
    const env = { XDG_STATE_HOME: folder({}) };
    expect(await neuroscript(['sessions', 'list'], { env })).toEqual({ code: 0, stdout: '', stderr: '' });
    expect((await neuroscript(['sessions', 'list', '--json'], { env })).stdout).toBe('');
    expect((await within(['sessions', 'prune', '--older-than', '1d'], { env })).stdout).toBe('0 sessions removed\n');
    expect(await within(['replay', '--all'], { env })).toMatchObject({ code: 0, stderr: '' });
    expect(await neuroscript(['sessions', 'list', '--store', 'none.db'], { env })).toMatchObject({ code: 2 });
  });

  it('1: sessions are exported from the store by default', SLOW, async () => {
    const ended = await neuroscript(['sessions', 'export', 'ID'], { env: { XDG_STATE_HOME: folder({}) } });
    expect(ended).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/sessions\.db cannot be opened: there is no such file/),
    });
  });

  it('12: an empty HOME writes nothing into the current folder', SLOW, async () => {
    const cwd = folder({ 'agent.txt': '' });
    const ended = await neuroscript(['sessions', 'list'], { cwd, env: { HOME: '', XDG_STATE_HOME: '' } });
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringMatching(/no home directory .* --store FILE/) });
  });

  it('20: a line of --jsonl has no character at which a reader may split it', SLOW, async () => {
    const request = JSON.stringify({ id: 1, src: command('emit "a\\u2028b\\u2029c"') });
    const { stdout } = await neuroscript(['run', '--jsonl'], { stdin: `${request}\n` });
    expect(stdout).not.toMatch(/[\u2028\u2029]/);
    expect(JSON.parse(stdout)).toMatchObject({ emits: ['a\u2028b\u2029c'] });
  });
});
