import { type Habit, habitsOf } from '../../conformance/habits/corpus.ts';
import { withEdits } from '../../grammar/repair/apply.ts';
import { type PageResult, runInPage } from '../../src/browser/engine.ts';
import { checkEnvironment } from '../../src/runtime/index.ts';
import { ToolRegistry } from '../../src/tools/index.ts';
import { toPublicCheck } from '../../src/wire/findings.ts';
import { checkSources } from '../../src/worker/check.ts';
import { pureTools } from '../../stdlib-tools/index.ts';

const MAX_BYTES = 1_000_000;
const TOOLS = pureTools();
export const ENVIRONMENT = checkEnvironment(
  { policy: false },
  new ToolRegistry(TOOLS),
  null,
  TOOLS.map(({ canonicalName }) => canonicalName),
);

/** What a program does: its emits, and the message of an error. A program with a procedure `main` runs by it. */
export function doneBy(text: string): readonly string[] {
  const { error, emits } = run(text);
  return error === null ? emits : [...emits, `error: ${error.message}`];
}

function run(text: string): PageResult {
  const call = /^\s*func main\b/m.test(text) ? { call: { name: 'main', args: [] } } : {};
  return runInPage(text, { ...call, lines: ['a line'] });
}

/** The text after the edits of the first check; with `safe` after those that are safe. */
export function fixed(text: string, safe = false): string {
  const report = checkSources([{ name: 'src', text }], MAX_BYTES, ENVIRONMENT);
  const fixes = toPublicCheck(report).findings.flatMap(({ fix }) => (fix === undefined || (safe && !fix.safe) ? [] : [fix]));
  return withEdits(
    text,
    fixes.flatMap(({ edits }) => edits),
  );
}

/** Of the slips of a file: how many there are, and which ones the first proposed fix leaves wrong. */
export interface Share {
  readonly slips: number;
  readonly wrong: readonly Habit[];
  /** Slips that the safe fixes alone mend. */
  readonly safe: number;
  /** Slips of which the safe fixes make a program that runs to its end and does something else. */
  readonly misread: readonly Habit[];
}

/** The share of the slips of a file whose first proposed fix compiles and does what is expected. */
export function shareOf(file: string): Share {
  const habits = habitsOf(file);
  const right = ({ right: expected }: Habit, text: string): boolean => doneBy(text).join('\n') === doneBy(expected).join('\n');
  const safely = habits.map((habit) => ({ habit, text: fixed(habit.slip, true) }));
  return {
    slips: habits.length,
    wrong: habits.filter((habit) => !right(habit, fixed(habit.slip))),
    safe: safely.filter(({ habit, text }) => right(habit, text)).length,
    misread: safely.flatMap(({ habit, text }) => (text !== habit.slip && run(text).ok && !right(habit, text) ? [habit] : [])),
  };
}
