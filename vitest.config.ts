import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { ALONE, ELSEWHERE, LONGEST, PROCESSES, REMOVALS, SECOND_TRY, TIMED } from './test/groups.ts';

/**
 * Begins with the files that take longest: one that began last would run on while the other cores have nothing to do. Files with a
 * process of their own come before all others, because a process that files share ends when another kind of file comes next.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId, project }: TestSpecification): number => {
      const at = LONGEST.findIndex((file) => moduleId.endsWith(file));
      return (project.config.isolate ? 0 : LONGEST.length) + (at < 0 ? LONGEST.length : at);
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
    // The files of a group share a few processes, each of which loads the source once: half a second of CPU time less a file.
    isolate: false,
    // A command is a process that starts another one; beside other tests on few cores that can take seconds.
    testTimeout: 60_000,
    hookTimeout: 20_000,
    sequence: { sequencer: LongestFirst },
    projects: [
      group('logic', 0, ['test/**/*.test.ts'], { exclude: [...ELSEWHERE, ...PROCESSES, ...TIMED, ...ALONE] }),
      // These files often wait for the processes that they start, so one more than there are cores runs at a time.
      group('alone', 1, ALONE, { ...SECOND_TRY, exclude: [...REMOVALS], isolate: true, maxWorkers: availableParallelism() + 1 }),
      group('processes', 1, PROCESSES, { ...SECOND_TRY, exclude: [...TIMED, ...ALONE], maxWorkers: availableParallelism() + 1 }),
      // One file at a time, so that none disturbs another.
      group('timed', 2, TIMED, { ...SECOND_TRY, isolate: true, fileParallelism: false }),
      group('removals', 3, REMOVALS, {}),
    ],
  },
});
