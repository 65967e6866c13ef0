import { describe, expect, it } from 'vitest';
import { SLOW } from '../groups.ts';
import { command, folder } from './spawn.ts';
import { within } from './terminal.ts';

const forever = command('while true', '  set x = 1', 'endwhile');
const silent = 'tools: { tool.t.Never: { args: [], cases: [{ returns: 1, delayMs: 3600000 }] } }\n';

async function result(args: readonly string[], stdin: string, cwd?: string) {
  const ended = await within(['run', ...args, '--json'], { stdin, cwd });
  return { code: ended.code, stderr: ended.stderr, ...JSON.parse(ended.stdout) };
}

describe('limits of a run', () => {
  it('CPU: an endless loop under --cpu 100ms ends within 150 ms of its start', SLOW, async () => {
    // Time is the machine's too: where other tests keep the cores busy, one of five tries must be undisturbed.
    const longer: number[] = [];
    while (longer.length < 5 && !longer.some((ms) => ms <= 150)) {
      const ended = await result(['-', '--cpu', '100ms', '--launcher', 'none'], forever);
      expect(ended).toMatchObject({
        code: 5,
        stderr: '',
        ok: false,
        error: { kind: 'quota', code: 'ERR_QUOTA', limit: 'cpuMs', allowed: 100 },
      });
      longer.push(Math.max(ended.usage.cpuMs, ended.usage.wallMs));
    }
    expect(Math.min(...longer)).toBeGreaterThanOrEqual(90);
    expect(Math.min(...longer)).toBeLessThanOrEqual(150);
  });

  it('wall: a tool that never answers ends with --wall 200ms', async () => {
    const cwd = folder({ 'a.ns': command('emit "before"', 'call tool.t.Never()'), 't.yaml': silent });
    const ended = await result(['a.ns', '--wall', '200ms', '--tools', 't.yaml'], '', cwd);
    expect(ended).toMatchObject({
      code: 124,
      stderr: '',
      ok: false,
      emits: ['before'],
      error: { kind: 'timeout', code: 'ERR_TIMEOUT', limit: 'wallMs' },
    });
    expect(ended.usage.wallMs).toBeGreaterThanOrEqual(190);
    expect(ended.usage.wallMs).toBeLessThan(30_000);
  });

  it('memory: a text doubled for ever ends under --memory 32MB', async () => {
    const ended = await result(['-', '--memory', '32MB'], command('set s = "x"', 'while true', '  set s = s + s', 'endwhile'));
    expect(ended).toMatchObject({
      code: 5,
      stderr: '',
      ok: false,
      error: { kind: 'quota', code: 'ERR_QUOTA', limit: 'memoryBytes', allowed: 33_554_432 },
    });
  });

  it('fuel: the same program spends the same on every run', async () => {
    const program = command('set n = 0', 'while n < 1000', '  set n = n + 1', 'endwhile');
    const [one, two] = await Promise.all([result(['-'], program), result(['-'], program)]);
    expect(one.usage.fuel).toBeGreaterThan(1000);
    expect(two.usage.fuel).toBe(one.usage.fuel);
    const short = await result(['-', '--fuel', '1e3'], program);
    expect(short).toMatchObject({ code: 5, error: { code: 'ERR_QUOTA', limit: 'fuel', allowed: 1000 } });
  });

  it('tool calls: one more than --tool-calls ends the run', async () => {
    const cwd = folder({ 't.yaml': 'tools: { tool.t.One: { args: [], cases: [{ returns: 1 }] } }\n' });
    const ended = await result(
      ['-', '--tool-calls', '2', '--tools', 't.yaml'],
      command('call tool.t.One()', 'call tool.t.One()', 'emit 2', 'call tool.t.One()'),
      cwd,
    );
    expect(ended).toMatchObject({ code: 5, emits: ['2'], error: { code: 'ERR_QUOTA', limit: 'toolCalls', allowed: 2 } });
  });

  it('output: what was emitted before the limit stays', async () => {
    const ended = await result(['-', '--output', '10B'], command('emit "12345"', 'emit "12345"'));
    expect(ended).toMatchObject({ code: 5, emits: ['12345'], error: { code: 'ERR_QUOTA', limit: 'outputBytes', allowed: 10 } });
  });

  it('on a terminal, the message names the flag', async () => {
    const ended = await within(['run', '-', '--cpu', '50ms'], { stdin: forever });
    expect(ended.code).toBe(5);
    expect(ended.stdout).toBe('');
    expect(ended.stderr).toContain('limit: --cpu 50ms');
  });

  it('after each of them, the next run of the same process works', async () => {
    const cwd = folder({ 't.yaml': silent });
    const requests = [
      { id: 'cpu', src: forever, limits: { cpuMs: 100 } },
      { id: 1, src: command('emit 1') },
      { id: 'wall', src: command('call tool.t.Never()'), limits: { wallMs: 200 } },
      { id: 2, src: command('emit 2') },
      {
        id: 'memory',
        src: command('set s = "x"', 'while true', '  set s = s + s', 'endwhile'),
        limits: { memoryBytes: 33_554_432 },
      },
      { id: 3, src: command('emit 3') },
    ];
    const stdin = requests.map((request) => `${JSON.stringify(request)}\n`).join('');
    const ended = await within(['run', '--jsonl', '--tools', 't.yaml'], { cwd, stdin });
    expect(ended.code).toBe(0);
    const results = ended.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(results.map(({ id, ok, emits, error }) => ({ id, ok, emits, code: error?.code ?? null }))).toEqual([
      { id: 'cpu', ok: false, emits: [], code: 'ERR_QUOTA' },
      { id: 1, ok: true, emits: ['1'], code: null },
      { id: 'wall', ok: false, emits: [], code: 'ERR_TIMEOUT' },
      { id: 2, ok: true, emits: ['2'], code: null },
      { id: 'memory', ok: false, emits: [], code: 'ERR_QUOTA' },
      { id: 3, ok: true, emits: ['3'], code: null },
    ]);
  });
});
