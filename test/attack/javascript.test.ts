// @module-tag slow
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox, SandboxResult } from '../../src/sandbox/index.ts';
import { withGuest } from '../sandbox/input.ts';
import { closeSandboxes, handlers, inputOf, run, sandboxOf, timed } from '../sandbox/kit.ts';
import { MB } from './kit.ts';

afterAll(closeSandboxes);

const files = withGuest(new URL('holes.js', import.meta.url));
const LIMITS = { memoryBytes: 16 * MB, cpuMs: 500, wallMs: 3_000, toolCalls: 100, outputBytes: MB, journalBytes: MB };
/** Attacks that compute and hold little. Less time ends them as well; the others need theirs to outgrow their memory. */
const COMPUTING: ReadonlySet<string> = new Set(
  'fill bigint regex endless microtasks sort recursion async getter holes join clockFlood'.split(' '),
);

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await sandboxOf({ files });
});

/** Runs an attack; afterwards the host has not grown and the next run is served. */
async function attack(name: string): Promise<SandboxResult> {
  const before = process.memoryUsage.rss();
  const limits = COMPUTING.has(name) ? { ...LIMITS, cpuMs: 50 } : LIMITS;
  const { value, ms } = await timed(() => sandbox.run(inputOf(name, {}, limits), handlers()));
  expect(ms).toBeLessThan(15_000);
  expect(process.memoryUsage.rss() - before).toBeLessThan(128 * MB);
  const next = await timed(() => run(sandbox, 'echo', { value: name }));
  expect(next.value.result.result).toBe(name);
  // 200 ms with the machine to itself (`bench quotas`).
  expect(next.ms).toBeLessThan(3_000);
  expect(Reflect.get({}, 'polluted')).toBeUndefined();
  return value;
}

describe('the known attacks on isolates, each a typed quota and the host unharmed', () => {
  it.each([
    'fill',
    'keys',
    'duplicates',
    'arrays',
    'objects',
    'maps',
    'text',
    'json',
    'bigint',
    'brackets',
    'regex',
    'endless',
    'microtasks',
    'sort',
    'finally',
    'recursion',
    'async',
    'getter',
    'typed',
    'holes',
    'join',
    'pad',
    'symbols',
    'promises',
    'closures',
    'classes',
    'normalize',
    'replace',
    'flat',
  ])('AL3-7-3: %s', async (name) => {
    const { result } = await attack(name);
    // Two of them V8 itself refuses: an exception, which an interpreter that threw it would be a defect of.
    const typed = result.error?.kind === 'internal' ? ['ERR_INTERNAL'] : ['ERR_QUOTA', 'ERR_TIMEOUT'];
    expect(typed).toContain(result.error?.code);
    if (result.error?.kind === 'quota') expect(['memoryBytes', 'cpuMs']).toContain(result.error.limit);
  });

  it('memory of WebAssembly is not to be had', async () => {
    expect((await attack('wasm')).result).toMatchObject({ ok: true, result: [] });
  });
});

describe('abuse of the bridge', () => {
  it.each([
    ['calls', ['ERR_QUOTA', 'ERR_TIMEOUT']],
    ['backwards', ['ERR_WORKER']],
    ['negative', ['ERR_WORKER']],
    ['notCounted', ['ERR_WORKER']],
    ['deepArgument', ['ERR_WORKER', 'ERR_INTERNAL']],
    ['clockFlood', ['ERR_QUOTA', 'ERR_TIMEOUT']],
    ['liar', ['ERR_WORKER', 'ERR_INTERNAL']],
    ['overflow', ['ERR_WORKER', 'ERR_INTERNAL']],
    ['hugeError', ['ERR_WORKER', 'ERR_QUOTA', 'ERR_INTERNAL']],
  ])('%s ends typed', async (name, codes) => {
    const { result } = await attack(name);
    expect(codes).toContain(result.error?.code);
  });

  it('finding 3: output without end stops at the limit, on the side of the host', async () => {
    expect((await attack('outputFlood')).result.error).toMatchObject({ code: 'ERR_QUOTA', limit: 'outputBytes', allowed: MB });
  });

  it.each(['longName', 'longSource', 'polluted'])('%s does the host no harm', async (name) => {
    await attack(name);
  });

  it('nothing but text goes through the ports, and nothing that they are made of can be reached', async () => {
    const { result } = await attack('objects2');
    expect(result.error?.code ?? result.result).toEqual('ERR_INTERNAL');
  });

  it('there is no way out of the realm, and none to change what the interpreter stands on', async () => {
    expect((await attack('escape')).result).toMatchObject({ ok: true, result: [] });
  });
});
