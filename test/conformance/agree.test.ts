import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRuntime, type Runtime } from '../../src/index.ts';
import { inProcess, inSandbox, type Outcome } from './both.ts';
import { readChunks } from './chunks.ts';

/** Every chunk that asks no tool or agent does the same in the sandbox as in this process. */
const FOLDER = new URL('.', import.meta.url).pathname;
const files = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.ns'))
  .map((name) => ({
    name,
    chunks: readChunks(join(FOLDER, name)).filter((chunk) => !chunk.host && !/\b(?:tool|ask)\b/.test(chunk.source)),
  }))
  .filter(({ chunks }) => chunks.length > 0);

let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime();
});
afterAll(() => runtime.close());

describe.each(files)('$name, in the sandbox as in this process', ({ chunks }) => {
  it.each(chunks)('$title', async (chunk) => {
    expect(essence(await inSandbox(runtime, chunk))).toEqual(essence(inProcess(chunk)));
  });
});

/** The driver words the errors of `promptuser` in its own way, and leaves out hints; all else is the same. */
function essence({ emits, values, whispers, prompts, eventErrors, error, fuel }: Outcome): unknown {
  const place = error === null ? null : [error.code, error.source, error.line, error.column, error.stack, error.limit];
  return { emits, values, whispers, prompts, eventErrors, place, fuel };
}
