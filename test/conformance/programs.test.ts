import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRuntime, type Runtime } from '../../src/index.ts';
import { inProcess, inSandbox, observed } from './both.ts';
import { readChunks } from './chunks.ts';

const FOLDER = new URL('programs', import.meta.url).pathname;
const files = readdirSync(FOLDER).map((name) => ({ name, chunks: readChunks(join(FOLDER, name)) }));
const programs = files.flatMap(({ chunks }) => chunks);

let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime();
});
afterAll(() => runtime.close());

describe.each(files)('programs, $name', ({ chunks }) => {
  it.each(chunks)('$title', async (chunk) => {
    const here = inProcess(chunk);
    expect(observed(here, chunk.expected)).toEqual(chunk.expected);
    // the driver's standard input says and trims a little differently, which the memory of texts shows
    const same = chunk.stdin === null ? here : { ...here, peakMemoryBytes: expect.any(Number) };
    expect(await inSandbox(runtime, chunk)).toEqual(same);
  });
});

describe('the programs', () => {
  it('are at least 60, each of 20 to 80 lines and with its own title', () => {
    expect(programs.length).toBeGreaterThanOrEqual(60);
    expect(new Set(programs.map(({ title }) => title)).size).toBe(programs.length);
    const odd = programs.filter(({ source }) => linesOf(source) < 20 || linesOf(source) > 80);
    expect(odd.map(({ title, source }) => `${title}: ${linesOf(source)} lines`)).toEqual([]);
  });

  it('each expects something, a third of them that something fails', () => {
    const { length } = programs.filter(({ expected }) => expected.emits.length + expected.eventErrors.length > 0);
    expect(length).toBe(programs.length);
    const failing = programs.filter(({ source }) => /on error|#!!|#!event/.test(source));
    expect(failing.length).toBeGreaterThan(programs.length / 3);
  });
});

/** Lines that are not blank. */
function linesOf(source: string): number {
  return source.split('\n').filter((line) => line.trim() !== '').length;
}
