import { defineConfig } from 'vitest/config';

/** Tests of both halves of the Model Context Protocol against the conformance suite, public servers and the official inspector. */
export default defineConfig({
  test: {
    include: ['test/interop/**/*.test.ts'],
    globalSetup: ['test/temporary.ts', 'test/interop/setup.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
