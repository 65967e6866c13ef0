// @module-tag slow
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../src/sandbox/index.ts';
import { MAX_FRAME_DEPTH } from '../../src/wire/frames.ts';
import { closeSandboxes, handlers, inputOf, run, sandboxOf } from '../sandbox/kit.ts';

afterAll(closeSandboxes);

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await sandboxOf();
});

describe('raw JavaScript in the isolate, as if the interpreter had a hole', () => {
  it('sees only the globals of the language that neither clock, chance, memory nor code from text come with', async () => {
    const { result } = await run(sandbox, 'globals');
    expect(String(result.result).split(',')).toEqual(
      (
        'AggregateError Array ArrayBuffer BigInt BigInt64Array BigUint64Array Boolean DataView Error EvalError Float16Array ' +
        'Float32Array Float64Array Infinity Int16Array Int32Array Int8Array Iterator JSON Map Math NaN Number Object Promise Proxy ' +
        'RangeError ReferenceError Reflect RegExp Set String SuppressedError Symbol SyntaxError TypeError URIError Uint16Array ' +
        'Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakSet decodeURI decodeURIComponent encodeURI encodeURIComponent ' +
        'globalThis isFinite isNaN parseFloat parseInt undefined'
      ).split(' '),
    );
  });

  it('AL3-7-4: finds no way to a function constructor, a clock, chance, the host or a changeable intrinsic', async () => {
    expect((await run(sandbox, 'probe')).result).toMatchObject({ ok: true, result: [] });
  });

  it('objects and errors of its own stay assignable under the frozen prototypes', async () => {
    const { result } = await run(sandbox, 'assign');
    expect(result.result).toEqual(['Mine: m', ['toString', 'constructor', 'hasOwnProperty', '__proto__'], 1, []]);
  });

  it('leaves nothing behind for the next run of the same worker', async () => {
    for (let i = 0; i < 3; i++) {
      expect((await run(sandbox, 'leave')).result.ok).toBe(true);
      const { result } = await run(sandbox, 'find');
      const none = 'undefined';
      expect(result.result).toEqual([none, none, none, 1, 2, 'a', none, none, none]);
    }
  });

  it('passes nothing but strings to the host', async () => {
    const { result } = await run(sandbox, 'rawValue');
    expect(result.error?.code).toBe('ERR_INTERNAL');
  });

  it('a frame of the right kind with wrong fields is refused by the host, and the worker is replaced', async () => {
    const { result } = await run(sandbox, 'raw', { frames: ['{"t":"out","emits":[1],"values":[1],"whispers":[]}'] });
    expect(result.error).toMatchObject({ kind: 'internal', code: 'ERR_WORKER' });
    expect(result.error?.message).toContain('emits[0]');
    expect((await run(sandbox, 'echo', { value: 1 })).result.result).toBe(1);
  });

  it('a result that nests too deeply is refused, and no stack of the host overflows', async () => {
    const { result } = await run(sandbox, 'deep', { levels: MAX_FRAME_DEPTH });
    expect(result.error?.code).toBe('ERR_WORKER');
    expect((await run(sandbox, 'deep', { levels: 900 })).result.ok).toBe(true);
    const million = await run(sandbox, 'deep', { levels: 1_000_000 });
    expect(['ERR_WORKER', 'ERR_QUOTA', 'ERR_INTERNAL']).toContain(million.result.error?.code);
  });
});

describe('a run', () => {
  it('gives the interpreter its input, without the sources', async () => {
    const input = inputOf('input', { x: [1] });
    const { result } = await sandbox.run(input, handlers());
    const { sources: _, ...rest } = input;
    expect(result.result).toEqual({ ...rest, files: [] });
  });

  it('has its own use of everything: CPU and elapsed time begin with the program', async () => {
    await run(sandbox, 'loop', {}, { cpuMs: 50 });
    const { usage } = await run(sandbox, 'nothing');
    expect(usage.cpuMs).toBeLessThan(20);
    expect(usage).toMatchObject({ fuel: 7, peakMemoryBytes: 11 });
  });

  it('200 runs, each in a fresh isolate, end in the order they were asked for', async () => {
    const ended: number[] = [];
    const runs = Array.from({ length: 200 }, async (_, i) => {
      const { result } = await run(sandbox, 'echo', { value: i });
      ended.push(i);
      return result.result;
    });
    const expected = Array.from({ length: 200 }, (_, i) => i);
    expect(await Promise.all(runs)).toEqual(expected);
    expect(ended).toEqual(expected);
  });
});
