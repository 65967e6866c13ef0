import { describe, expect, it } from 'vitest';
import { SLOW } from '../groups.ts';
import { command, folder, linesOf, neuroscript, pressControlC, type SpawnOptions } from './spawn.ts';
import { within } from './terminal.ts';

/** For tests in which runs at the same time are not the subject: a second worker takes as long to start as the first. */
const ONE_WORKER = ['--concurrency', '1'] as const;

async function answers(stdin: string | Uint8Array, args: readonly string[] = [], options: SpawnOptions = {}) {
  const ended = await neuroscript(['run', '--jsonl', ...args], { ...options, stdin });
  return { ...ended, results: linesOf(ended.stdout).map((line) => JSON.parse(line)) };
}

const jsonl = (requests: readonly unknown[]) => requests.map((request) => `${JSON.stringify(request)}\n`).join('');

describe('run --jsonl', () => {
  it('answers 1,000 lines in order, one result each, every run in a fresh sandbox', SLOW, async () => {
    // Each kind tries to leave something behind, or to find what another run left.
    const kinds = [
      (n: number) => ({ id: n, src: command(`set left = ${n}`, 'emit left') }),
      (n: number) => ({ id: n, src: command('emit left == nil') }),
      (n: number) => ({
        id: n,
        lib: `on event "e" do\n  emit "handler ${n}"\nendon\n`,
        src: '',
        events: [{ name: 'e', source: 't', payload: null }],
      }),
      (n: number) => ({ id: n, src: command('emit "quiet"'), events: [{ name: 'e', source: 't', payload: null }] }),
      (n: number) => ({ id: n, lib: `func who() means\n  return ${n}\nendfunc\n`, src: '', call: 'who' }),
      (n: number) => ({ id: n, src: '', call: 'who' }),
      (n: number) => ({
        id: n,
        src: command(
          'set m = {"__proto__": {"left": 1}}',
          'set m["constructor"] = {"prototype": 1}',
          'set m["toString"] = 1',
          'emit len(m)',
        ),
      }),
      (n: number) => ({ id: n, src: command('set m = {}', 'emit m["left"] == nil', 'emit len(m)'), globals: { g: n } }),
      (n: number) => ({ id: n, src: command('emit g == nil') }),
      (n: number) => ({ id: n, src: command('fail "x"') }),
    ];
    const expected = [
      (n: number) => ({ ok: true, emits: [String(n)] }),
      () => ({ ok: true, emits: ['true'] }),
      (n: number) => ({ ok: true, emits: [`handler ${n}`] }),
      () => ({ ok: true, emits: ['quiet'] }),
      (n: number) => ({ ok: true, result: n }),
      () => ({ ok: false, phase: 'call', error: { code: 'NS2' } }),
      () => ({ ok: true, emits: ['3'] }),
      () => ({ ok: true, emits: ['true', '0'] }),
      () => ({ ok: true, emits: ['true'] }),
      () => ({ ok: false, phase: 'exec', error: { code: 'NS1' } }),
    ];
    const ids = [...Array(1000).keys()];
    const started = performance.now();
    const { code, stderr, results } = await answers(jsonl(ids.map((n) => kinds[n % 10]?.(n))));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(results.map((result) => result.id)).toEqual(ids);
    for (const n of ids) expect(results[n], `line ${n}`).toMatchObject(expected[n % 10]?.(n) ?? {});
    expect(performance.now() - started).toBeLessThan(30_000);
  });

  it('P9: whole-number keys stand where the script put them, and come in with a $', SLOW, async () => {
    const src = 'func f(needs m returns r) means\n  emit g\n  return m\nendfunc\n';
    const request =
      '{"id":1,"src":"","lib":"","call":"f","args":[{"$10":1,"a":{"$9":1,"$8":2},"$2":3}],"globals":{"g":{"10":1,"2":2}}}';
    const { stdout } = await neuroscript(['run', '--jsonl', ...ONE_WORKER], {
      stdin: `${request.replace('"lib":""', `"lib":${JSON.stringify(src)}`)}\n`,
    });
    expect(stdout).toContain('"result":{"10":1,"a":{"9":1,"8":2},"2":3}');
    // Without it the order was lost when the request was read.
    expect(stdout).toContain('"values":[{"2":2,"10":1}]');
  });

  it('answers a malformed line and goes on', SLOW, async () => {
    const stdin = Buffer.concat([
      Buffer.from('{"id":1,"src":"command\\nemit 1\\nendcommand"}\n'),
      Buffer.from('{"id":2,\n'),
      Buffer.from('\n'),
      Buffer.from('[1]\n'),
      Buffer.from([0x22, 0xff, 0x22, 0x0a]),
      Buffer.from('{"id":6,"src":5}\n'),
      Buffer.from('{"id":7,"src":"","speed":1}\n'),
      Buffer.from('{"id":8,"src":"","limits":{"fule":1}}\n'),
      Buffer.from('{"id":9,"src":"","limits":{"cpuMs":0}}\n'),
      Buffer.from('{"id":10,"src":"command\\nemit 10\\nendcommand"}'),
    ]);
    const { code, results, stderr } = await answers(stdin, ONE_WORKER);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(results).toHaveLength(10);
    expect(results[0]).toMatchObject({ id: 1, ok: true, emits: ['1'] });
    for (const result of results.slice(1, 5)) {
      expect(result).toMatchObject({
        id: null,
        ok: false,
        phase: 'request',
        emits: [],
        values: [],
        whispers: [],
        result: null,
        eventErrors: [],
        error: { kind: 'usage', nsCode: null, line: null, stack: [] },
        usage: { fuel: 0 },
      });
    }
    for (const result of results.slice(5, 9))
      expect(result).toMatchObject({ ok: false, phase: 'request', error: { kind: 'usage' } });
    expect(results[7].error.message).toContain('fule');
    expect(results[9]).toMatchObject({ id: 10, ok: true, emits: ['10'] });
  });

  it('refuses a line longer than 16 MiB, and nesting without end, as requests', SLOW, async () => {
    const stdin = `${' '.repeat(17 * 1024 * 1024)}{}\n${'['.repeat(100_000)}\n{"id":1,"globals":{"g":${'['.repeat(5000)}${']'.repeat(5000)}}}\n{"id":3,"src":"command\\nemit 3\\nendcommand"}\n`;
    const { code, stderr, results } = await answers(stdin, ONE_WORKER);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const result of results.slice(0, 3))
      expect(result).toMatchObject({ ok: false, phase: 'request', error: { kind: 'usage' } });
    expect(results[0].error.message).toContain('16MB');
    expect(results[3]).toMatchObject({ id: 3, emits: ['3'] });
  });

  it('answers a line as soon as it can, without waiting for the next', SLOW, async () => {
    let replies = 0;
    const ended = await neuroscript(['run', '--jsonl', ...ONE_WORKER], {
      keepStdinOpen: true,
      stdin: '{"id":1,"src":"command\\nemit 1\\nendcommand"}\n',
      onStdout: (_text, child) => {
        replies += 1;
        if (replies === 1) child.stdin?.write('{"id":2,"src":"command\\nemit 2\\nendcommand"}\n');
        else child.stdin?.end();
      },
    });
    expect(ended.code).toBe(0);
    expect(linesOf(ended.stdout)).toHaveLength(2);
  });

  it('a request can tighten the limits of the command line, not widen them', SLOW, async () => {
    const loop = command('while true', 'set x = 1', 'endwhile');
    const { results } = await answers(
      jsonl([{ src: loop, limits: { fuel: 500 } }, { src: loop, limits: { fuel: 5000 } }, { src: loop }]),
      [...ONE_WORKER, '--fuel', '1000'],
    );
    expect(results.map((result) => result.error.allowed)).toEqual([500, 1000, 1000]);
  });

  it('stops when its reader goes away', SLOW, async () => {
    const ended = await neuroscript(['run', '--jsonl', ...ONE_WORKER], {
      keepStdinOpen: true,
      stdin: jsonl(Array.from({ length: 200 }, (_, id) => ({ id, src: command('emit 1') }))),
      onStdout: (_text, child) => child.stdout?.destroy(),
    });
    expect(ended).toMatchObject({ code: 0, stderr: '' });
  });

  it('Ctrl-C cancels what is at work, answers it, and ends', SLOW, async () => {
    const requests = [
      { id: 1, src: command('emit 1') },
      { id: 2, src: command('while true', 'set x = 1', 'endwhile') },
    ];
    const ended = await neuroscript(['run', '--jsonl', ...ONE_WORKER, '--fuel', '1e12', '--cpu', '1m', '--wall', '1m'], {
      keepStdinOpen: true,
      stdin: jsonl(requests),
      // The second request is at work by then: both were read at once.
      onStdout: (_text, child) => setTimeout(() => pressControlC(child), 300),
    });
    expect(ended).toMatchObject({ code: 130, stderr: '' });
    const results = linesOf(ended.stdout).map((line) => JSON.parse(line));
    expect(results.map(({ id, error }) => [id, error?.code ?? null])).toEqual([
      [1, null],
      [2, 'ERR_CANCELLED'],
    ]);
  });

  it('slow tools of one request do not hold up the others', SLOW, async () => {
    const cwd = folder({ 't.yaml': 'tools: { tool.t.Slow: { args: [], cases: [{ returns: 1, delayMs: 600 }] } }\n' });
    const requests = Array.from({ length: 48 }, (_, id) => ({ id, src: command('emit tool.t.Slow()') }));
    const started = performance.now();
    const { results } = await answers(jsonl(requests), [...ONE_WORKER, '--max-workers', '6', '--tools', 't.yaml'], { cwd });
    expect(results.map(({ id, emits }) => [id, emits])).toEqual(requests.map(({ id }) => [id, ['1']]));
    // One after the other they would take 29 s; six at a time, they take 5 s.
    expect(performance.now() - started).toBeLessThan(20_000);
  });

  it('takes no files and none of the flags that belong in a request', async () => {
    for (const args of [['a.ns'], ['--call', 'f'], ['--global', 'g=1'], ['--event', 'e'], ['--json']]) {
      const ended = await within(['run', '--jsonl', ...args]);
      expect(ended).toMatchObject({ code: 2, stdout: '' });
      expect(linesOf(ended.stderr)).toHaveLength(1);
    }
  });
});
