import { defineConfig } from 'vitest/config';

/** Tests that start many processes: at most as many files at a time as there are cores. */
const PROCESSES = ['test/cli/**/*.test.ts', 'test/mcp/**/*.test.ts', 'test/bench/**/*.test.ts', 'test/attack/**/*.test.ts'];
/** Tests that look at clocks: one file at a time, so that none disturbs another. */
const TIMED = ['test/sandbox/**/*.test.ts', 'test/worker/**/*.test.ts'];

/** Builds with one check removed: `npm run test:removals`. */
const REMOVALS = ['test/attack/removals.test.ts'];

/** A group of files; groups run one after the other. */
function group(name: string, order: number, options: object) {
  return { extends: true as const, test: { name, sequence: { groupOrder: order }, ...options } };
}

export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: '100%',
    testTimeout: 20_000,
    hookTimeout: 20_000,
    projects: [
      group('logic', 0, {
        include: ['test/**/*.test.ts'],
        exclude: ['test/machine/**', 'test/package/**', 'test/interop/**', ...PROCESSES, ...TIMED],
      }),
      group('processes', 1, { include: PROCESSES, exclude: REMOVALS }),
      group('timed', 2, { include: TIMED, fileParallelism: false }),
      group('removals', 3, { include: REMOVALS }),
    ],
  },
});
