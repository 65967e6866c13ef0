// @module-tag slow
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { CallIo, RunHandlers, Sandbox } from '../../src/sandbox/index.ts';
import { Watchdog } from '../../src/sandbox/watchdog.ts';
import { RuntimeClosedError } from '../../src/wire/errors.ts';
import type { TaggedJson } from '../../src/wire/protocol.ts';
import { closeSandboxes, handlers, inputOf, never, OK, run, sandboxOf } from './kit.ts';

afterAll(closeSandboxes);

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await sandboxOf();
});

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('a call to the host', () => {
  it('carries its arguments to the handler and its answer back', async () => {
    const value: TaggedJson = { list: [1, 'two', null], text: 'äöü \ud83d\ude00 \u0000' };
    const seen = handlers(async (call) => ({ t: 'ok', value: call.t === 'tool' ? (call.args[0] ?? null) : null }));
    const { result } = await sandbox.run(inputOf('call', { name: 'tool.echo', arg: value }), seen);
    expect(seen.calls).toEqual([
      { t: 'tool', seq: 1, name: 'tool.echo', args: [value], at: { fork: 'f', source: 'src', line: 1, column: 1 } },
    ]);
    expect(result.result).toEqual({ t: 'ok', value });
  });

  it('comes after everything that was emitted before it, and before what is emitted after it', async () => {
    const order: string[] = [];
    await sandbox.run(inputOf('emitAndCall'), {
      onStarted: () => void order.push('started'),
      onOut: ({ emits }) => void order.push(...emits),
      onCall: async () => {
        order.push('call');
        return OK;
      },
    });
    expect(order).toEqual(['started', 'one', 'call', 'two', 'three']);
  });

  it('a thousand calls of one run are answered in order', async () => {
    const seen = handlers();
    const { result } = await sandbox.run(inputOf('calls', { count: 1000 }), seen);
    expect(result).toMatchObject({ ok: true, result: 1000 });
    expect(seen.calls.map((call) => call.seq)).toEqual(Array.from({ length: 1000 }, (_, i) => i + 1));
  });

  it('a handler that throws ends the run, typed, not the host', async () => {
    const broken = handlers(async () => {
      throw new Error('no such database');
    });
    const { result } = await sandbox.run(inputOf('call'), broken);
    expect(result.error).toMatchObject({ kind: 'internal', code: 'ERR_WORKER' });
    expect(result.error?.message).toContain('no such database');
    const text = handlers(() => Promise.reject('gone'));
    expect((await sandbox.run(inputOf('call'), text)).result.error?.message).toContain('failed: gone');
    const throwing: RunHandlers = {
      onOut: () => {
        throw new Error('disk full');
      },
      onCall: async () => OK,
    };
    const out = await sandbox.run(inputOf('emitAndCall'), throwing);
    expect(out.result.error?.message).toContain('disk full');
    expect((await run(sandbox, 'nothing')).result.ok).toBe(true);
  });

  it('an answer that cannot be sent ends the run, typed', async () => {
    const bad = handlers(async () => ({ t: 'ok', value: 1n as unknown as TaggedJson }));
    const { result } = await sandbox.run(inputOf('call'), bad);
    expect(result.error).toMatchObject({ kind: 'internal', code: 'ERR_WORKER' });
    expect(result.error?.message).toContain('BigInt');
  });

  it('an answer that is none, or whose nested loop paid what is no amount, ends the run, typed', async () => {
    for (const answer of ['null', '{"t":"ok","value":1,"spent":null}']) {
      const { result } = await sandbox.run(
        inputOf('call'),
        handlers(async () => JSON.parse(answer)),
      );
      expect(result.error).toMatchObject({ kind: 'internal', code: 'ERR_WORKER' });
      expect(result.error?.message).toContain("the host's handler of a call failed");
    }
  });

  it('leaves no timer behind: it would keep the host alive', async () => {
    const [set, clear] = [vi.spyOn(globalThis, 'setTimeout'), vi.spyOn(globalThis, 'clearTimeout')];
    expect((await sandbox.run(inputOf('call', {}, { toolMs: 12_345 }), handlers())).result.ok).toBe(true);
    const timer = set.mock.results[set.mock.calls.findIndex(([, ms]) => ms === 12_345)]?.value;
    expect(timer).toBeDefined();
    expect(clear.mock.calls.some(([cleared]) => cleared === timer)).toBe(true);
    vi.restoreAllMocks();
  });

  it('has the whole toolMs also after an ask, which has no time of its own', async () => {
    const at = { fork: 'f', source: 'src', line: 1, column: 1 };
    const frames = [
      { t: 'ask', seq: 1, model: 'm', prompt: 'p', options: null, left: { fuel: 1, memoryBytes: 1, toolCalls: 1 }, at },
      { t: 'tool', seq: 2, name: 'tool.x', args: [], at },
    ];
    const slow = handlers(async () => {
      await sleep(60);
      return OK;
    });
    const { result } = await sandbox.run(inputOf('raw', { frames: frames.map((frame) => JSON.stringify(frame)) }), slow);
    expect(result.error).toBeNull();
    expect(slow.calls.map(({ t }) => t)).toEqual(['ask', 'tool']);
  });

  it("the handler's halt is the run's end, whatever the program says, with the place it tells", async () => {
    const error = {
      kind: 'policy',
      code: 'NS1003',
      nsCode: 1003,
      name: 'Policy',
      message: 'not allowed',
      source: null,
      line: null,
      column: null,
      stack: [],
    } as const;
    const { result, outputComplete } = await sandbox.run(
      inputOf('call'),
      handlers(async () => ({ t: 'halt', error })),
    );
    expect(result).toMatchObject({ ok: false, error: { ...error, source: 'src', line: 1, column: 1 } });
    expect(outputComplete).toBe(true);
  });

  it('a result that comes after the call was ended is ignored', async () => {
    let late: Promise<unknown> = Promise.resolve();
    const slow = handlers(() => {
      const answer = sleep(120).then(() => OK);
      late = answer;
      return answer;
    });
    const { result } = await sandbox.run(inputOf('call', {}, { wallMs: 50 }), slow);
    expect(result.error?.code).toBe('ERR_TIMEOUT');
    await late;
    expect((await run(sandbox, 'echo', { value: 3 })).result.result).toBe(3);
  });
});

describe('variables of the calling fork', () => {
  it('are read and set while the call is open, one question at a time', async () => {
    const seen: unknown[] = [];
    const { result } = await sandbox.run(
      inputOf('variables'),
      handlers(async (_call, io) => {
        seen.push(await io.getVar('a'), await io.getVar('b'));
        seen.push(await io.setVar('b', [2]), await io.setVar('sealed', 0), await io.getVar('b'));
        return { t: 'ok', value: 'done' };
      }),
    );
    expect(seen).toEqual([
      { found: true, value: 1 },
      { found: false, value: null },
      null,
      'sealed is read-only',
      { found: true, value: [2] },
    ]);
    expect(result.result).toEqual({ reply: { t: 'ok', value: 'done' }, variables: { a: 1, b: [2] } });
  });

  it('questions asked at once, and not waited for, are all asked before the answer goes out', async () => {
    const asked: Promise<unknown>[] = [];
    const { result } = await sandbox.run(
      inputOf('variables'),
      handlers(async (_call, io) => {
        for (let i = 0; i < 20; i++) asked.push(io.setVar(`v${i}`, i));
        return OK;
      }),
    );
    expect(await Promise.all(asked)).toEqual(Array(20).fill(null));
    expect(Object.keys(Object(Reflect.get(Object(result.result), 'variables')))).toHaveLength(21);
  });

  it('cannot be reached once the call is over', async () => {
    let kept: CallIo | undefined;
    await sandbox.run(
      inputOf('variables'),
      handlers(async (_call, io) => {
        kept = io;
        return OK;
      }),
    );
    await expect(kept?.getVar('a')).rejects.toThrow(RuntimeClosedError);
    await expect(kept?.setVar('a', 1)).rejects.toThrow(RuntimeClosedError);
  });
});

describe('cancellation', () => {
  const cancelled = { kind: 'cancelled', code: 'ERR_CANCELLED' };

  it('before the run', async () => {
    const { result } = await sandbox.run(inputOf('nothing'), handlers(), AbortSignal.abort());
    expect(result).toMatchObject({ ok: false, phase: 'request', error: cancelled });
  });

  it('while it waits in the queue', async () => {
    const order: string[] = [];
    const hog = sandbox.run(inputOf('loop', {}, { cpuMs: 300 }), handlers()).finally(() => order.push('hog'));
    const abort = new AbortController();
    const seen = handlers();
    const waiting = sandbox.run(inputOf('emitAndCall'), seen, abort.signal).finally(() => order.push('waiting'));
    await sleep(20);
    abort.abort();
    expect((await waiting).result).toMatchObject({ phase: 'request', error: cancelled });
    expect(seen.calls).toEqual([]);
    expect((await hog).result.error?.code).toBe('ERR_QUOTA');
    expect(order).toEqual(['waiting', 'hog']);
  });

  it('while it computes, before any limit, and the next run is served', async () => {
    const abort = new AbortController();
    const onStarted = (): void => void setTimeout(() => abort.abort(), 30);
    const { result, outputComplete } = await sandbox.run(inputOf('loop'), { ...handlers(), onStarted }, abort.signal);
    expect(result).toMatchObject({ ok: false, phase: 'exec', error: cancelled });
    expect(outputComplete).toBe(false);
    expect((await run(sandbox, 'nothing')).result.ok).toBe(true);
  });

  it("in a call: the handler's signal is aborted with the reason, and the worker lives on", async () => {
    const abort = new AbortController();
    let reason: unknown;
    const { result, outputComplete } = await sandbox.run(
      inputOf('call'),
      handlers((_call, io) => {
        io.signal.addEventListener('abort', () => {
          reason = io.signal.reason;
        });
        setTimeout(() => abort.abort(), 10);
        return new Promise(() => {});
      }),
      abort.signal,
    );
    expect(result).toMatchObject({ ok: false, error: { ...cancelled, source: 'src', line: 1 } });
    expect(outputComplete).toBe(true);
    expect(reason).toMatchObject(cancelled);
  });

  it('a signal that is aborted after the end does nothing', async () => {
    const abort = new AbortController();
    await sandbox.run(inputOf('nothing'), handlers(), abort.signal);
    abort.abort();
    expect((await run(sandbox, 'echo', { value: 1 })).result.result).toBe(1);
  });

  it('aborts the signal of an open call when the worker dies', async () => {
    const aborted = Promise.withResolvers<unknown>();
    const abort = new AbortController();
    const dying = sandbox.run(
      inputOf('stubborn', {}, { wallMs: 60 }),
      handlers((call, io) => {
        io.signal.addEventListener('abort', () => aborted.resolve(io.signal.reason));
        return never(call, io);
      }),
      abort.signal,
    );
    expect(await aborted.promise).toMatchObject({ code: 'ERR_TIMEOUT' });
    expect((await dying).result.error?.code).toBe('ERR_TIMEOUT');
  });
});

it('a run that was watched is not watched after its end', async () => {
  const [add, remove] = [vi.spyOn(Watchdog.prototype, 'add'), vi.spyOn(Watchdog.prototype, 'remove')];
  expect((await run(sandbox, 'loop', {}, { cpuMs: 60 })).result.error?.limit).toBe('cpuMs');
  expect(add.mock.calls.length).toBeGreaterThan(0);
  expect(remove.mock.calls).toEqual(add.mock.calls);
  vi.restoreAllMocks();
});
