import { defineConfig } from 'vitest/config';
import { MORE_TRIES } from './test/groups.ts';

/** Tests of both halves of the Model Context Protocol against the conformance suite, public servers and the official inspector. */
export default defineConfig({
  test: {
    ...MORE_TRIES,
    include: ['test/interop/**/*.test.ts'],
    globalSetup: ['test/environment.ts', 'test/interop/setup.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
