import { describe, expect, it } from 'vitest';
import { Ledger } from '../../src/sandbox/ledger.ts';
import type { GuestCall, OutFrame, TaggedJson } from '../../src/wire/protocol.ts';
import { inputOf } from './input.ts';

const ledger = (limits: Parameters<typeof inputOf>[2] = {}): Ledger => new Ledger(inputOf('nothing', {}, limits));
const out = (emits: readonly string[], values: readonly TaggedJson[] = emits, whispers: OutFrame['whispers'] = []): OutFrame => ({
  t: 'out',
  emits,
  values,
  whispers,
});
/** The units of a frame whose values must be counted. */
const UNCOUNTED = Number.POSITIVE_INFINITY;
const at = { fork: 'f', source: 'src', line: 1, column: 1 };
const tool = (seq: number, args: readonly TaggedJson[] = []): GuestCall => ({ t: 'tool', seq, name: 'tool.x', args, at });
const prompt: GuestCall = { t: 'prompt', seq: 1, text: 'x'.repeat(100), at };
const NOTHING = { fuel: 0, cpuMs: 0, wallMs: 0, peakMemoryBytes: 0, toolCalls: 0, outputBytes: 0 };

describe("the host's account of a run", () => {
  it('begins with nothing', () => {
    const { outputBytes, toolCalls, fuel, nestedCpuMs } = ledger();
    expect({ outputBytes, toolCalls, fuel, nestedCpuMs }).toEqual({ outputBytes: 0, toolCalls: 0, fuel: 0, nestedCpuMs: 0 });
    expect(ledger().usage(NOTHING, 5)).toEqual(NOTHING);
  });

  it('counts a line of output with its line feed', () => {
    const account = ledger();
    expect([account.out(out(['ab'])), account.outputBytes]).toEqual([null, 3]);
    expect([account.out(out(['é', ''])), account.outputBytes]).toEqual([null, 7]);
  });

  it('counts all emits of a frame, whatever is whispered in it', () => {
    const account = ledger({ emits: 3 });
    const whisper = { to: 'a', text: 'b' };
    expect(account.out(out(['a', 'b'], ['a', 'b'], [whisper, whisper]))).toBeNull();
    expect(account.out(out(['c', 'd']))).toMatchObject({ limit: 'emits', allowed: 3, used: 4 });
  });

  it('counts nothing more once a limit is breached', () => {
    const account = ledger({ emits: 1 });
    const breach = account.out(out(['aa', 'bb']));
    expect(breach).toMatchObject({ limit: 'emits', used: 2 });
    expect(account.outputBytes).toBe(0);
    expect(account.call(tool(1), UNCOUNTED)).toBe(breach);
    expect(account.out(out(['c']))).toBe(breach);
    expect([account.toolCalls, account.fuel, account.outputBytes]).toEqual([0, 0, 0]);
  });

  it('counts values that are no texts by their size, many units for a byte of output', () => {
    const list = Array.from({ length: 10_000 }, () => 1);
    expect(ledger({ outputBytes: 10_000 }).out(out(['x'], [list]))).toBeNull();
    expect(ledger({ outputBytes: 2 }).out(out(['x'], [list]))).toMatchObject({ limit: 'outputBytes', allowed: 2 });
    // The text of an emit is its value, and counts once.
    expect(ledger({ outputBytes: 10_001 }).out(out(['y'.repeat(10_000)]))).toBeNull();
  });

  it('counts the calls of tools, and the fuel of all calls', () => {
    const account = ledger({ toolCalls: 2, toolBytes: 10 });
    expect([account.call(prompt, UNCOUNTED), account.toolCalls, account.fuel]).toEqual([null, 0, 100]);
    expect([account.call(tool(1), UNCOUNTED), account.call(tool(2), UNCOUNTED), account.toolCalls]).toEqual([null, null, 2]);
    expect(account.call(tool(3), UNCOUNTED)).toMatchObject({ limit: 'toolCalls', allowed: 2, used: 3 });
    expect([account.toolCalls, account.fuel]).toEqual([2, 300]);
    expect(ledger({ toolBytes: 10 }).call(tool(1, ['x'.repeat(9)]), UNCOUNTED)).toMatchObject({
      limit: 'toolBytes',
      allowed: 10,
    });
  });

  it('18: counts no arguments of a frame that is too short for the limit', () => {
    const long = tool(1, ['x'.repeat(9)]);
    expect(ledger({ toolBytes: 10 }).call(long, 11)).toMatchObject({ limit: 'toolBytes', allowed: 10 });
    expect(ledger({ toolBytes: 10 }).call(long, 10)).toBeNull();
  });

  it('counts the calls of each tool from one', () => {
    const account = ledger({ toolCallsPerTool: 2 });
    expect([account.call(tool(1), UNCOUNTED), account.call(tool(2), UNCOUNTED)]).toEqual([null, null]);
    expect(account.call({ ...tool(3), name: 'tool.y' } as GuestCall, UNCOUNTED)).toBeNull();
    expect(account.call(tool(4), UNCOUNTED)).toMatchObject({ limit: 'toolCallsPerTool', allowed: 2, used: 3 });
  });

  it('believes usage in whole units, from what it counted up to the limits', () => {
    const account = ledger({ fuel: 1000 });
    account.charge({ fuel: 5, toolCalls: 1, cpuMs: 2 });
    const claimed = { ...NOTHING, fuel: 7.9, peakMemoryBytes: 3.9, cpuMs: 90, wallMs: 90 };
    expect(account.usage(claimed, 10)).toEqual({
      fuel: 7,
      cpuMs: 12,
      wallMs: 10,
      peakMemoryBytes: 3,
      toolCalls: 1,
      outputBytes: 0,
    });
    expect(account.usage({ ...claimed, fuel: 1e9 }, 10).fuel).toBe(1000);
    expect(account.usage({ ...claimed, fuel: 1, cpuMs: 0 }, 10)).toMatchObject({ fuel: 5, cpuMs: 2 });
  });

  it('knows the forks of procedures by numbers that the calls so far allow', () => {
    const known = (fork: string, seq: number): boolean => ledger().knows({ ...at, fork }, seq);
    expect([known('f', 1), known('f.1', 1), known('f.2', 2), known('f.9', 10)]).toEqual([true, true, true, true]);
    expect([known('f.2', 1), known('f.0', 5), known('f.', 5), known('g.1', 5), known('f.1.1', 5), known('f.01', 5)]).toEqual(
      Array(6).fill(false),
    );
    const account = ledger();
    expect(account.knows({ ...at, fork: 'f.2' }, 2)).toBe(true);
    // The fork of the last call is known.
    expect(account.knows({ ...at, fork: 'f.2' }, 1)).toBe(true);
  });
});
