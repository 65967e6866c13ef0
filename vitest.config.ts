import { defineConfig } from 'vitest/config';

const TIMED = [
  'test/attack/**/*.test.ts',
  'test/sandbox/**/*.test.ts',
  'test/worker/**/*.test.ts',
  'test/cli/**/*.test.ts',
  'test/bench/**/*.test.ts',
  'test/mcp/**/*.test.ts',
];

/** Tests that look at clocks and processes run after the others and one file at a time, so that none disturbs another. */
export default defineConfig({
  test: {
    pool: 'forks',
    testTimeout: 20_000,
    hookTimeout: 20_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'logic',
          include: ['test/**/*.test.ts'],
          exclude: ['test/machine/**', ...TIMED],
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: { name: 'timed', include: TIMED, fileParallelism: false, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
