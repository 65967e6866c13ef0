import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { createVitest } from 'vitest/node';
import type { Mutant } from './mutants.ts';

/** What the main process asks of a runner: the tests that have to notice a mutant; without a mutant they must pass. */
export interface Task {
  readonly mutant: Mutant | null;
  readonly tests: readonly string[];
}

/** What came of a task: the name of a test that failed, or null when all passed. */
export interface Verdict {
  readonly failed: string | null;
}

/**
 * A process of its own, in a copy of the repository: runs the tests of one task after the other. The main process kills it
 * when a mutant keeps its tests from ending.
 */
const root = process.argv[2] ?? '.';
process.chdir(root);
const vitest = await createVitest(
  { root, watch: true, bail: 1, reporters: [{}], pool: 'forks', maxWorkers: 1, fileParallelism: false, clearScreen: false },
  { server: { watch: null } },
);
await vitest.standalone();

/** Puts a text in the place of a source file, and of what was built from it alone: tests run both. */
function put(file: string, text: string): void {
  const built = join(root, 'dist', file.replace(/\.ts$/, '.js'));
  const script = stripTypeScriptTypes(text).replace(/(from '\.[^']*)\.ts'/g, "$1.js'");
  if (existsSync(built)) writeFileSync(built, script.replace(/(import\('\.[^']*)\.ts'/g, "$1.js'"));
  writeFileSync(join(root, file), text);
  vitest.invalidateFile(join(root, file));
}

async function run({ mutant, tests }: Task): Promise<Verdict> {
  const original = mutant === null ? '' : readFileSync(join(root, mutant.file), 'utf8');
  try {
    if (mutant !== null) put(mutant.file, `${original.slice(0, mutant.start)}${mutant.replacement}${original.slice(mutant.end)}`);
    // A few files at a time, the nearest first: most mutants are noticed by the first.
    for (let next = 0, many = 1; next < tests.length; next += many, many = 8) {
      const specifications = await vitest.globTestSpecifications(tests.slice(next, next + many).map((test) => join(root, test)));
      vitest.state.errorsSet.clear();
      const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications);
      for (const module of testModules) {
        const [broken] = module.errors();
        if (broken !== undefined) return { failed: `${module.moduleId}: ${broken.message}` };
        for (const test of module.children.allTests('failed')) return { failed: test.fullName };
        if (module.state() === 'failed') return { failed: `${module.moduleId} failed` };
      }
      if (unhandledErrors.length > 0) return { failed: 'an error outside of any test' };
    }
    return { failed: null };
  } finally {
    if (mutant !== null) put(mutant.file, original);
  }
}

process.on('message', (task: Task) => {
  run(task).then(
    (verdict) => process.send?.(verdict),
    (error: unknown) => process.send?.({ failed: `the runner failed: ${String(error)}` } satisfies Verdict),
  );
});
process.send?.('ready');
