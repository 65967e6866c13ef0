import { availableParallelism } from 'node:os';
import { relative } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import {
  ALONE,
  APART,
  type Apart,
  COMPUTING,
  ELSEWHERE,
  LONGEST,
  MORE_TRIES,
  REMOVALS,
  REPLACING,
  SLOW_FILES,
  TIMED,
} from './test/groups.ts';

/** Begins with the files that take longest: one that began last would run on while the other cores have nothing to do. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const at = LONGEST.indexOf(relative(import.meta.dirname, moduleId));
      return at < 0 ? LONGEST.length : at;
    };
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}

/** A group of files; groups of one order run at the same time. */
function group(name: string, order: number, include: readonly string[], options: object) {
  return { extends: true as const, test: { name, sequence: { groupOrder: order }, include: [...include], ...options } };
}

const cores = availableParallelism();
/** These files wait for other processes most of the time: with twice as many of them as cores, the cores are hardly ever idle. */
const maxWorkers = 2 * cores;

/** A group whose tests need more than npm. */
function apart({ name, files, timeout, setup }: Apart, order: number) {
  return group(name, order, [`${files}/*.test.ts`], {
    ...MORE_TRIES,
    ...(setup !== undefined && { globalSetup: [setup], fileParallelism: false }),
    isolate: true,
    experimental: { viteModuleRunner: true },
    testTimeout: timeout,
    hookTimeout: timeout,
  });
}

/** Options of the groups whose files share processes. */
const shared = {
  setupFiles: 'test/setup.ts',
  // Parsers make many short-lived objects: with room for them, V8 copies fewer of them. That is 9 % of such a file's CPU time.
  execArgv: ['--max-semi-space-size=64'],
};

export default defineConfig({
  test: {
    globalSetup: 'test/environment.ts',
    pool: 'forks',
    // The files of a group share a few processes, each of which loads and warms up the source once: half a second of CPU time less a file.
    isolate: false,
    // Node runs the sources as they are. Vitest's own loader makes a call of each use of an import: 20 % of the tests' CPU time.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // A command is a process that starts another one; beside other tests on few cores that can take seconds.
    testTimeout: 120_000,
    hookTimeout: 60_000,
    sequence: { sequencer: LongestFirst },
    tags: [{ name: 'slow', description: 'left to `npm run test:all`' }],
    projects: [
      // `npm test`: with the filter `!slow`.
      group('computing', 0, COMPUTING, { ...shared, exclude: [...SLOW_FILES], maxWorkers: cores }),
      group('waiting', 1, ['test/**/*.test.ts'], {
        ...shared,
        exclude: [...COMPUTING, ...REPLACING, ...SLOW_FILES],
        maxWorkers,
      }),
      group('replacing', 1, REPLACING, { isolate: true, maxWorkers, experimental: { viteModuleRunner: true } }),
      // `npm run test:all`: these, and the tests with SLOW among those above.
      group('alone', 2, ALONE, { ...MORE_TRIES, isolate: true, maxWorkers }),
      group('processes', 2, SLOW_FILES, {
        ...MORE_TRIES,
        ...shared,
        exclude: [...ALONE, ...TIMED, ...REPLACING, ...REMOVALS, ...ELSEWHERE],
        maxWorkers,
      }),
      // One file at a time, so that none disturbs another.
      group('timed', 3, TIMED, { ...MORE_TRIES, fileParallelism: false }),
      group('removals', 4, REMOVALS, { maxWorkers: cores }),
      ...APART.map((each, index) => apart(each, 5 + index)),
    ],
  },
});
