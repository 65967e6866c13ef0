import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Mutant, mutantsOf, sample } from './mutants.ts';
import { Runner } from './process.ts';
import type { Case, Task } from './runner.ts';
import { filesBelow, RECORD, Workspace } from './workspace.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** A case that takes longer is tried last. */
const SLOW_MS = 1000;
/** Milliseconds of cases that may judge one mutant together with others. */
const TOGETHER_MS = 8000;
/** Of the cases that may judge a mutant together with others, which ones do so in each round. */
const ROUNDS: readonly (readonly [from: number, to: number])[] = [
  [0, 3],
  [3, 10],
  [10, Number.POSITIVE_INFINITY],
];
/** What a run costs before its first case starts. */
const START_MS = 500;
/** Cases that look at clocks: they fail on a busy machine, so a failure has to happen twice. */
const TIMED = /^test\/(sandbox|worker|cli|mcp)\//;

/** What can be mutated, and where its tests are. */
const PARTS: Readonly<Record<string, { readonly sources: readonly string[]; readonly tests: readonly string[] }>> = {
  aeiou: { sources: ['src/aeiou', 'src/crypto'], tests: ['test/aeiou', 'test/crypto', 'test/loop/chain.test.ts'] },
  sessions: { sources: ['src/loop/sessions', 'src/loop/log'], tests: ['test/loop'] },
  tools: {
    sources: ['src/tools'],
    tests: [
      'test/tools',
      'test/runtime',
      'test/stdlib-tools/tools.test.ts',
      'test/loop/replay',
      'test/loop/suspend',
      'test/loop/approval.test.ts',
      'test/loop/ask',
    ],
  },
  sandbox: { sources: ['src/sandbox'], tests: ['test/sandbox', 'test/worker', 'test/cli/limits.test.ts'] },
  gate: { sources: ['src/gate'], tests: ['test/gate', 'test/cli/approve.test.ts'] },
};

const { values } = parseArgs({
  options: {
    part: { type: 'string', default: '' },
    count: { type: 'string', default: '300' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', multiple: true },
    seconds: { type: 'string', default: '60' },
    out: { type: 'string' },
  },
});
const part = PARTS[values.part];
if (part === undefined) {
  process.stderr.write(`--part must be one of ${Object.keys(PARTS).join(', ')}\n`);
  process.exit(2);
}

/** What reaches a mutant: cases by themselves, and files outside of their cases, for example while they are loaded. */
interface Reach {
  readonly cases: Set<Case>;
  readonly files: Set<string>;
}

/** The passing cases of every file, what reaches each mutant, and how many mutants a case reaches. */
interface Recording {
  readonly cases: ReadonlyMap<string, readonly Case[]>;
  readonly reached: ReadonlyMap<number, Reach>;
  readonly breadth: ReadonlyMap<Case, number>;
}

/** Of the cases, those that fit into the time: first the ones that are quick and reach few mutants, because they are about these. */
function within(milliseconds: number, cases: Iterable<Case>, breadth: ReadonlyMap<Case, number>): Case[] {
  const price = (each: Case): number => (each.milliseconds + 50) * (breadth.get(each) ?? 1);
  let left = milliseconds;
  return [...cases]
    .sort((a, b) => price(a) - price(b))
    .filter((each) => {
      left -= each.milliseconds;
      return left >= 0;
    });
}

/** Runs all tests without a mutant. */
async function record(space: Workspace, tests: readonly string[]): Promise<Recording> {
  space.activate(RECORD);
  const runner = new Runner(space.root, 'record');
  const cases = new Map<string, readonly Case[]>();
  for (const file of tests) {
    const verdict = await runner.run({ file, timeout: 60_000, limit: 600_000 });
    if (verdict === null) throw new Error(`${file} does not end without any mutant`);
    cases.set(
      file,
      verdict.cases.filter(({ passed }) => passed),
    );
    for (const { name, passed } of verdict.cases)
      if (!passed) process.stdout.write(`left out, fails without any mutant: ${file}: ${name}\n`);
  }
  runner.end();
  const all = [...cases.values()].flat();
  const byId = new Map(all.map((each) => [each.id, each]));
  const fileOf = new Map(all.map((each) => [each.module, each.file]));
  const reached = new Map<number, Reach>();
  for (const line of space.lines('.cases')) {
    const [task = '', ...ids] = line.split(' ');
    for (const id of ids) {
      const reach = reached.get(Number(id)) ?? { cases: new Set(), files: new Set() };
      reached.set(Number(id), reach);
      const [found, file] = [byId.get(task), fileOf.get(task)];
      if (found !== undefined) reach.cases.add(found);
      if (file !== undefined) reach.files.add(file);
    }
  }
  const breadth = new Map<Case, number>();
  for (const reach of reached.values()) for (const each of reach.cases) breadth.set(each, (breadth.get(each) ?? 0) + 1);
  return { cases, reached, breadth };
}

const durationOf = (cases: Iterable<Case>): number => [...cases].reduce((sum, { milliseconds }) => sum + milliseconds, 0);

function taskOf(file: string, cases: readonly Case[]): Task {
  const timeout = Math.round(4000 + 10 * Math.max(0, ...cases.map(({ milliseconds }) => milliseconds)));
  return { file, cases: cases.map(({ id }) => id), timeout, limit: Math.round(timeout + 20_000 + 5 * durationOf(cases)) };
}

/**
 * Judges mutants in the processes that load a test file once: the quick cases of a file run with one mutant after the other.
 * Returns the mutants that are noticed, and for every mutant the cases that have judged it.
 */
async function judgeTogether(space: Workspace, { reached, breadth }: Recording): Promise<Judgement> {
  const noticed = new Map<number, Notice>();
  const notice = (id: number, by: Notice, note?: string): void => {
    noticed.set(id, by);
    report(id, by, note);
  };
  const judged = new Map<number, Set<Case>>();
  const chosen = [...reached].map(([id, { cases }]) => {
    const quick = [...cases].filter(({ milliseconds }) => milliseconds <= SLOW_MS);
    return { id, cases: within(TOGETHER_MS, quick, breadth) };
  });
  const cost = (plan: ReadonlyMap<Case, readonly number[]>): number =>
    [...plan].reduce((sum, [{ milliseconds }, ids]) => sum + milliseconds * ids.length, 0);
  const runner = new Runner(space.root, 'together');
  // Most mutants are noticed by the first cases, so the others follow in later rounds.
  const files = ROUNDS.values().flatMap(([from, to]) => {
    const plans = new Map<string, Map<Case, number[]>>();
    for (const { id, cases } of chosen)
      for (const each of noticed.has(id) ? [] : cases.slice(from, to)) {
        const plan = plans.get(each.file) ?? new Map<Case, number[]>();
        plans.set(each.file, plan.set(each, [...(plan.get(each) ?? []), id]));
      }
    return [...plans].sort(([, a], [, b]) => cost(a) - cost(b));
  });
  for (const [file, plan] of files) {
    const waiting = new Map(plan);
    for (;;) {
      for (const [each, ids] of waiting) {
        const left = ids.filter((id) => !noticed.has(id));
        if (left.length === 0) waiting.delete(each);
        else waiting.set(each, left);
      }
      if (waiting.size === 0) break;
      space.activate(0);
      space.write('.verdicts', '');
      space.write('.plan', JSON.stringify(Object.fromEntries([...waiting].map(([each, ids]) => [each.id, ids]))));
      const task = taskOf(file, [...waiting.keys()]);
      // The active mutant changes with every step, so a step takes no longer than one case.
      await runner.run({ ...task, limit: task.timeout + 10_000 });
      let spoiled = false;
      for (const line of space.lines('.verdicts')) {
        const [task, verdict, id, how] = line.split(' ');
        const each = [...waiting.keys()].find((one) => one.id === task);
        if (each === undefined) continue;
        if (verdict === 'noticed') notice(Number(id), each, how === 'late' ? 'it timed out' : undefined);
        else if (verdict === 'spoiled') {
          spoiled = true;
          waiting.set(each, waiting.get(each)?.filter((one) => one !== Number(id)) ?? []);
        } else {
          if (verdict === 'done')
            for (const one of waiting.get(each) ?? []) judged.set(one, (judged.get(one) ?? new Set()).add(each));
          waiting.delete(each);
        }
      }
      if (waiting.size === 0 || spoiled) continue;
      // The process died or hung with the mutant that was active last.
      const active = space.active();
      if (active === 0) break;
      notice(active, { file, name: 'the run does not end' });
    }
    process.stdout.write(`${noticed.size} noticed after ${file}, ${minutes()} minutes\n`);
  }
  runner.end();
  return { noticed, judged };
}

interface Notice {
  readonly file: string;
  readonly name: string;
}

interface Judgement {
  readonly noticed: Map<number, Notice>;
  readonly judged: ReadonlyMap<number, ReadonlySet<Case>>;
}

/** The cases that have not judged a mutant yet: file by file, the quick ones before the slow ones, and how many have no time left. */
function tasksFor(
  { cases, files }: Reach,
  { cases: all, breadth }: Recording,
  judged: ReadonlySet<Case>,
): { readonly tasks: readonly Task[]; readonly untried: number } {
  const open = new Set([...files].flatMap((file) => all.get(file) ?? []));
  for (const each of cases) if (!judged.has(each)) open.add(each);
  const tried = within(Number(values.seconds) * 1000, open, breadth);
  const groups = [...Map.groupBy(tried, ({ file, milliseconds }) => `${milliseconds > SLOW_MS} ${file}`).values()];
  const cost = (group: readonly Case[]): number => START_MS + durationOf(group);
  const tasks = groups.sort((a, b) => cost(a) - cost(b)).map((group) => taskOf(group[0]?.file ?? '', group));
  return { tasks, untried: open.size - tried.length };
}

/** The file and the case that notice the active mutant, each run in a process of its own; null for none. */
async function judgeAlone(runner: Runner, tasks: readonly Task[]): Promise<Notice | null> {
  for (const task of tasks) {
    const verdict = await runner.run(task);
    if (verdict === null) return { file: task.file, name: 'the run does not end' };
    const { failed } = verdict;
    if (failed === null) continue;
    if (!TIMED.test(task.file) && !failed.message.includes('timed out')) return { file: task.file, name: failed.name };
    const again = await runner.run({ ...task, ...(failed.id === null ? {} : { cases: [failed.id] }) });
    if (again === null || again.failed !== null) return { file: task.file, name: failed.name };
  }
  return null;
}

function describe({ file, place, start: from, end, replacement, kind }: Mutant): string {
  const original = readFileSync(join(ROOT, file), 'utf8').slice(from, end).replace(/\s+/g, ' ');
  return `${file}:${place} ${kind}: ${original.slice(0, 80)} → ${replacement || '(removed)'}`;
}

const tests = filesBelow(ROOT, part.tests).filter((path) => path.endsWith('.test.ts'));
const possible = filesBelow(ROOT, part.sources).flatMap((file) => mutantsOf(file, readFileSync(join(ROOT, file), 'utf8')));
// The working tree may change while mutants are judged, so the descriptions are made now.
const drawn = sample(possible, Number(values.count), Number(values.seed))
  .map((mutant) => ({ mutant, change: describe(mutant) }))
  .filter(({ change }) => values.only === undefined || values.only.some((text) => change.includes(text)));

/** One line of the file of results. */
interface Result {
  readonly change: string;
  readonly by: string | null;
  readonly file: string | null;
  /** Of a survivor: how thoroughly it was tried. Of another mutant: whether a case only took too long. */
  readonly note?: string | undefined;
}

const results = new Map<string, Result>();
if (values.out !== undefined && existsSync(values.out))
  for (const line of readFileSync(values.out, 'utf8').split('\n').slice(0, -1)) {
    const result: Result = JSON.parse(line);
    results.set(result.change, result);
  }
const open = drawn.filter(({ change }) => !results.has(change));
process.stdout.write(
  `${drawn.length} of ${possible.length} mutants of ${values.part}, seed ${values.seed}; ${open.length} to judge\n`,
);
const start = performance.now();
const minutes = (): string => ((performance.now() - start) / 60_000).toFixed(1);
const space = new Workspace();
const runner = new Runner(space.root, 'alone');
function report(id: number, by: Notice | null, note?: string): void {
  const change = open[id - 1]?.change ?? '';
  const result = { change, by: by?.name ?? null, file: by?.file ?? null, note };
  results.set(change, result);
  if (values.out !== undefined) appendFileSync(values.out, `${JSON.stringify(result)}\n`);
}
if (open.length > 0)
  try {
    await judge();
  } finally {
    runner.end();
    space.remove();
  }
else space.remove();
const survivors = drawn.flatMap(({ change }) => results.get(change) ?? []).filter(({ by }) => by === null);
for (const { change, note } of survivors) process.stdout.write(`survived${note === undefined ? '' : `, ${note}`}: ${change}\n`);
const killed = drawn.length - survivors.length;
process.stdout.write(
  `${killed} of ${drawn.length} noticed (${((100 * killed) / Math.max(1, drawn.length)).toFixed(1)} %) in ${minutes()} minutes\n`,
);

async function judge(): Promise<void> {
  space.build(
    ROOT,
    open.map(({ mutant }) => mutant),
  );
  const recording = await record(space, tests);
  process.stdout.write(`recorded what ${tests.length} test files reach after ${minutes()} minutes\n`);
  const { noticed, judged } = await judgeTogether(space, recording);
  for (const id of open.keys().map((index) => index + 1)) {
    const reach = recording.reached.get(id);
    if (reach === undefined) report(id, null, 'no case reaches it');
    if (reach === undefined || noticed.has(id)) continue;
    const { tasks, untried } = tasksFor(reach, recording, judged.get(id) ?? new Set());
    space.activate(id);
    const by = await judgeAlone(runner, tasks);
    report(id, by, by === null && untried > 0 ? `${untried} cases not tried` : undefined);
  }
}
