import { defineConfig } from 'vitest/config';
import { MORE_TRIES } from './test/groups.ts';

/** Tests of the tarball in projects of others. They fetch what a user of the package fetches, and Nodes of other lines. */
export default defineConfig({
  test: {
    ...MORE_TRIES,
    include: ['test/package/**/*.test.ts'],
    globalSetup: ['test/environment.ts', 'test/package/setup.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
});
