import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, beforeEach, type RunnerTask, type RunnerTestCase } from 'vitest';

/**
 * Vitest loads this file before each test file while mutants are judged together. It repeats every case: twice without a mutant,
 * to see whether the case can be repeated, then with each mutant that `.plan` lists for it. After a failure the case must pass
 * without the mutant and fail with it once more. `.verdicts` gets `CASE noticed ID`, with `late` behind it after a time-out;
 * `CASE spoiled ID` when the case no longer passes; `CASE done`; and `CASE once` when it cannot be repeated.
 */
const plan: Readonly<Record<string, readonly number[]>> = JSON.parse(readFileSync('.plan', 'utf8'));
const noticed = new Set<number>();
let strayErrors = 0;
for (const event of ['unhandledRejection', 'uncaughtException']) process.on(event, () => (strayErrors += 1));

/** What a case does at the moment: it runs with a mutant, without it after a failure, or with it again. */
interface Step {
  readonly name: 'plain' | 'with' | 'without' | 'again';
  readonly mutant: number;
}

function activate(mutant: number): void {
  writeFileSync('.mutant', String(mutant));
  if (globalThis.__mutation !== undefined) globalThis.__mutation.active = String(mutant);
}

function casesOf(tasks: readonly RunnerTask[]): RunnerTestCase[] {
  return tasks.flatMap((task) => (task.type === 'suite' ? casesOf(task.tasks) : [task]));
}

// biome-ignore lint/correctness/noEmptyPattern: Vitest reads from the pattern that the hook needs no fixture
beforeAll(({}, suite) => {
  for (const task of casesOf(suite.tasks)) task.repeats = 3 + 3 * (plan[task.id] ?? []).length;
});

let waiting: number[] = [];
let step: Step = { name: 'plain', mutant: 0 };

function start(name: Step['name'], mutant: number): void {
  step = { name, mutant };
  strayErrors = 0;
  activate(name === 'with' || name === 'again' ? mutant : 0);
}

beforeEach(({ task, skip }) => {
  const attempt = task.result?.repeatCount ?? 0;
  const failed = attempt > 0 && (strayErrors > 0 || task.result?.attempts?.at(-1)?.state !== 'pass');
  const { name, mutant } = step;
  const say = (verdict: string): void => appendFileSync('.verdicts', `${task.id} ${verdict}\n`);
  if (attempt === 0) waiting = [...(plan[task.id] ?? [])];
  if (attempt < 2 && !failed) return start('plain', 0);
  if (name === 'with' && failed) return start('without', mutant);
  if (name === 'without' && !failed) return start('again', mutant);
  if (name === 'without') {
    say(`spoiled ${mutant}`);
    process.exit(1);
  }
  if (name === 'again' && failed) {
    const late = task.result?.attempts?.at(-1)?.errors?.[0]?.message?.includes('timed out') === true;
    say(`noticed ${mutant}${late ? ' late' : ''}`);
    noticed.add(mutant);
  }
  const next = name === 'plain' && failed ? undefined : waiting.find((id) => !noticed.has(id));
  if (next !== undefined) {
    waiting = waiting.slice(waiting.indexOf(next) + 1);
    return start('with', next);
  }
  activate(0);
  say(name === 'plain' && failed ? 'once' : 'done');
  skip();
});
