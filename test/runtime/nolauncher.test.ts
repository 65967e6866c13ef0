// @module-tag slow
import { expect, it } from 'vitest';
import { createRuntime } from '../../src/runtime/index.ts';

it('18: the first runtime of a process without a launcher warns, in words and with a code; the next ones do not', async () => {
  const warnings: Error[] = [];
  process.on('warning', (warning) => warnings.push(warning));
  for (const launcher of ['none', 'none'] as const) await (await createRuntime({ launcher, concurrency: 1 })).close();
  await new Promise(setImmediate);
  expect(warnings).toMatchObject([
    {
      code: 'NEUROSCRIPT_NO_LAUNCHER',
      message: 'no sandbox of the operating system confines the workers: it was switched off',
    },
  ]);
});
