// @module-tag slow
import { expect, it } from 'vitest';
import { Sandbox } from '../../src/sandbox/index.ts';
import { warmupFrames } from '../../src/worker/warmup.ts';
import { handlers } from '../sandbox/kit.ts';

it('the program that warms a worker up is one that succeeds, and the warm-up ends after it', async () => {
  const frames = warmupFrames(64 * 1024 * 1024);
  const { t, input } = JSON.parse(frames.read() ?? '');
  const rest = Array.from({ length: 4 }, () => frames.read());
  expect([t, ...rest]).toEqual(['run', '{"t":"ok","value":1}', '{"t":"prepare"}', '{"t":"prepare"}', null]);
  await using sandbox = await Sandbox.create({ concurrency: 1 });
  const seen = handlers();
  const { result } = await sandbox.run(input, seen);
  expect(result.error).toBeNull();
  expect(seen.calls).toMatchObject([{ name: 'tool.host.call' }]);
  expect(seen.emits).toEqual(['y', 'y', '2 of 2', 'y', 'nil']);
});
