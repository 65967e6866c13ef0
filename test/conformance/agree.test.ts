import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { observed } from './both.ts';
import { essence, runHere, Sandboxes, sections } from './suite.ts';

let sandboxes: Sandboxes;
beforeAll(async () => {
  sandboxes = await Sandboxes.open();
});
afterAll(() => sandboxes[Symbol.asyncDispose]());

/** Every program does in the sandbox what it must do, and, where it can run in this process, the same as there. */
describe.each(sections())('$name, in the sandbox', (section) => {
  it.each(section.chunks)('$title', async (chunk) => {
    const there = await sandboxes.run(section, chunk);
    expect(observed(there, chunk.expected)).toEqual(chunk.expected);
    const here = runHere(section, chunk);
    if (here !== null) expect(essence(there)).toEqual(essence(here));
  });
});
