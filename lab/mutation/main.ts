import { type ChildProcess, fork } from 'node:child_process';
import { appendFileSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Mutant, mutantsOf, sample } from './mutants.ts';
import type { Case, Task, Verdict } from './runner.ts';
import { filesBelow, RECORD, Workspace } from './workspace.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const RUNNER = fileURLToPath(new URL('runner.ts', import.meta.url));
/** A case that takes longer is tried last. */
const SLOW_MS = 1000;
/** Milliseconds of cases that may judge one mutant together with others. */
const BUDGET_MS = 20_000;
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
    out: { type: 'string' },
  },
});
const part = PARTS[values.part];
if (part === undefined) {
  process.stderr.write(`--part must be one of ${Object.keys(PARTS).join(', ')}\n`);
  process.exit(2);
}

type Mode = 'record' | 'together' | 'alone';

/** The process that runs the tests; started again when a mutant has kept it from answering. */
class Runner {
  readonly #root: string;
  readonly #mode: Mode;
  #child: ChildProcess | null = null;

  constructor(root: string, mode: Mode) {
    this.#root = root;
    this.#mode = mode;
  }

  /** The verdict, or null when the process died or took no step in time. */
  async run(task: Task): Promise<Verdict | null> {
    const child = this.#child ?? (await this.#start());
    return await new Promise((resolve) => {
      const done = (verdict: Verdict | null): void => {
        clearInterval(timer);
        child.removeAllListeners('message').removeAllListeners('exit');
        if (verdict === null) this.end();
        resolve(verdict);
      };
      const begun = Date.now();
      const timer = setInterval(() => {
        const step = Math.max(begun, statSync(join(this.#root, '.mutant')).mtimeMs);
        if (Date.now() - step > task.limit) done(null);
      }, 1000);
      child.once('message', (verdict: Verdict) => done(verdict));
      child.once('exit', () => done(null));
      child.send(task);
    });
  }

  /** Kills everything that runs from the copy: a test may have started a process in a group of its own that never ends. */
  end(): void {
    this.#child = null;
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
      try {
        if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`${this.#root}/`)) process.kill(Number(pid), 'SIGKILL');
      } catch {
        // The process has ended meanwhile.
      }
  }

  async #start(): Promise<ChildProcess> {
    const child = fork(RUNNER, [`${this.#root}/`, this.#mode], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    this.#child = child;
    await new Promise((resolve) => child.once('message', resolve));
    return child;
  }
}

/** What reaches a mutant: cases by themselves, and files outside of their cases, for example while they are loaded. */
interface Reach {
  readonly cases: Set<Case>;
  readonly files: Set<string>;
}

/** The passing cases of every file, and what reaches each mutant. */
interface Recording {
  readonly cases: ReadonlyMap<string, readonly Case[]>;
  readonly reached: ReadonlyMap<number, Reach>;
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
  return { cases, reached };
}

function taskOf(file: string, cases: readonly Case[]): Task {
  const total = cases.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
  const timeout = Math.round(4000 + 10 * Math.max(0, ...cases.map(({ milliseconds }) => milliseconds)));
  return { file, cases: cases.map(({ id }) => id), timeout, limit: Math.round(timeout + 20_000 + 10 * total) };
}

/**
 * Judges mutants in the processes that load a test file once: the quick cases of a file run with one mutant after the other.
 * Returns the mutants that are noticed, and for every mutant the cases that have judged it.
 */
async function judgeTogether(space: Workspace, { reached }: Recording): Promise<Judgement> {
  const noticed = new Map<number, Notice>();
  const judged = new Map<number, Set<Case>>();
  const plans = new Map<string, Map<Case, number[]>>();
  for (const [id, { cases }] of reached) {
    let spent = 0;
    for (const each of [...cases].sort((a, b) => a.milliseconds - b.milliseconds)) {
      spent += each.milliseconds;
      if (each.milliseconds > SLOW_MS || spent > BUDGET_MS) break;
      const plan = plans.get(each.file) ?? new Map<Case, number[]>();
      plans.set(each.file, plan.set(each, [...(plan.get(each) ?? []), id]));
    }
  }
  const cost = (plan: ReadonlyMap<Case, unknown>): number => [...plan.keys()].reduce((sum, each) => sum + each.milliseconds, 0);
  const runner = new Runner(space.root, 'together');
  for (const [file, plan] of [...plans].sort(([, a], [, b]) => cost(a) - cost(b))) {
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
      await runner.run(taskOf(file, [...waiting.keys()]));
      let spoiled = false;
      for (const line of space.lines('.verdicts')) {
        const [task, verdict, id] = line.split(' ');
        const each = [...waiting.keys()].find((one) => one.id === task);
        if (each === undefined) continue;
        if (verdict === 'noticed') noticed.set(Number(id), each);
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
      noticed.set(active, { file, name: 'the run does not end' });
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

/** The cases that have not judged a mutant yet, file by file: the cheap files first, and the slow cases last. */
function tasksFor({ cases, files }: Reach, { cases: all }: Recording, judged: ReadonlySet<Case>): Task[] {
  const open = new Set([...files].flatMap((file) => all.get(file) ?? []));
  for (const each of cases) if (!judged.has(each)) open.add(each);
  const groups = Map.groupBy(open, ({ file, milliseconds }) => `${milliseconds > SLOW_MS} ${file}`).values();
  const cost = (group: readonly Case[]): number => group.reduce((sum, { milliseconds }) => sum + milliseconds, START_MS);
  return [...groups].sort((a, b) => cost(a) - cost(b)).map((group) => taskOf(group[0]?.file ?? '', group));
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
const drawn = sample(possible, Number(values.count), Number(values.seed)).filter(
  (mutant) => values.only === undefined || values.only.some((text) => describe(mutant).includes(text)),
);
process.stdout.write(`${drawn.length} of ${possible.length} mutants of ${values.part}, seed ${values.seed}\n`);
const start = performance.now();
const minutes = (): string => ((performance.now() - start) / 60_000).toFixed(1);
const space = new Workspace();
const runner = new Runner(space.root, 'alone');
const survivors: number[] = [];
const report = (id: number, mutant: Mutant, by: Notice | null): void => {
  if (by === null) survivors.push(id);
  const line = { change: describe(mutant), by: by?.name ?? null, file: by?.file ?? null };
  if (values.out !== undefined) appendFileSync(values.out, `${JSON.stringify(line)}\n`);
};
try {
  space.build(ROOT, drawn);
  const recording = await record(space, tests);
  process.stdout.write(`recorded what ${tests.length} test files reach after ${minutes()} minutes\n`);
  const { noticed, judged } = await judgeTogether(space, recording);
  for (const [index, mutant] of drawn.entries()) {
    const id = index + 1;
    const known = noticed.get(id);
    const reach = recording.reached.get(id);
    space.activate(id);
    const tasks = known !== undefined || reach === undefined ? [] : tasksFor(reach, recording, judged.get(id) ?? new Set());
    report(id, mutant, known ?? (await judgeAlone(runner, tasks)));
  }
  for (const id of survivors) {
    const mutant = drawn[id - 1];
    if (mutant !== undefined)
      process.stdout.write(`survived${recording.reached.has(id) ? '' : ', no test reaches it'}: ${describe(mutant)}\n`);
  }
} finally {
  runner.end();
  space.remove();
}
const killed = drawn.length - survivors.length;
process.stdout.write(
  `${killed} of ${drawn.length} noticed (${((100 * killed) / Math.max(1, drawn.length)).toFixed(1)} %) in ${minutes()} minutes\n`,
);
