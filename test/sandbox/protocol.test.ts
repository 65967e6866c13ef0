import { describe, expect, it } from 'vitest';
import { Sandbox } from '../../src/sandbox/index.ts';
import { ConfigError } from '../../src/wire/errors.ts';
import { handlers, inputOf, type Plan, rogue, run, sandboxOf, timed } from './kit.ts';

const started = { frame: { t: 'started', id: 1 } };
const usage = { fuel: 1, cpuMs: 1, wallMs: 1, peakMemoryBytes: 1, toolCalls: 0, outputBytes: 0 };
const good = { ok: true, phase: 'exec', result: null, eventErrors: [], error: null, ...usage };
const result = { t: 'result', id: 1, result: good, usage, errors: [], last: false };
const out = { t: 'out', emits: [], values: [], whispers: [] };
const at = { fork: 'f', source: 's', line: 1, column: 1 };
const tool = { t: 'tool', seq: 1, name: 'tool.x', args: [], at };
const left = { fuel: 1, memoryBytes: 1, toolCalls: 1 };
const ask = { t: 'ask', seq: 1, model: 'm', prompt: 'p', options: null, left, at };
const nowhere = { nsCode: null, source: null, line: null, column: null, stack: [] };
const failure = { ...nowhere, kind: 'internal', code: 'ERR_INTERNAL', name: 'Internal', message: 'm' };
const deep = { ...failure, stack: Array(1025).fill({ name: 'p', source: 's', line: 1, column: 1 }) };
const bytesOf = (text: string): string => Buffer.from(text).toString('hex');

/** What the host makes of a worker that answers its first run like this. */
async function answered(steps: readonly object[], plan: Plan = {}): Promise<{ code: string; message: string; ms: number }> {
  const sandbox = await sandboxOf({ files: rogue({ ...plan, run: steps }) });
  const { value, ms } = await timed(() => run(sandbox, 'nothing', {}, { wallMs: 2000 }));
  await sandbox.close();
  const { error } = value.result;
  return { code: error?.code ?? 'none', message: error?.message ?? '', ms };
}

describe('a worker that breaks the protocol is killed, and the caller gets a typed error', () => {
  it('a worker that keeps to it is believed', async () => {
    expect((await answered([started, { frame: out }, { frame: result }])).code).toBe('none');
  });

  it.each<[string, readonly object[], string]>([
    ['no JSON', [{ frame: '{"t":' }], 'not JSON'],
    ['not UTF-8', [{ bytes: '00000002c328' }], 'not UTF-8'],
    ['an empty frame', [{ bytes: '00000000' }], 'empty'],
    ['a frame above the cap', [{ bytes: 'ffffffff' }], 'larger than'],
    ['an unknown type', [{ frame: { t: 'root' } }], 'unknown type'],
    ['a list as frame', [{ frame: [] }], 'not an object'],
    ['a second hello', [{ frame: { t: 'hello', version: 1, pid: 1, node: 'x', dropped: [] } }], "'hello' came out of turn"],
    ['output before the start', [{ frame: out }], "'out' came out of turn"],
    ['a call before the start', [{ frame: tool }], "'tool' came out of turn"],
    ['a second start', [started, started], "'started' came out of turn"],
    ['a start of another run', [{ frame: { t: 'started', id: 2 } }], "'started' came out of turn"],
    ['the result of another run', [started, { frame: { ...result, id: 7 } }], "'result' came out of turn"],
    ['a success without a start', [{ frame: result }], 'before'],
    ['a variable nobody asked for', [started, { frame: { t: 'var', found: false, value: 1, error: null } }], "'var' came out"],
    ['a call with the number of an earlier one', [started, { frame: tool }, { sleep: 100 }, { frame: tool }], 'came after call'],
    ['output while a call is open', [started, { frame: tool }, { frame: out }], "'out' came out of turn"],
    ['a result while a call is open', [started, { frame: tool }, { frame: result }], "'result' came out of turn"],
    ['a success with an error', [started, { frame: { ...result, result: { ...good, ok: false } } }], 'result.error'],
    ['a time below zero', [started, { frame: { ...result, usage: { ...usage, wallMs: -1 } } }], 'usage.wallMs'],
    ['a time beyond numbers', [started, { frame: JSON.stringify(result).replaceAll('"cpuMs":1', '"cpuMs":1e999') }], 'cpuMs'],
    [
      'an error of no kind',
      [started, { frame: { ...result, result: { ...good, ok: false, error: { code: 'X' } } } }],
      'result.error.kind',
    ],
    [
      'an error that only the host gives',
      [started, { frame: { ...result, result: { ...good, ok: false, error: { ...failure, code: 'ERR_WORKER' } } } }],
      'only the host reports ERR_WORKER',
    ],
    [
      'a quota that blames the host by its kind',
      [started, { frame: { ...result, result: { ...good, ok: false, error: { ...failure, code: 'ERR_QUOTA' } } } }],
      "ERR_QUOTA of kind 'internal'",
    ],
    [
      'an error at line 0',
      [started, { frame: { ...result, result: { ...good, ok: false, error: { ...failure, line: 0 } } } }],
      'line',
    ],
    ['a stack without end', [started, { frame: { ...result, result: { ...good, ok: false, error: deep } } }], 'at most 1024'],
    ['a call of another fork', [started, { frame: { ...tool, at: { ...at, fork: 'admin' } } }], 'came from a fork'],
    ['a call of a fork that cannot be', [started, { frame: { ...tool, at: { ...at, fork: 'f.2' } } }], 'came from a fork'],
    ['a missing field', [started, { frame: { t: 'out', emits: [], values: [] } }], 'whispers'],
    ['more values than emits', [started, { frame: { ...out, values: [1] } }], 'values'],
    ['an ask without its remainder', [started, { frame: { ...ask, left: undefined } }], 'left'],
    ['a remainder below zero', [started, { frame: { ...ask, left: { ...left, fuel: -1 } } }], 'left.fuel'],
    ['a remainder beyond numbers', [started, { frame: JSON.stringify(ask).replace('"fuel":1', '"fuel":1e999') }], 'left.fuel'],
    ['half a tool call left', [started, { frame: { ...ask, left: { ...left, toolCalls: 0.5 } } }], 'left.toolCalls'],
    ['a remainder that is a text', [started, { frame: { ...ask, left: { ...left, memoryBytes: '9' } } }], 'left.memoryBytes'],
    ['nesting without end', [started, { frame: '['.repeat(100_000) }], 'nests deeper'],
    ['a cut-off frame', [started, { bytes: `000000ff${bytesOf('{"t":')}` }, { exit: 0 }], 'cut off'],
  ])('%s', async (_name, steps, message) => {
    const seen = await answered([...steps, { sleep: 500 }]);
    expect(seen).toMatchObject({ code: 'ERR_WORKER' });
    expect(seen.message).toContain(message);
    expect(seen.ms).toBeLessThan(450);
  });

  it('a frame after the result kills the worker, not the result', async () => {
    const files = rogue({ run: [started, { frame: result }, { frame: out }] });
    const sandbox = await sandboxOf({ files });
    expect((await run(sandbox, 'nothing')).result.ok).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const { value } = await timed(() => run(sandbox, 'nothing', {}, { wallMs: 500 }));
    expect(['none', 'ERR_WORKER']).toContain(value.result.error?.code ?? 'none');
    await sandbox.close();
  });

  it.each<[string, readonly object[]]>([
    ['together with it', [{ frame: out }]],
    ['in part', [{ bytes: '000000ff7b' }]],
    ['when the next run has begun', [{ sleep: 30 }, { frame: out }]],
  ])('finding 17: frames after the result, sent %s, end their worker and not the next run', async (_name, after) => {
    const sandbox = await sandboxOf({ files: rogue({ echo: true, run: [started, { frame: result }, ...after] }) });
    const runs = [1, 2, 3].map(() => run(sandbox, 'nothing', {}, { wallMs: 5000 }));
    const codes = (await Promise.all(runs)).map(({ result: ended }) => ended.error?.code ?? 'none');
    expect(codes).toEqual(['none', 'none', 'none']);
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

  it('out of memory of its own is a quota', async () => {
    const stderr = 'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n';
    expect((await answered([started, { stderr }, { signal: 'SIGABRT' }])).code).toBe('ERR_QUOTA');
  });

  it('a worker that says nothing at all is ended by the wall clock, or while parsing by the bound for that', async () => {
    const seen = await answered([started, { sleep: 60_000 }]);
    expect(seen.code).toBe('ERR_TIMEOUT');
    expect(seen.ms).toBeLessThan(2200);
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
      expect(ended.usage).toMatchObject({ fuel: 700, toolCalls: 4 });
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
    const created = Sandbox.create({ concurrency: 2, files: rogue(plan) });
    await expect(created).rejects.toThrow(ConfigError);
    await expect(created).rejects.toThrow(message);
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
