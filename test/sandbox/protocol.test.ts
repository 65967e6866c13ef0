// @module-tag slow
import { afterAll, describe, expect, it } from 'vitest';
import { Sandbox } from '../../src/sandbox/index.ts';
import { ConfigError } from '../../src/wire/errors.ts';
import { ROGUE } from './input.ts';
import { closeSandboxes, handlers, inputOf, type Plan, REAL, rogue, run, sandboxOf } from './kit.ts';

afterAll(closeSandboxes);

const started = { frame: { t: 'started', id: 1 } };
const usage = { fuel: 1, cpuMs: 1, wallMs: 1, peakMemoryBytes: 1, toolCalls: 0, outputBytes: 0 };
const good = { ok: true, phase: 'exec', result: null, eventErrors: [], error: null, ...usage };
const result = { t: 'result', id: 1, result: good, usage, errors: [], last: false };
const forged = { ...result, id: 'next', result: { ...good, result: 'forged' } };
const forgedAnswer = [{ frame: { t: 'started', id: 'next' } }, { frame: forged }];
const long = { ...result, result: { ...good, variables: { kept: [], lost: Array(300_000).fill('x') } } };
const out = { t: 'out', emits: [], values: [], whispers: [] };
const at = { fork: 'f', source: 's', line: 1, column: 1 };
const tool = { t: 'tool', seq: 1, name: 'tool.x', args: [], at };
const left = { fuel: 1, memoryBytes: 1, toolCalls: 1 };
const ask = { t: 'ask', seq: 1, model: 'm', prompt: 'p', options: null, left, at };

/** What the host makes of a worker that answers its first run like this. */
async function answered(steps: readonly object[], wallMs = 60_000): Promise<{ code: string; message: string }> {
  // Under unshare a worker is the first process of its namespace, which no signal of its own ends.
  const sandbox = await sandboxOf({ files: rogue({ run: steps }), launcher: 'none' });
  const { result: ended } = await run(sandbox, 'nothing', {}, { wallMs });
  await sandbox.close();
  const { code = 'none', message = '' } = ended.error ?? {};
  return { code, message };
}

// The attacks themselves are rows of test/attack/attacks.ts.
describe('a worker that breaks the protocol', () => {
  it('a worker that keeps to it is believed', async () => {
    expect((await answered([started, { frame: out }, { frame: result }])).code).toBe('none');
    expect((await answered([{ frame: [started.frame, out, result] }])).code).toBe('none');
  });

  it.each<[string, unknown, string]>([
    ['an empty list', [], 'a list of frames is empty'],
    ['a list in a list', [started.frame, [result]], 'is not an object'],
    ['a list of something else', [started.frame, 1], 'is not an object'],
  ])('%s is no frame', async (_name, frame, message) => {
    const seen = await answered([{ frame }]);
    expect(seen.code).toBe('ERR_WORKER');
    expect(seen.message).toContain(message);
  });

  it('a frame after the result kills the worker, not the result', async () => {
    const files = rogue({ run: [started, { frame: result }, { frame: out }] });
    const sandbox = await sandboxOf({ files });
    expect((await run(sandbox, 'nothing')).result.ok).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const { result: next } = await run(sandbox, 'nothing');
    expect(['none', 'ERR_WORKER']).toContain(next.error?.code ?? 'none');
    await sandbox.close();
  });

  it.each<[string, readonly object[]]>([
    ['together with it', [{ frame: result }, { frame: out }]],
    ['in one list with it', [{ frame: [result, out] }]],
    ['in one list with it, as an answer to the next run', [{ frame: [result, { t: 'started', id: 'next' }, forged] }]],
    ['in part', [{ frame: result }, { bytes: '000000ff7b' }]],
    ['when the next run has begun', [{ frame: result }, { sleep: 30 }, { frame: out }]],
    ['as an answer to the next run, when that has begun', [{ frame: result }, { sleep: 30 }, ...forgedAnswer]],
    ['behind a result that is read in pieces', [{ frame: long }, { sleep: 10 }, ...forgedAnswer]],
  ])('finding 17: frames after the result, sent %s, end their worker and not the next run', async (_name, answer) => {
    const sandbox = await sandboxOf({ files: rogue({ echo: true, run: [started, ...answer] }) });
    const runs = [1, 2, 3].map(() => run(sandbox, 'nothing', {}, { wallMs: 5000 }));
    const ends = (await Promise.all(runs)).map(({ result: ended }) => ended.error?.code ?? ended.result);
    expect(ends).toEqual([null, null, null]);
    expect(sandbox.boundaryBreaches).toBeGreaterThanOrEqual(2);
    await sandbox.close();
  });

  it('finding 17: frames after an answer about sources end their worker and not the next question', async () => {
    const parsed = { t: 'parsed', id: 0, diagnostics: [], files: [] };
    const text = JSON.stringify([{ frame: parsed }, { sleep: 30 }, { frame: { ...parsed, id: 'next' } }]);
    const sandbox = await sandboxOf({ files: { worker: ROGUE, guest: REAL.guest } });
    const asked = [1, 2, 3].map((n) => sandbox.parse([{ name: `s${n}`, text }], 1000));
    expect(await Promise.all(asked)).toEqual(Array(3).fill({ diagnostics: [], files: [] }));
    expect(sandbox.boundaryBreaches).toBeGreaterThanOrEqual(2);
    await sandbox.close();
  });
});

describe('a worker that dies', () => {
  it.each<[string, object, string]>([
    ['exits', { exit: 3 }, 'exit code 3'],
    ['crashes', { signal: 'SIGSEGV' }, 'SIGSEGV'],
    ['is killed', { signal: 'SIGKILL' }, 'SIGKILL'],
  ])('%s: ERR_WORKER that says how', async (_name, step, how) => {
    for (const before of [[], [started], [started, { frame: tool }]]) {
      const seen = await answered([...before, step]);
      expect(seen.code).toBe('ERR_WORKER');
      expect(seen.message).toContain(how);
    }
  });

  it.each([
    ['Reached heap limit Allocation failed - JavaScript heap out of memory', 'SIGABRT'],
    ['Fatal JavaScript invalid size error 536870812 (see crbug.com/1201626)', 'SIGTRAP'],
  ])('out of memory of its own is a quota: %s', async (words, signal) => {
    const stderr = `#\n# FATAL ERROR: ${words}\n#\n`;
    expect((await answered([started, { stderr }, { signal }])).code).toBe('ERR_QUOTA');
  });

  it('a worker that says nothing at all is ended by the wall clock, or while parsing by the bound for that', async () => {
    const seen = await answered([started, { sleep: 60_000 }], 1_000);
    expect(seen.code).toBe('ERR_TIMEOUT');
  });

  it('P34: what nested loops have used is part of the account, also of a worker that is killed or says nothing of it', async () => {
    const spent = { fuel: 700, toolCalls: 4, cpuMs: 300, turns: 1, tokens: 0 };
    for (const [end, code] of [
      [{ sleep: 60_000 }, 'ERR_TIMEOUT'],
      [{ signal: 'SIGKILL' }, 'ERR_WORKER'],
      [{ frame: { ...result, usage: { ...usage, fuel: 5 } } }, undefined],
    ] as const) {
      const sandbox = await sandboxOf({ files: rogue({ run: [started, { frame: ask }, { sleep: 100 }, end] }) });
      const answers = handlers(async () => ({ t: 'ok', value: null, spent }));
      const ended = await sandbox.run(inputOf('nothing', {}, { wallMs: 700 }), answers);
      await sandbox.close();
      expect(ended.result.error?.code).toBe(code);
      expect(ended.usage).toMatchObject({ fuel: 800, toolCalls: 4 });
      if (code !== undefined) expect(ended.usage.cpuMs).toBeGreaterThanOrEqual(300);
    }
  });

  it('a flood on its standard error is kept short', async () => {
    const seen = await answered([started, { stderr: 'x'.repeat(1 << 20) }, { exit: 1 }]);
    expect(seen.code).toBe('ERR_WORKER');
  });
});

describe('a worker that cannot be used', () => {
  it.each<[string, Plan, string]>([
    ['speaks another version', { hello: { version: 99 } }, 'version 99'],
    ['has kept permissions', { hello: { dropped: ['fs.read'] } }, 'still has the permissions'],
    ['starts with something else', { before: [started], hello: false }, "first frame is 'started'"],
    ['dies while starting', { before: [{ stderr: 'no native module' }, { exit: 70 }], hello: false }, 'no native module'],
    ['sends no frame', { before: [{ bytes: '00000000' }], hello: false }, 'empty'],
  ])('%s: create rejects with ConfigError', async (_name, plan, message) => {
    const created = Sandbox.create({ concurrency: 2, files: rogue(plan), launcher: 'none' });
    await expect(created).rejects.toThrow(ConfigError);
    await expect(created).rejects.toThrow(message);
  });

  it('create rejects with ConfigError after every launcher, too', async () => {
    const files = rogue({ before: [{ stderr: 'no native module' }, { exit: 70 }], hello: false });
    const created = Sandbox.create({ concurrency: 2, files });
    await expect(created).rejects.toThrow(ConfigError);
    await expect(created).rejects.toThrow('no native module');
  });

  it('files that are not there: create rejects with ConfigError', async () => {
    const files = { worker: '/nowhere/worker.js', guest: '/nowhere/guest.js' };
    await expect(Sandbox.create({ concurrency: 1, files })).rejects.toThrow(ConfigError);
  });

  it('input that cannot be sent is the mistake of the caller', async () => {
    const sandbox = await sandboxOf();
    const input = { ...inputOf('nothing'), globals: { big: 1n as unknown as null } };
    await expect(sandbox.run(input, handlers())).rejects.toThrow(ConfigError);
    expect((await run(sandbox, 'nothing')).result.ok).toBe(true);
  });
});
