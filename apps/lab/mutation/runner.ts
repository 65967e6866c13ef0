import { join } from 'node:path';
import { createVitest, type TestModule } from 'vitest/node';
import { defined } from '../../../src/wire/defined.ts';

/** Cases of one test file; all of them when `cases` is missing. */
export interface Task {
  readonly file: string;
  readonly cases?: readonly string[];
  /** Milliseconds that a case may take, unless it says so itself. */
  readonly timeout: number;
  /** Milliseconds without a step after which the process is killed. */
  readonly limit: number;
}

/** A case that ended. */
export interface Case {
  readonly file: string;
  readonly id: string;
  /** The id of the whole file. */
  readonly module: string;
  readonly name: string;
  readonly passed: boolean;
  readonly milliseconds: number;
}

/** What came of a task: the first failure, or null when all passed. */
export interface Verdict {
  readonly failed: { readonly name: string; readonly id: string | null; readonly message: string } | null;
  readonly cases: readonly Case[];
}

/** A process of its own, so that it can be killed when a mutant keeps its tests from ending. Runs one task after the other. */
const root = process.argv[2] ?? '.';
const mode = process.argv[3];
const setup = { record: 'recorder.ts', together: 'judge.ts' }[mode ?? ''];
process.chdir(root);
const vitest = await createVitest(
  {
    root,
    config: false,
    watch: true,
    bail: setup === undefined ? 1 : 0,
    reporters: [{}],
    pool: 'forks',
    maxWorkers: 1,
    fileParallelism: false,
    clearScreen: false,
    include: ['test/**/*.test.ts'],
    setupFiles: setup === undefined ? [] : [join(root, 'apps/lab/mutation', setup)],
  },
  { server: { watch: null } },
);
await vitest.standalone();

async function run({ file, cases, timeout }: Task): Promise<Verdict> {
  const project = vitest.getRootProject();
  Object.assign(project.config, { testTimeout: timeout, hookTimeout: timeout });
  const options = defined({ testIds: cases && [...cases] });
  vitest.state.errorsSet.clear();
  const specification = project.createSpecification(join(root, file), options);
  const { testModules: all, unhandledErrors } = await vitest.runTestSpecifications([specification]);
  // Vitest returns the modules of all runs so far.
  const testModules = all.filter(({ moduleId }) => moduleId === specification.moduleId);
  const failure = testModules.map(failureOf).find((found) => found !== null);
  const outside =
    unhandledErrors.length === 0 ? null : { name: 'outside of any case', id: null, message: String(unhandledErrors[0]) };
  return { failed: failure ?? outside, cases: mode === 'record' ? testModules.flatMap(casesOf) : [] };
}

function failureOf(module: TestModule): Verdict['failed'] {
  for (const test of module.children.allTests('failed'))
    return { name: test.fullName, id: test.id, message: test.result().errors?.[0]?.message ?? '' };
  if (module.state() !== 'failed') return null;
  return { name: module.relativeModuleId, id: null, message: module.errors()[0]?.message ?? '' };
}

function casesOf(module: TestModule): Case[] {
  return [...module.children.allTests()].map((test) => ({
    file: module.relativeModuleId,
    id: test.id,
    module: module.id,
    name: test.fullName,
    passed: test.result().state === 'passed',
    milliseconds: test.diagnostic()?.duration ?? 0,
  }));
}

process.on('message', (task: Task) => {
  run(task).then(
    (verdict) => process.send?.(verdict),
    (error: unknown) => {
      process.stderr.write(`the runner failed: ${String(error)}\n`);
      process.exit(1);
    },
  );
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
