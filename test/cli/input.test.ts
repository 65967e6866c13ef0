import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SLOW } from '../groups.ts';
import { command, folder, linesOf, neuroscript } from './spawn.ts';
import { within } from './terminal.ts';

/** What every wrong use has in common: one sentence on standard error, nothing on standard output, exit 2, no stack. */
async function refused(args: readonly string[], cwd: string, says: string | RegExp): Promise<void> {
  const ended = await within(args, { cwd });
  expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code: 2, stdout: '' });
  const lines = linesOf(ended.stderr);
  expect(lines, ended.stderr).toHaveLength(1);
  expect(lines[0]).toMatch(/^neuroscript: /);
  expect(lines[0]).toMatch(says);
  expect(ended.stderr).not.toMatch(/\bat \S+ \(|node:internal|\.ts:\d+/);
}

describe('bad input is one clear sentence and exit 2', () => {
  const files = () => {
    const cwd = folder({
      'ok.ns': command('emit 1'),
      'latin1.ns': Buffer.from([...Buffer.from('command\n  emit "'), 0xe9, ...Buffer.from('"\nendcommand\n')]),
      'big.ns': '#'.repeat(10 * 1024 * 1024),
      'over.ns': '#'.repeat(1024 * 1024 + 1),
      'bad.yaml': 'tools: { tool.a.B: [\n',
      'odd.yaml': 'tools: { tool.a.B: { args: [x], cases: [{ returns: 1, delay: 5 }] } }\n',
      'list.yaml': '- a\n',
    });
    mkdirSync(join(cwd, 'dir'));
    symlinkSync('circle.ns', join(cwd, 'circle.ns'));
    return cwd;
  };

  it.each([
    [['run', 'missing.ns'], /cannot read missing\.ns: there is no such file/],
    [['run', 'ok.ns', 'missing.ns'], /missing\.ns/],
    [['run', 'dir'], /cannot read dir: it is a folder/],
    [['run', 'ok.ns/x'], /not a folder/],
    [['run', 'circle.ns'], /cannot read circle\.ns: its symbolic links go in a circle/],
    [['run', 'latin1.ns'], /latin1\.ns is not UTF-8 text \(line 2\)/],
    [['run', 'big.ns'], /big\.ns is larger than 1MB/],
    [['run', 'over.ns'], /over\.ns is larger than 1MB/],
    [['run', 'ok.ns', '--source', '5B'], /ok\.ns is larger than 5B/],
    [['run'], /FILE/i],
    [['run', '-', '-'], /only once/],
    [['run', 'ok.ns', '--cpuu', '1s'], /unknown option '--cpuu'; did you mean --cpu\?/],
    [['runn', 'ok.ns'], /unknown command 'runn'; did you mean run\?/],
    [['nonsense'], /unknown command 'nonsense'; "neuroscript --help" lists the commands$/m],
    [['policy', 'check', 'x'], /unknown command 'check'; "neuroscript policy --help" lists the commands$/m],
    [['completion'], /SHELL is missing; "neuroscript completion --help" says what it is$/m],
    [['completion', 'fish2'], /SHELL must be one of bash, zsh, fish, not 'fish2'$/m],
    [['token', 'verify', 'x'], /--keys <FILE> is missing; "neuroscript token verify --help" says what it is$/m],
    [['ok.ns'], /to run the file, write: neuroscript run ok\.ns/],
    [['run', 'ok.ns', '--cpu', '100'], /--cpu '100' needs a unit; write 100ms/],
    [['run', 'ok.ns', '--memory', '10'], /--memory '10' needs a unit; write 10B, 10KB, 10MB/],
    [['run', 'ok.ns', '--fuel', '0'], /too small/],
    [['run', 'ok.ns', '--fuel'], /--fuel/],
    [['run', 'ok.ns', '--tools', 'missing.yaml'], /cannot read missing\.yaml/],
    [['run', 'ok.ns', '--tools', 'bad.yaml'], /bad\.yaml/],
    [['run', 'ok.ns', '--tools', 'odd.yaml'], /odd\.yaml.*delay/],
    [['run', 'ok.ns', '--tools', 'list.yaml'], /list\.yaml/],
    [['run', 'ok.ns', '--policy', 'missing.yaml'], /cannot read missing\.yaml/],
    [['run', 'ok.ns', '--policy', 'bad.yaml'], /bad\.yaml/],
    [['run', 'ok.ns', '--global', 'g'], /--global 'g' has no value/],
    [['run', 'ok.ns', '--global', 'g=hello'], /--global g: 'hello' is not JSON; for text write '"hello"'/],
    [['run', 'ok.ns', '--global', 'g={"$num":"six"}'], /\$num/],
    [['run', 'ok.ns', '--global', '1g=1'], /1g/],
    [['run', 'ok.ns', '--arg', '1'], /--arg .*--call/],
    [['run', 'ok.ns', '--call', 'f', '--arg', 'x'], /--arg: 'x' is not JSON/],
    [['run', 'ok.ns', '--event', 'e=x'], /--event e: 'x' is not JSON/],
    [['check'], /FILE is missing/],
    [['check', 'missing.ns'], /cannot read missing\.ns/],
    [['explain', 'NS9999'], /unknown error code 'NS9999'/],
    [['explain', 'ERR_QUOTE'], /did you mean ERR_QUOTA\?/],
    [['loop', '--agent', 'parrot'], /parrot/],
    [['loop', '--agent', 'script:missing.txt'], /cannot read missing\.txt/],
    [['turn', 'missing.env'], /cannot read missing\.env/],
    [['tools', '--tools', 'bad.yaml'], /bad\.yaml/],
  ])('%j', async (args, says) => refused(args, files(), says));

  it.each([[['run', '-']], [['run', '--jsonl']], [['check', '-']], [['turn', '-']]])(
    '%j with a folder as standard input',
    SLOW,
    async (args) => {
      const folderItself = openSync(folder({}), 'r');
      onTestFinished(() => closeSync(folderItself));
      const ended = await neuroscript(args, { stdinFrom: folderItself });
      expect(ended).toEqual({ code: 2, stdout: '', stderr: 'neuroscript: cannot read standard input: it is a folder\n' });
    },
  );

  it('a name with control characters cannot act on the terminal', async () => {
    const ended = await within(['run', '\u001b]0;x\u0007.ns'], { cwd: folder({}) });
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain('\\e]0;x\\u{7}.ns');
  });
});

describe('a named pipe, a device or a folder as a file (finding 9)', () => {
  const special = () => {
    const cwd = folder({ 'ok.ns': command('emit 1') });
    mkdirSync(join(cwd, 'queue'));
    for (const name of ['pipe', 'pipe.mjs', 'queue/pending.jsonl']) execFileSync('mkfifo', [join(cwd, name)]);
    return cwd;
  };

  it.each([
    [['log', 'verify', '/dev/zero'], /cannot read \/dev\/zero: it is not an ordinary file/],
    [['log', 'verify', 'pipe'], /cannot read pipe: it is not an ordinary file/],
    [['log', 'verify', '.'], /cannot read \.: it is a folder/],
    [['log', 'verify', 'missing'], /cannot read missing: there is no such file/],
    [['keys', 'list', 'pipe'], /pipe is not a regular file/],
    [['keys', 'list', '/dev/zero'], /not a regular file/],
    [['run', '/dev/zero'], /larger than 1MB/],
    [['run', 'ok.ns', '--tools', '/dev/zero'], /larger than 1MB/],
    [['replay', '/dev/zero'], /larger than 1MB/],
    [['run', 'ok.ns', '--tools', 'pipe.mjs'], /cannot read pipe\.mjs: it is not an ordinary file/],
    [['run', 'ok.ns', '--storage', 'pipe'], /pipe cannot be opened: it is not an ordinary file/],
    [['run', 'ok.ns', '--storage', '.'], /cannot be opened: it is a folder/],
    [['run', 'ok.ns', '--record', 'pipe'], /cannot record to pipe: it is not an ordinary file/],
    [['sessions', 'list', '--store', 'pipe'], /pipe cannot be opened: it is not an ordinary file/],
    [['inspect', 'pipe'], /not an ordinary file/],
    [['fmt', 'pipe'], /cannot write pipe: it is a pipe; '-' reads standard input/],
    [['check', '--fix', 'pipe'], /cannot write pipe: it is a pipe/],
    [['inspect', '/dev/zero'], /not an ordinary file/],
    [['turn', 'ok.ns', '--keys', 'pipe'], /pipe is not a regular file/],
    [['receipt', 'verify', 'pipe', '--key', 'pipe'], /pipe is not a regular file/],
  ])('%j is refused at once', async (args, says) => refused(args, special(), says));

  it('a pipe in the place of the pending plans is refused at once', async () => {
    const ended = await within(['gate', 'approve', '--queue', 'queue'], { cwd: special() });
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringMatching(/pending\.jsonl: it is not an ordinary file/) });
  });

  it.each([
    [['run', 'pipe']],
    [['check', 'pipe']],
    [['turn', 'pipe']],
    [['replay', './pipe']],
    [['run', 'ok.ns', '--policy', 'pipe']],
    [['run', 'ok.ns', '--bound', 'pipe']],
    [['grammar', '--tools', 'pipe']],
    [['policy', 'explain', 'pipe', 'tool.a.B']],
    [['test', 'pipe']],
  ])('%j waits for a writer, and an interrupt ends it', SLOW, async (args) => {
    const ended = await neuroscript(args, { cwd: special(), interruptAfterMs: 2000 });
    expect(ended).toEqual({ code: 130, stdout: '', stderr: '' });
  });

  it('a program comes through a pipe whose writer takes its time', SLOW, async () => {
    const cwd = special();
    const running = neuroscript(['run', 'pipe'], { cwd });
    // Opening waits for the reader.
    execFileSync('sh', ['-c', 'cat ok.ns > pipe'], { cwd });
    expect(await running).toMatchObject({ code: 0, stdout: '1\n' });
  });
});

describe('help', () => {
  it('shows a newcomer what to type, without arguments too', async () => {
    const help = await within(['--help']);
    expect(help).toMatchObject({ code: 0, stderr: '' });
    expect(help.stdout).toContain('neuroscript run hello.ns');
    const bare = await within([]);
    expect(bare.code).toBe(2);
    expect(bare.stderr).toContain('neuroscript run hello.ns');
  });

  it('lists the limits of a command with their defaults', async () => {
    const help = await within(['run', '--help']);
    expect(help.stdout).toMatch(/--cpu <TIME>\s+.*\(10s\)/s);
    expect(help.stdout).toMatch(/--memory <SIZE>\s+.*\(64MB\)/s);
    const turn = await within(['turn', '--help']);
    expect(turn.stdout).toMatch(/--output <SIZE>\s+.*\(512KB\)/s);
  });

  it('prints the version of the package', async () => {
    const { default: manifest } = await import('../../package.json', { with: { type: 'json' } });
    expect(await within(['--version'])).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: '' });
  });
});
