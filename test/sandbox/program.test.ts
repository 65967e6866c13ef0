// @module-tag slow
import { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type LimitOptions, Sandbox } from '../../src/sandbox/index.ts';
import type { RunInput, Source } from '../../src/wire/protocol.ts';
import { DEEP_PROGRAMS } from '../guest/shapes.ts';
import { closeSandboxes, handlers, inputOf, never, REAL, sandboxOf } from './kit.ts';

afterAll(closeSandboxes);

const MB = 1024 * 1024;

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await sandboxOf({ files: REAL });
});

/** Programs with the real parser and interpreter; here it is their way through worker and isolate that is tested. */
const program = (sources: readonly Source[] | string, limits: LimitOptions = {}): RunInput => ({
  ...inputOf('', {}, limits),
  globals: {},
  sources: typeof sources === 'string' ? [{ name: 'src', text: sources }] : sources,
});
const command = (...lines: string[]): string => `command\n${lines.join('\n')}\nendcommand\n`;

describe('a program', () => {
  it('is parsed in the worker, executed in an isolate, and its output arrives', async () => {
    const seen = handlers();
    const { result, usage, errors, outputComplete } = await sandbox.run(program(command('emit 1 + 2')), seen);
    expect(seen.emits).toEqual(['3']);
    expect(result).toMatchObject({ ok: true, phase: 'exec', error: null });
    expect(usage.fuel).toBeGreaterThan(0);
    expect(errors).toEqual([]);
    expect(outputComplete).toBe(true);
  });

  it('with syntax errors in two files does not start: all of them are listed, the first is the error', async () => {
    let started = false;
    const sources = [
      { name: 'a.ns', text: command('emit 1 +') },
      { name: 'b.ns', text: command('set = 1') },
    ];
    const { result, errors } = await sandbox.run(program(sources), {
      ...handlers(),
      onStarted: () => {
        started = true;
      },
    });
    expect(started).toBe(false);
    expect(errors.map(({ file, line }) => [file, line])).toEqual([
      ['a.ns', 2],
      ['b.ns', 2],
    ]);
    const { message } = result.error ?? {};
    expect(result).toMatchObject({ ok: false, phase: 'parse' });
    expect(result.error).toMatchObject({ kind: 'syntax', code: 'NS15', nsCode: 15, name: 'Syntax', source: 'a.ns', line: 2 });
    expect(message).toBe(errors[0]?.message);
  });

  it('P24, finding 19: the isolate has stack for the largest frames at the greatest depth', async () => {
    const seen = handlers();
    const text = DEEP_PROGRAMS['guardedFors'] ?? '';
    const { result } = await sandbox.run({ ...program(text), call: { name: 'f', args: [1e6] } }, seen);
    expect(result.error).toBeNull();
    expect(seen.emits).toEqual(['maximum evaluation depth of 10,000 exceeded']);
  });

  it('that was parsed before gives the same result and the same errors again', async () => {
    const text = command('emit "x"', 'emit nothing_here()');
    const first = await sandbox.run(program([{ name: 'one', text }]), handlers());
    const second = await sandbox.run(program([{ name: 'one', text }]), handlers());
    const renamed = await sandbox.run(program([{ name: 'two', text }]), handlers());
    expect(second.result).toEqual(first.result);
    expect(first.result.error?.source).toBe('one');
    expect(renamed.result.error?.source).toBe('two');
    expect((await sandbox.run(program([{ name: 'one', text }], { sourceBytes: 20 }), handlers())).result.error?.limit).toBe(
      'sourceBytes',
    );
  });

  it('has the limits of its own input, whether these are sent again or not', async () => {
    const text = command('emit 1');
    const one = await sandboxOf({ files: REAL });
    const write = vi.spyOn(Socket.prototype, 'write');
    const usual = Object.freeze({ ...program(text).limits });
    const tight = Object.freeze({ ...usual, sourceBytes: 5 });
    const open = { ...usual };
    const breached: (string | undefined)[] = [];
    for (const limits of [usual, usual, tight, tight, usual, open, open]) {
      breached.push((await one.run({ ...program(text), limits }, handlers())).result.error?.limit);
      // Equal limits are sent once. Those that are not frozen may be others when they come again.
      if (limits === open) open.sourceBytes = 5;
    }
    const runs = write.mock.calls.map(([frame]) => String(frame)).filter((frame) => frame.includes('{"t":"run"'));
    write.mockRestore();
    await one.close();
    expect(breached).toEqual([undefined, undefined, 'sourceBytes', 'sourceBytes', undefined, undefined, 'sourceBytes']);
    expect(runs.map((frame) => frame.includes('"limits"'))).toEqual([true, false, true, false, true, false, true]);
  });

  it('calls a tool and goes on with its answer', async () => {
    const seen = handlers(async () => ({ t: 'ok', value: 'pong' }));
    const { result } = await sandbox.run(program(command('emit tool.net.Ping(1, "a")')), seen);
    expect(result.ok).toBe(true);
    expect(seen.emits).toEqual(['pong']);
    expect(seen.calls).toMatchObject([
      { t: 'tool', seq: 1, name: 'tool.net.ping', args: [1, 'a'], at: { source: 'src', line: 2 } },
    ]);
  });

  it('A3-11.1-6: `while true` with 100 ms of CPU ends with ERR_QUOTA at its line', async () => {
    const spent: number[] = [];
    for (const _ of Array(3)) {
      const { result, usage } = await sandbox.run(
        program(command('while true', 'set x = 1', 'endwhile'), { cpuMs: 100 }),
        handlers(),
      );
      expect(result.error).toMatchObject({ kind: 'quota', code: 'ERR_QUOTA', limit: 'cpuMs', source: 'src' });
      spent.push(usage.cpuMs);
    }
    // On a busy machine the same work takes more CPU time now and then.
    expect(Math.min(...spent)).toBeLessThan(125);
  });

  it('A3-11.1-7: a string doubled for ever is refused before the memory is taken, and the worker lives on', async () => {
    const text = command('set s = "x"', 'while true', 'set s = s + s', 'endwhile');
    const { result, usage, outputComplete } = await sandbox.run(program(text, { memoryBytes: 32 * MB }), handlers());
    expect(result.error).toMatchObject({ kind: 'quota', code: 'ERR_QUOTA', limit: 'memoryBytes', allowed: 32 * MB });
    expect(usage.peakMemoryBytes).toBeLessThanOrEqual(32 * MB);
    expect(outputComplete).toBe(true);
  });

  it('A3-11.1-8: a tool that never answers: ERR_TIMEOUT at the deadline, with the place of the call', async () => {
    const { result } = await sandbox.run(program(command('emit tool.net.Ping()'), { wallMs: 100 }), handlers(never));
    expect(result.error).toMatchObject({ kind: 'timeout', code: 'ERR_TIMEOUT', limit: 'wallMs', source: 'src', line: 2 });
  });

  it('of one run is never seen by the next: variables, procedures, handlers', async () => {
    const leave = 'func left() means\n  return 1\nendfunc\non event "e" do\n  emit "heard"\nendon\n';
    await sandbox.run(
      program([
        { name: 'lib', text: leave },
        { name: 'src', text: command('set x = 1') },
      ]),
      handlers(),
    );
    const seen = handlers();
    await sandbox.run({ ...program(command('emit x')), events: [{ name: 'e', source: 's', payload: null }] }, seen);
    expect(seen.emits.join()).not.toContain('heard');
    expect(seen.emits.join()).not.toContain('1');
    const { result } = await sandbox.run(program(command('emit left()')), handlers());
    expect(result.error?.code).toBe('NS2');
  });

  it('of one megabyte is parsed, handed over and executed within its limits', async () => {
    const text = command(...Array<string>(40_000).fill('set a = 1 + 2 * 3'));
    const { result } = await sandbox.run(program(text, { cpuMs: 20_000 }), handlers());
    expect(result.error).toBeNull();
  });
});

describe('parsing without running', () => {
  it('tells what a file holds, and which tools it calls', async () => {
    const text =
      'func b(needs x) means\n  return tool.Net.Ping(x)\nendfunc\nfunc a() means\n  set y = tool.fs.read("f") + tool.net.ping(1)\nendfunc\n';
    const { diagnostics, files } = await sandbox.parse([{ name: 'lib.ns', text }], MB);
    expect(diagnostics).toEqual([]);
    expect(files).toEqual([
      {
        name: 'lib.ns',
        kind: 'library',
        commandBlocks: 0,
        procedures: ['b', 'a'],
        signatures: ['b(x)', 'a()'],
        metadata: [],
        events: 0,
        tools: ['tool.fs.read', 'tool.net.ping'],
      },
    ]);
  });

  it('lists the errors of every file', async () => {
    const { diagnostics, files } = await sandbox.parse(
      [
        { name: 'good.ns', text: command('emit 1') },
        { name: 'bad.ns', text: command('emit') + command('set') },
      ],
      MB,
    );
    expect(files.map(({ name }) => name)).toEqual(['good.ns']);
    expect(diagnostics.map(({ file }) => file)).toEqual(['bad.ns', 'bad.ns']);
  });
});

it("the package's own bundles are the default", async () => {
  await using own = await Sandbox.create({ concurrency: 1 });
  const seen = handlers();
  await own.run(program(command('emit "here"')), seen);
  expect(seen.emits).toEqual(['here']);
});
