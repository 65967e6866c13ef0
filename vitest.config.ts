import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { ALONE, ELSEWHERE, LONGEST, PROCESSES, REMOVALS, TIMED } from './test/groups.ts';

/** Begins with the files that take longest: one that began last would run on while the other cores have nothing to do. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const at = LONGEST.findIndex((file) => moduleId.endsWith(file));
      return at < 0 ? LONGEST.length : at;
    };
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}

/** A group of files; groups run one after the other. */
function group(name: string, order: number, include: readonly string[], options: object) {
  return { extends: true as const, test: { name, sequence: { groupOrder: order }, include: [...include], ...options } };
}

export default defineConfig({
  test: {
    globalSetup: 'test/temporary.ts',
    pool: 'forks',
    maxWorkers: '100%',
    // A command is a process that starts another one; beside other tests on few cores that can take seconds.
    testTimeout: 60_000,
    hookTimeout: 20_000,
    sequence: { sequencer: LongestFirst },
    projects: [
      // These files share a few processes, each of which loads the source once. That saves a tenth of all the time.
      group('logic', 0, ['test/**/*.test.ts'], {
        exclude: [...ELSEWHERE, ...PROCESSES, ...TIMED, ...ALONE],
        isolate: false,
      }),
      group('alone', 1, ALONE, {}),
      // These files often wait for the processes that they start, so one more than there are cores runs at a time.
      group('processes', 2, PROCESSES, { exclude: [...REMOVALS], maxWorkers: availableParallelism() + 1 }),
      // One file at a time, so that none disturbs another.
      group('timed', 3, TIMED, { exclude: [...PROCESSES], fileParallelism: false }),
      group('removals', 4, REMOVALS, {}),
    ],
  },
});
