// @module-tag slow
import { Socket } from 'node:net';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { closeSandboxes, handlers, inputOf, rogue, run, sandboxOf } from './kit.ts';

afterAll(closeSandboxes);

const MB = 1024 * 1024;
const usage = { fuel: 1, cpuMs: 1, wallMs: 1, peakMemoryBytes: 1, toolCalls: 0, outputBytes: 0 };
const good = { ok: true, phase: 'exec', result: null, eventErrors: [], error: null, ...usage };
const started = { frame: { t: 'started', id: 1 } };
const out = { frame: { t: 'out', emits: ['one'], values: ['one'], whispers: [] } };
const result = { frame: { t: 'result', id: 1, result: good, usage, errors: [], last: false } };

/** Lets nothing else happen in this process meanwhile. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

describe('a worker that keeps silent about the start of its program', () => {
  it('is watched all the same, however long its parser might need: what it grows by meanwhile is no start to measure from', async () => {
    const sandbox = await sandboxOf({ files: rogue({ run: [{ grow: 256 * MB }, { sleep: 60_000 }] }) });
    const sources = [{ name: 'a', text: `# ${'x'.repeat(MB / 4)}\n` }];
    const input = { ...inputOf('nothing', {}, { memoryBytes: MB, wallMs: 4_000 }), sources };
    const { result: ended } = await sandbox.run(input, handlers());
    expect(ended.error).toMatchObject({ code: 'ERR_QUOTA', limit: 'memoryBytes' });
    await sandbox.close();
  });

  it('may say so late, once: its program has its whole wall time from then on, and the host was told once', async () => {
    const sandbox = await sandboxOf({ files: rogue({ run: [{ sleep: 150 }, started, { sleep: 150 }, out, result] }) });
    const seen: string[] = [];
    const { result: ended } = await sandbox.run(inputOf('nothing', {}, { wallMs: 220 }), {
      ...handlers(),
      onStarted: () => void seen.push('started'),
      onOut: ({ emits }) => void seen.push(...emits),
    });
    expect(ended).toMatchObject({ ok: true, error: null });
    expect(seen).toEqual(['started', 'one']);
    await sandbox.close();
  });

  it('may be scheduled before the host that sent its run: its time counts from before the send', async () => {
    const claims = { ...result.frame, usage: { ...usage, wallMs: 50 } };
    const sandbox = await sandboxOf({ files: rogue({ run: [started, { frame: claims }] }) });
    const { write } = Socket.prototype;
    const spy = vi.spyOn(Socket.prototype, 'write').mockImplementation(function (
      this: Socket,
      ...args: Parameters<typeof write>
    ) {
      const written = write.apply(this, args);
      block(60);
      return written;
    });
    const { usage: used } = await sandbox.run(inputOf('nothing'), handlers());
    spy.mockRestore();
    expect(used.wallMs).toBe(50);
    await sandbox.close();
  });

  it('and does nothing is not taken for one whose program has started: on a busy machine its turn may come late', async () => {
    const sandbox = await sandboxOf({ files: rogue({ run: [{ sleep: 400 }, started, out, result] }) });
    const { result: ended } = await sandbox.run(inputOf('nothing', {}, { wallMs: 100 }), handlers());
    expect(ended.error).toBeNull();
    await sandbox.close();
  });

  it('and a handler that throws when the host takes the start for granted: ERR_WORKER, and the host lives', async () => {
    const sandbox = await sandboxOf();
    const onStarted = (): void => {
      throw new Error('no');
    };
    const { result: ended } = await sandbox.run(inputOf('spin'), { ...handlers(), onStarted });
    expect(ended.error).toMatchObject({ code: 'ERR_WORKER' });
    await sandbox.close();
  });
});

describe('a run that is cancelled before anything was heard of it', () => {
  it('gives what the worker had said by then, in order, and says that more may be missing', async () => {
    const sandbox = await sandboxOf({ files: rogue({ run: [started, out, { sleep: 60_000 }] }) });
    const given = new AbortController();
    const seen: string[] = [];
    const running = sandbox.run(
      inputOf('nothing'),
      {
        ...handlers(),
        onStarted: () => void seen.push('started'),
        onOut: ({ emits }) => void seen.push(...emits),
      },
      given.signal,
    );
    block(300);
    given.abort();
    const { result: ended, outputComplete, usage: used } = await running;
    expect(ended).toMatchObject({ phase: 'exec', error: { code: 'ERR_CANCELLED' } });
    expect(seen).toEqual(['started', 'one']);
    expect(used.outputBytes).toBe(4);
    expect(outputComplete).toBe(false);
    await sandbox.close();
  });

  it('may have lost output of a program that ran already', async () => {
    const sandbox = await sandboxOf();
    const given = new AbortController();
    const running = sandbox.run(inputOf('spin'), handlers(), given.signal);
    given.abort();
    const { result: ended, outputComplete } = await running;
    expect(ended.error).toMatchObject({ code: 'ERR_CANCELLED' });
    expect(outputComplete).toBe(false);
    await sandbox.close();
  });
});

it('after the five seconds that parsing may take, a worker is ended that kept silent, and none that spoke while the host was busy', async () => {
  const [honest, silent] = [await sandboxOf(), await sandboxOf({ files: rogue({ run: [{ sleep: 60_000 }] }) })];
  const spoken = run(honest, 'echo', { value: 5 });
  const unspoken = run(silent, 'nothing', {}, { wallMs: 60_000 });
  block(5_200);
  expect((await spoken).result.result).toBe(5);
  const { result: late } = await unspoken;
  expect(late.error).toMatchObject({ code: 'ERR_TIMEOUT', message: 'parsing took longer than 5000 ms' });
  await Promise.all([honest.close(), silent.close()]);
});

it('a program that ended in time was not late because the host was busy', async () => {
  const sandbox = await sandboxOf();
  const answer = handlers(async () => {
    setImmediate(() => block(400));
    return { t: 'ok', value: null };
  });
  const { result: ended } = await sandbox.run(inputOf('call', {}, { wallMs: 200 }), answer);
  expect(ended.error).toBeNull();
  await sandbox.close();
});
