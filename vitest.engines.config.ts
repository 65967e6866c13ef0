import { defineConfig } from 'vitest/config';
import { MORE_TRIES } from './test/groups.ts';

/** Tests of the stores on real engines: PGlite and a server of Postgres. */
export default defineConfig({
  test: {
    ...MORE_TRIES,
    include: ['test/engines/**/*.test.ts'],
    globalSetup: ['test/environment.ts', 'test/engines/setup.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
