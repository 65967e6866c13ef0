import { defineConfig } from 'vitest/config';
import { MORE_TRIES } from './test/groups.ts';

/** Tests that need Debian packages or a second Node line; `.ci/run` installs what they need. */
export default defineConfig({
  test: {
    ...MORE_TRIES,
    include: ['test/machine/**/*.test.ts'],
    globalSetup: 'test/environment.ts',
    pool: 'forks',
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
