// @module-tag slow
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forgetPeak, residence, workerPid } from '../../bench/residence.ts';
import type { Runtime } from '../../src/entries/index.ts';
import { arena, attack, MB, TIGHT } from './kit.ts';
import { type Attack, ENDLESS, FLOODS, HOARDS, TEXTS } from './programs.ts';

let runtime: Runtime;
beforeAll(async () => {
  runtime = await arena();
});
afterAll(() => runtime.close());

const MEMORY = TIGHT.memoryBytes ?? 0;
/** What V8 compiles meanwhile, and the isolate that is prepared for the next run. */
const NOISE = 4 * MB;

/** What computes without end and holds little ends after this as it would after ten times as much. */
const BRIEF = { fuel: 2_000_000, cpuMs: 400 };
const brief = ({ options, ...each }: Attack): Attack => ({
  ...each,
  options: { ...options, limits: { ...BRIEF, ...options?.limits } },
});

const run = ({ source, ending, options }: Attack) => attack(runtime, source, ending, options);
/** Of the attacks that shall do more than compute, the time ends those that do no more. */
const runBriefly = (each: Attack) => run(each.ending?.limits?.includes('cpuMs') ? brief(each) : each);

describe('programs that compute without end', () => {
  it.each(ENDLESS)('AL3-7-2: $name', async (each) => {
    await run(brief(each));
  });
});

describe('programs that hold as much as they can', () => {
  it.each(HOARDS)('AL3-7-3: $name is refused by the account, and the process keeps to 1.25 times the limit', async (each) => {
    const pid = workerPid();
    forgetPeak(pid);
    const base = residence(pid).now;
    const { usage, outputComplete } = await run(each);
    expect(usage.peakMemoryBytes).toBeLessThanOrEqual(MEMORY);
    expect(outputComplete).toBeUndefined();
    if (each.given !== true) expect(residence(pid).peak - base).toBeLessThan(1.25 * MEMORY + NOISE);
  });
});

describe('programs that try to drown the host', () => {
  it.each(FLOODS)('AL3-7-5: $name', async (each) => {
    const { emits, whispers } = await runBriefly(each);
    expect(emits.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0)).toBeLessThanOrEqual(TIGHT.outputBytes ?? 0);
    expect(whispers.reduce((sum, { text }) => sum + Buffer.byteLength(text) + 1, 0)).toBeLessThanOrEqual(TIGHT.scratchBytes ?? 0);
  });
});

describe('texts as attacks', () => {
  it.each(TEXTS)('$name', async (each) => {
    const result = await runBriefly(each);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    if (each.name === 'names of the host language') expect(result.emits).toEqual(['true']);
  });
});
