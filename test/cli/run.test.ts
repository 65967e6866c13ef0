import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SLOW } from '../groups.ts';
import { command, folder, linesOf, neuroscript, pressControlC } from './spawn.ts';
import { within } from './terminal.ts';

describe('run', () => {
  it('says nothing of a launcher that is missing: doctor does', SLOW, async () => {
    const ended = await neuroscript(['run', '-', '--launcher', 'none'], { stdin: command('emit 1') });
    expect(ended).toMatchObject({ code: 0, stdout: '1\n', stderr: '' });
  });

  it('runs standard input', SLOW, async () => {
    const ended = await neuroscript(['run', '-'], { stdin: 'command\n  emit 1 + 2\nendcommand\n' });
    expect(ended).toEqual({ code: 0, stdout: '3\n', stderr: '' });
  });

  it('puts emits on stdout, and whispers with their target on stderr', async () => {
    const cwd = folder({ 'a.ns': command('emit "out"', 'whisper self, "in"', 'whisper "log", "l1\\nl2"') });
    const ended = await within(['run', 'a.ns'], { cwd });
    expect(ended).toEqual({
      code: 0,
      stdout: 'out\n',
      stderr: '[default_self_buffer] in\n[log] l1\n[log] l2\n',
    });
  });

  it('P9: --json has the keys of maps in the order of the script, the journal with the $ that keeps it', async () => {
    const cwd = folder({
      'a.ns': command('emit tool.o.Same({"b": 0, "10": 1, "2": {"7": 1, "3": 2}})'),
      'tools.yaml': 'tools: { tool.o.Same: { args: [m], effects: none, cases: [{ returns: { $arg: m } }] } }',
    });
    const ended = await within(['run', 'a.ns', '--json', '--trace', '--tools', 'tools.yaml'], { cwd });
    expect(ended.stdout).toContain('"values":[{"b":0,"10":1,"2":{"7":1,"3":2}}]');
    expect(ended.stdout).toContain('"args":[{"b":0,"$10":1,"$2":{"$7":1,"$3":2}}]');
  });

  it('runs all files in one sandbox: definitions of all, then command blocks in order, then call, then events', async () => {
    const cwd = folder({
      'a.ns': command('emit "first " + twice(2)'),
      'lib.ns':
        'func twice(needs n) means\n  return n * 2\nendfunc\non event "tick" as e do\n  emit "tick " + e["payload"][0]["Payload"]["n"]\nendon\n',
      'b.ns': command('emit "second " + g'),
    });
    const args = ['a.ns', 'lib.ns', 'b.ns', '--global', 'g="G"', '--call', 'twice', '--arg', '21'];
    const events = ['--event', 'tick={"n":1}', '--event', 'tick={"n":2}'];
    const ended = await within(['run', ...args, ...events, '--json'], { cwd });
    expect(ended.stderr).toBe('');
    expect(JSON.parse(ended.stdout)).toMatchObject({
      ok: true,
      emits: ['first 4', 'second G', 'tick 1', 'tick 2'],
      result: 42,
      error: null,
    });
  });

  it('--json prints exactly one object with everything in it', async () => {
    const ended = await within(['run', '-', '--json'], { stdin: command('emit [1, "a"]', 'whisper self, "w"') });
    expect(ended.code).toBe(0);
    expect(ended.stderr).toBe('');
    const result = JSON.parse(ended.stdout);
    expect(result).toMatchObject({
      ok: true,
      phase: 'exec',
      values: [[1, 'a']],
      whispers: [{ to: 'default_self_buffer', text: 'w' }],
      result: null,
      eventErrors: [],
      error: null,
    });
    expect(Object.keys(result.usage).sort()).toEqual(['cpuMs', 'fuel', 'outputBytes', 'peakMemoryBytes', 'toolCalls', 'wallMs']);
    expect(result).not.toHaveProperty('journal');
  });

  it('streams emits while the program runs', SLOW, async () => {
    const cwd = folder({
      'a.ns': command('emit "early"', 'call tool.t.Slow()', 'emit "late"'),
      't.yaml': 'tools: { tool.t.Slow: { args: [], cases: [{ returns: 1, delayMs: 1500 }] } }\n',
    });
    const at: number[] = [];
    const ended = await neuroscript(['run', 'a.ns', '--tools', 't.yaml'], { cwd, onStdout: () => at.push(performance.now()) });
    expect(ended).toEqual({ code: 0, stdout: 'early\nlate\n', stderr: '' });
    expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThan(500);
  });

  it('an empty program does nothing, is fine, and is mentioned', async () => {
    const cwd = folder({ 'empty.ns': '' });
    const stderr = 'neuroscript: empty.ns: no program found; nothing was run\n';
    expect(await within(['run', 'empty.ns'], { cwd })).toEqual({ code: 0, stdout: '', stderr });
  });

  it('shows an error with its place, its source line, its code and the script stack', async () => {
    const cwd = folder({ 'a.ns': `func f() means\n  emit 1 / 0\nendfunc\n`, 'b.ns': command('call f()') });
    const ended = await within(['run', 'a.ns', 'b.ns'], { cwd });
    expect(ended.code).toBe(1);
    expect(ended.stdout).toBe('');
    const lines = linesOf(ended.stderr);
    expect(lines[0]).toMatch(/^a\.ns:2:10: .*\(NS14\)$/);
    expect(lines.slice(1, 3)).toEqual(['      emit 1 / 0', '             ^']);
    expect(ended.stderr).toMatch(/^ {2}in f \(a\.ns:1:/m);
  });

  it('shows every syntax error, and exits 3', async () => {
    const cwd = folder({ 'a.ns': 'command\n  emit 1 +\nendcommand\n', 'b.ns': 'command\n  let x = 1\nendcommand\n' });
    const ended = await within(['run', 'a.ns', 'b.ns'], { cwd });
    expect(ended.code).toBe(3);
    expect(ended.stderr).toMatch(/^a\.ns:2:\d+: .*\(NS15\)$/m);
    expect(ended.stderr).toMatch(/^b\.ns:2:\d+: .*\(NS15\)$/m);
  });

  it('--now and --ids give an event its TS and ID, the same in every run', async () => {
    const cwd = folder({ 'a.ns': 'on event "e" as e do\n  emit e.payload[0].ID\n  emit e.payload[0].TS\nendon\n' });
    const repeat = ['run', 'a.ns', '--event', 'e', '--event', 'e', '--now', '1760000000', '--ids', 'seed'];
    const { stdout } = await within(repeat, { cwd });
    const [first, time, second] = stdout.split('\n');
    expect(first).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(second).not.toBe(first);
    expect(time).toBe('1760000000000000000');
    expect((await within(repeat, { cwd })).stdout).toBe(stdout);
    expect((await within(['run', 'a.ns', '--event', 'e'], { cwd })).stdout).not.toContain(first);
  });

  it('a failing event handler is told on stderr, and the command exits with 1', async () => {
    const cwd = folder({ 'a.ns': 'on event "e" do\n  emit "before"\n  fail "broken"\nendon\n' });
    const ended = await within(['run', 'a.ns', '--event', 'e'], { cwd });
    expect(ended.code).toBe(1);
    expect(ended.stdout).toBe('before\n');
    expect(ended.stderr).toContain('broken');
  });

  it('never lets a program write control characters to the terminal through a message', async () => {
    const ended = await within(['run', '-'], { stdin: command('fail "\\x1b[31mred\\x07"') });
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain('\\e[31mred\\u{7}');
    expect(ended.stderr).not.toContain('\u001b');
  });

  it('promptuser reads the standard input of a program from a file', async () => {
    const cwd = folder({ 'a.ns': command('promptuser "name? " into n', 'emit "hi " + n') });
    const ended = await within(['run', 'a.ns'], { cwd, stdin: 'Ada\nrest\n' });
    expect(ended.code).toBe(0);
    expect(ended.stdout).toBe('hi Ada\n');
  });

  it('promptuser has nothing to read when the program itself came from standard input', async () => {
    const ended = await within(['run', '-', '--json'], { stdin: command('promptuser "name? " into n') });
    expect(ended.code).toBe(1);
    expect(JSON.parse(ended.stdout).error.code).toBe('NS26');
  });

  it('--trace shows each tool call with arguments, result, time and fork; with --json it adds the journal', async () => {
    const cwd = folder({
      'a.ns': command('emit tool.t.Get("/x")'),
      't.yaml': 'tools: { tool.t.Get: { args: [path], cases: [{ when: { path: /x }, returns: [free, { $10: 7, $2: 8 }] }] } }\n',
    });
    const shown = await within(['run', 'a.ns', '--tools', 't.yaml', '--trace'], { cwd });
    expect(shown.code).toBe(0);
    expect(shown.stderr).toMatch(
      /^#1 tool\.t\.get\("\/x"\) → \["free",\{"10":7,"2":8\}\] \(\d+\.\d ms, fork \S+, a\.ns:2:\d+\)$/m,
    );
    const json = await within(['run', 'a.ns', '--tools', 't.yaml', '--trace', '--json'], { cwd });
    expect(json.stderr).toBe('');
    expect(JSON.parse(json.stdout).journal).toMatchObject([
      { kind: 'tool', seq: 1, name: 'tool.t.get', args: ['/x'], outcome: { ok: true, value: ['free', { $10: 7, $2: 8 }] } },
    ]);
  });

  it('ends quietly when its reader goes away', SLOW, async () => {
    const ended = await neuroscript(['run', '-'], {
      stdin: command('while true', 'emit "y"', 'endwhile'),
      onStdout: (_text, child) => child.stdout?.destroy(),
    });
    expect(ended.code).toBe(0);
    expect(ended.stderr).toBe('');
  });

  it('Ctrl-C while the program is still being read ends at once, with nothing to print', SLOW, async () => {
    const ended = await neuroscript(['run', '-', '--json'], { keepStdinOpen: true, interruptAfterMs: 3000 });
    expect(ended).toEqual({ code: 130, stdout: '', stderr: '' });
  });

  it('what the policy denies exits 4, unless the program handles it', async () => {
    const cwd = folder({
      't.yaml': 'tools: { tool.t.One: { args: [], cases: [{ returns: 1 }] } }\n',
      'deny.yaml': 'allow: ["*"]\ndeny: [tool.t.one]\n',
    });
    const args = ['run', '-', '--tools', 't.yaml', '--policy', 'deny.yaml'];
    const denied = await within(args, { cwd, stdin: command('call tool.t.One()') });
    expect(denied).toMatchObject({ code: 4, stdout: '' });
    expect(denied.stderr).toMatch(/denied by policy rule: tool\.t\.one \(NS1003\)/);
    expect(denied.stderr).toContain('hint: a file given with --policy says what is allowed');
    const handled = await within(args, {
      cwd,
      stdin: command('call tool.t.One()', 'on error do', 'emit system_error["code"]', 'clear_error', 'endon'),
    });
    expect(handled).toEqual({ code: 0, stdout: '1003\n', stderr: '' });
  });

  it('without --policy, exactly the tools of --tools are allowed', async () => {
    const cwd = folder({ 't.yaml': 'tools: { tool.t.One: { args: [], cases: [{ returns: 1 }] } }\n' });
    const ended = await within(['run', '-', '--tools', 't.yaml'], { cwd, stdin: command('emit tool.T.one()') });
    expect(ended).toEqual({ code: 0, stdout: '1\n', stderr: '' });
    const without = await within(['run', '-'], { stdin: command('emit tool.t.One()') });
    expect(without.code).toBe(1);
    expect(without.stderr).toContain('(NS3)');
  });

  it('says in one sentence that its output cannot be written', SLOW, async () => {
    const full = openSync('/dev/full', 'w');
    onTestFinished(() => closeSync(full));
    const ended = await neuroscript(['run', '-'], { stdin: command('emit 1'), stdoutTo: full });
    expect(ended).toMatchObject({
      code: 2,
      stderr: 'neuroscript: the output cannot be written: ENOSPC: no space left on device, write\n',
    });
  });

  it('Ctrl-C cancels and exits 130', SLOW, async () => {
    const cwd = folder({
      'a.ns': command('emit "started"', 'whisper self, "ready"', 'call tool.t.Never()'),
      't.yaml': 'tools: { tool.t.Never: { args: [], cases: [{ returns: 1, delayMs: 3600000 }] } }\n',
    });
    let pressed = false;
    const press = (_text: string, child: ChildProcess) => {
      if (!pressed) pressControlC(child);
      pressed = true;
    };
    const plain = await neuroscript(['run', 'a.ns', '--tools', 't.yaml'], { cwd, onStderr: press });
    expect(plain).toMatchObject({ code: 130, stdout: 'started\n' });
    expect(plain.stderr).toContain('(ERR_CANCELLED)');
  });

  it('Ctrl-C with --json still prints the result', SLOW, async () => {
    const cwd = folder({ 'a.ns': command('emit "started"', 'promptuser "ready?" into x', 'emit x') });
    const ended = await neuroscript(['run', 'a.ns', '--json'], {
      cwd,
      keepStdinOpen: true,
      onStderr: (_text, child) => pressControlC(child),
    });
    expect(ended).toMatchObject({ code: 130, stderr: 'ready? ' });
    expect(JSON.parse(ended.stdout)).toMatchObject({
      ok: false,
      emits: ['started'],
      error: { kind: 'cancelled', code: 'ERR_CANCELLED' },
    });
  });

  it('finding 4: SIGUSR1, which a compromised worker could send, opens no inspector and ends nothing', SLOW, async () => {
    const cwd = folder({ 'a.ns': command('promptuser "ready?" into x', 'emit x') });
    const ended = await neuroscript(['run', 'a.ns'], {
      cwd,
      keepStdinOpen: true,
      onStderr: (_text, child) => {
        child.kill('SIGUSR1');
        setTimeout(() => child.stdin?.end('yes\n'), 300);
      },
    });
    expect(ended).toEqual({ code: 0, stdout: 'yes\n', stderr: 'ready? ' });
  });
});
