import { type ChildProcess, fork } from 'node:child_process';
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Mutant, mutantsOf, sample } from './mutants.ts';
import type { Case, Task, Verdict } from './runner.ts';
import { filesBelow, RECORD, Workspace } from './workspace.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const RUNNER = fileURLToPath(new URL('runner.ts', import.meta.url));
/** A case that takes longer waits until no quicker one has noticed the mutant. */
const SLOW_MS = 1000;
/** What a run costs before its first case starts. */
const START_MS = 500;
/** Cases that look at clocks: they fail on a busy machine, so a failure has to happen twice. */
const TIMED = /^test\/(sandbox|worker|cli|mcp)\//;

/** What can be mutated, and where its tests are. */
const PARTS: Readonly<Record<string, { readonly sources: readonly string[]; readonly tests: readonly string[] }>> = {
  aeiou: { sources: ['src/aeiou', 'src/crypto'], tests: ['test/aeiou', 'test/crypto', 'test/loop/chain.test.ts'] },
  sessions: { sources: ['src/loop/sessions', 'src/loop/log'], tests: ['test/loop'] },
  tools: { sources: ['src/tools'], tests: ['test/tools', 'test/runtime', 'test/stdlib-tools/tools.test.ts'] },
  sandbox: { sources: ['src/sandbox'], tests: ['test/sandbox', 'test/worker', 'test/cli/limits.test.ts'] },
  gate: { sources: ['src/gate'], tests: ['test/gate', 'test/cli/approve.test.ts'] },
};

const { values } = parseArgs({
  options: {
    part: { type: 'string', default: '' },
    count: { type: 'string', default: '300' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    out: { type: 'string' },
  },
});
const part = PARTS[values.part];
if (part === undefined) {
  process.stderr.write(`--part must be one of ${Object.keys(PARTS).join(', ')}\n`);
  process.exit(2);
}

/** The process that runs the tests; started again when a mutant has kept it from answering. */
class Runner {
  readonly #root: string;
  readonly #mode: string;
  #child: ChildProcess | null = null;

  constructor(root: string, mode: 'record' | 'judge') {
    this.#root = root;
    this.#mode = mode;
  }

  /** The verdict, or null when the process died or did not answer in time. */
  async run(task: Task): Promise<Verdict | null> {
    const child = this.#child ?? (await this.#start());
    return await new Promise((resolve) => {
      const done = (verdict: Verdict | null): void => {
        clearTimeout(timer);
        child.removeAllListeners('message').removeAllListeners('exit');
        if (verdict === null) this.end();
        resolve(verdict);
      };
      const timer = setTimeout(() => done(null), task.limit);
      child.once('message', (verdict: Verdict) => done(verdict));
      child.once('exit', () => done(null));
      child.send(task);
    });
  }

  end(): void {
    const pid = this.#child?.pid;
    this.#child = null;
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  }

  async #start(): Promise<ChildProcess> {
    const child = fork(RUNNER, [this.#root, this.#mode], { detached: true, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    this.#child = child;
    await new Promise((resolve) => child.once('message', resolve));
    return child;
  }
}

/** Runs all tests without a mutant: which cases pass, how long they take, and which mutants they reach. */
async function record(space: Workspace, tests: readonly string[]): Promise<Map<number, Map<string, Case[]>>> {
  space.activate(RECORD);
  const runner = new Runner(space.root, 'record');
  const cases = new Map<string, { readonly file: string; readonly all: Case[] }>();
  for (const file of tests) {
    const verdict = await runner.run({ file, timeout: 60_000, limit: 600_000 });
    if (verdict === null) throw new Error(`${file} does not end without any mutant`);
    for (const each of verdict.cases) {
      if (!each.passed) process.stdout.write(`left out, fails without any mutant: ${file}: ${each.name}\n`);
      else {
        cases.set(each.id, { file, all: [each] });
        cases.set(each.module, { file, all: [...(cases.get(each.module)?.all ?? []), each] });
      }
    }
  }
  runner.end();
  const reached = new Map<number, Map<string, Case[]>>();
  for (const line of readFileSync(join(space.root, '.cases'), 'utf8').split('\n')) {
    const [task = '', ...ids] = line.split(' ');
    const { file, all } = cases.get(task) ?? { file: '', all: [] };
    for (const id of new Set(ids)) {
      const files = reached.get(Number(id)) ?? new Map<string, Case[]>();
      reached.set(Number(id), files.set(file, [...new Set([...(files.get(file) ?? []), ...all])]));
    }
  }
  return reached;
}

/** The tasks of quick cases, the files first that noticed most of the mutants beside it, then the cheap; or those of slow cases. */
function tasksFor(files: ReadonlyMap<string, readonly Case[]>, slow: boolean, noticed: ReadonlyMap<string, number>): Task[] {
  const tasks = [...files].flatMap(([file, all]) => {
    const cases = all.filter(({ milliseconds }) => milliseconds > SLOW_MS === slow);
    if (cases.length === 0) return [];
    const total = cases.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
    const slowest = Math.max(...cases.map(({ milliseconds }) => milliseconds));
    return {
      file,
      cases: cases.map(({ id }) => id),
      timeout: Math.round(4000 + 10 * slowest),
      limit: Math.round(20_000 + 10 * total),
      cost: (START_MS + total) / (1 + (noticed.get(file) ?? 0)) ** 2,
    };
  });
  return tasks.sort((a, b) => a.cost - b.cost).map(({ cost: _, ...task }) => task);
}

/** The file and the case that notice a mutant, or null. */
async function judge(runner: Runner, tasks: readonly Task[]): Promise<{ readonly file: string; readonly name: string } | null> {
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
  (mutant) => values.only === undefined || describe(mutant).includes(values.only),
);
process.stdout.write(`${drawn.length} of ${possible.length} mutants of ${values.part}, seed ${values.seed}\n`);
const start = performance.now();
const minutes = (): string => ((performance.now() - start) / 60_000).toFixed(1);
const space = new Workspace();
const runner = new Runner(space.root, 'judge');
const survivors = new Set<number>();
try {
  space.build(ROOT, drawn);
  const reached = await record(space, tests);
  process.stdout.write(`recorded what ${tests.length} test files reach after ${minutes()} minutes\n`);
  const noticed = new Map<string, Map<string, number>>();
  for (const slow of [false, true])
    for (const [index, mutant] of drawn.entries()) {
      if (slow && !survivors.has(index)) continue;
      const files = reached.get(index + 1) ?? new Map<string, Case[]>();
      const beside = noticed.get(mutant.file) ?? new Map<string, number>();
      noticed.set(mutant.file, beside);
      space.activate(index + 1);
      const begun = performance.now();
      const by = await judge(runner, tasksFor(files, slow, beside));
      if (by === null) survivors.add(index);
      else {
        survivors.delete(index);
        beside.set(by.file, (beside.get(by.file) ?? 0) + 1);
      }
      const result = { change: describe(mutant), by, slow, reached: files.size, took: Math.round(performance.now() - begun) };
      if (values.out !== undefined) appendFileSync(values.out, `${JSON.stringify(result)}\n`);
    }
  for (const [index, mutant] of drawn.entries())
    if (survivors.has(index))
      process.stdout.write(`survived${reached.has(index + 1) ? '' : ', no test reaches it'}: ${describe(mutant)}\n`);
} finally {
  runner.end();
  space.remove();
}
const killed = drawn.length - survivors.size;
process.stdout.write(
  `${killed} of ${drawn.length} noticed (${((100 * killed) / Math.max(1, drawn.length)).toFixed(1)} %) in ${minutes()} minutes\n`,
);
