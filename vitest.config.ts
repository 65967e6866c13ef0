import { availableParallelism } from 'node:os';
import { matchesGlob, relative } from 'node:path';
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
  PROCESSES,
  REMOVALS,
  REPLACING,
  TIMED,
} from './test/groups.ts';

/**
 * Begins with the files that take longest: one that began last would run on while the other cores have nothing to do. Files with a
 * process of their own come before all others, because a process that files share ends when another kind of file comes next. Of the
 * rest, those that start many processes are spread over the others, so that the cores always have work.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const first: [at: number, file: TestSpecification][] = [];
    const starting: TestSpecification[] = [];
    const others: TestSpecification[] = [];
    for (const file of sorted) {
      const path = relative(import.meta.dirname, file.moduleId);
      const at = LONGEST.indexOf(path);
      if (file.project.config.isolate) first.push([at < 0 ? LONGEST.length : at, file]);
      else if (at >= 0) first.push([LONGEST.length + 1 + at, file]);
      else (PROCESSES.some((glob) => matchesGlob(path, glob)) ? starting : others).push(file);
    }
    first.sort(([a], [b]) => a - b);
    return [...first.map(([, file]) => file), ...spread(starting, others)];
  }
}

/** Both lists in one, each in its order and evenly. */
function spread<T>(a: readonly T[], b: readonly T[]): T[] {
  const placed = [a, b].flatMap((list) => list.map((item, index) => [(index + 0.5) / list.length, item] as const));
  return placed.sort(([x], [y]) => x - y).map(([, item]) => item);
}

/** A group of files; groups of one order run at the same time. */
function group(name: string, order: number, include: readonly string[], options: object) {
  return { extends: true as const, test: { name, sequence: { groupOrder: order }, include: [...include], ...options } };
}

const cores = availableParallelism();
/** These files wait for other processes most of the time: with twice as many of them as cores, the cores are hardly ever idle. */
const maxWorkers = 2 * cores;

/** A group that `npm test` leaves out. */
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
    projects: [
      group('computing', 0, COMPUTING, { ...shared, exclude: [...ALONE, ...TIMED, ...REPLACING], maxWorkers: cores }),
      group('alone', 1, ALONE, { ...MORE_TRIES, exclude: [...REMOVALS], isolate: true, maxWorkers }),
      group('replacing', 1, REPLACING, { ...MORE_TRIES, isolate: true, maxWorkers, experimental: { viteModuleRunner: true } }),
      group('waiting', 1, ['test/**/*.test.ts'], {
        ...shared,
        exclude: [...COMPUTING, ...ELSEWHERE, ...TIMED, ...ALONE, ...REPLACING],
        maxWorkers,
      }),
      // One file at a time, so that none disturbs another.
      group('timed', 2, TIMED, { ...MORE_TRIES, fileParallelism: false }),
      group('removals', 3, REMOVALS, { maxWorkers: cores }),
      ...APART.map((each, index) => apart(each, 4 + index)),
    ],
  },
});
