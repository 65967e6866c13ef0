// @module-tag slow
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { statusColumns } from '../../src/cli/terminal/status.ts';
import { folder, linesOf, neuroscript } from './spawn.ts';

const BIN = fileURLToPath(new URL('../../bin/neuroscript.js', import.meta.url));

interface Seen {
  readonly code: number | null;
  readonly screen: string;
}

/** Runs the command at a real terminal, which `script` makes. Types Ctrl-C as soon as the screen has `until`. */
function atTerminal(
  args: string,
  cwd: string,
  { until, env = {} }: { readonly until?: RegExp; readonly env?: NodeJS.ProcessEnv } = {},
) {
  const { CI: _, NO_COLOR: __, ...rest } = process.env;
  return new Promise<Seen>((resolve, reject) => {
    const child = spawn('script', ['-qefc', `stty cols 60; '${process.execPath}' '${BIN}' ${args}`, '/dev/null'], {
      cwd,
      env: { ...rest, TERM: 'xterm', ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
      timeout: 45_000,
      killSignal: 'SIGKILL',
    });
    let screen = '';
    let typed = false;
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      screen += text;
      if (until?.test(screen) && !typed) {
        typed = true;
        child.stdin.write('\u0003');
      }
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, screen }));
  });
}

/** What is left on the last line of a terminal. */
function lastLine(screen: string): string {
  const line = screen.split('\n').at(-1) ?? '';
  return line
    .slice(line.lastIndexOf('\u001b[K') + 1)
    .replace('[K', '')
    .replace(/^\^C/, '')
    .replaceAll('\r', '');
}

const SLOW = 'tools: { tool.slow.Get: { cases: [{ returns: 1, delayMs: 2600 }] } }\n';
const CASE = '#: CASE\nset x = tool.slow.Get()\nemit x #=> 1\n';

describe('issue 19: progress at a real terminal', () => {
  it('work of more than two seconds shows its share and an estimate, within the columns, and leaves nothing', async () => {
    const cwd = folder({ 't.yaml': SLOW, 'a.test.ns': `${CASE.replace('CASE', 'one')}---\n${CASE.replace('CASE', 'two')}` });
    const { code, screen } = await atTerminal('test --tools t.yaml', cwd);
    expect(code).toBe(0);
    expect(screen).toMatch(/test · 0 % · \d+ s/);
    expect(screen).toMatch(/test · 50 % · \d+ s · about \d+ s left/);
    const lines = screen.split(/[\r\n]|\u001b\[K/).map((line) => line.replaceAll(/\u001b\[\d*m/g, ''));
    expect(lines.filter((line) => line.length > 59)).toEqual([]);
    expect(screen).toMatch(/2 passed, 0 failed\r\n$/);
  });

  it('Ctrl-C while a model is waited for removes the line, and exits with 130', async () => {
    const cwd = folder({});
    const { code, screen } = await atTerminal(`loop --agent 'command:sleep 30' --store none`, cwd, { until: /asking the agent/ });
    expect(code).toBe(130);
    expect(screen).toContain('turn 1 · asking the agent');
    expect(lastLine(screen)).toBe('');
    expect(screen).not.toMatch(/\n {4}at /);
  });

  it.each([
    ['doctor', "doctor --mcp 's=sleep 30'", /doctor · \d+ % · \d+ s · about \d+ s left/],
    ['run', "run a.ns --mcp 's=sleep 30'", /waiting for s · \d+ s/],
    ['test conformance', "test conformance --impl 'sleep 30'", /test conformance · \d+ s/],
  ])('%s says what takes it so long, and Ctrl-C removes the line', async (_, command, status) => {
    const { code, screen } = await atTerminal(command, folder({ 'a.ns': 'command\n  emit 1\nendcommand\n' }), { until: status });
    expect(screen).toMatch(status);
    expect([code, lastLine(screen)]).toEqual([130, '']);
  });

  it.each([{ CI: 'true' }, { NO_COLOR: '1' }, { TERM: 'dumb' }])('there is none with %j', async (env) => {
    const cwd = folder({ 't.yaml': SLOW, 'a.test.ns': CASE });
    const { screen } = await atTerminal('test --tools t.yaml', cwd, { env });
    expect(screen).not.toContain('·');
  });

  it('there is none in a file or a pipe', async () => {
    const cwd = folder({ 't.yaml': SLOW, 'a.test.ns': CASE });
    const { stdout, stderr } = await neuroscript(['test', '--tools', 't.yaml'], { cwd });
    expect({ lines: linesOf(stdout).length, stderr }).toEqual({ lines: 2, stderr: '' });
  });

  it('the line is narrower than the terminal', () => {
    const columns = (stream: object, env = {}) => statusColumns(stream, env);
    expect([columns({ isTTY: true, columns: 40 }), columns({ isTTY: true, columns: 300 }), columns({ isTTY: true })]).toEqual([
      39, 79, 79,
    ]);
    expect([columns({}), columns({ isTTY: true }, { CI: '1' }), columns({ isTTY: true }, { CI: '' })]).toEqual([0, 0, 79]);
  });
});
