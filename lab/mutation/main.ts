import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { appendFileSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Mutant, mutantsOf, sample } from './mutants.ts';
import { relatedTests, sourcesBelow } from './related.ts';
import type { Task, Verdict } from './runner.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const RUNNER = fileURLToPath(new URL('runner.ts', import.meta.url));

interface Part {
  readonly sources: readonly string[];
  readonly tests: readonly string[];
  /** Whether tests run the built code in processes, so that imports do not say which of them concern a file. */
  readonly spawned?: boolean;
}

/** What can be mutated, and where its tests are. */
const PARTS: Readonly<Record<string, Part>> = {
  aeiou: { sources: ['src/aeiou', 'src/crypto'], tests: ['test/aeiou', 'test/crypto', 'test/loop/chain.test.ts'] },
  sessions: { sources: ['src/loop/sessions', 'src/loop/log'], tests: ['test/loop'] },
  tools: { sources: ['src/tools'], tests: ['test/tools', 'test/runtime', 'test/stdlib-tools/tools.test.ts'] },
  sandbox: { sources: ['src/sandbox'], tests: ['test/sandbox', 'test/worker', 'test/cli/limits.test.ts'] },
  gate: { sources: ['src/gate'], tests: ['test/gate'], spawned: true },
};

const { values } = parseArgs({
  options: {
    part: { type: 'string', default: '' },
    count: { type: 'string', default: '300' },
    seed: { type: 'string', default: '1' },
    jobs: { type: 'string', default: '2' },
    timeout: { type: 'string', default: '120' },
    out: { type: 'string' },
  },
});
const part = PARTS[values.part];
if (part === undefined) {
  process.stderr.write(`--part must be one of ${Object.keys(PARTS).join(', ')}\n`);
  process.exit(2);
}

const allTests = sourcesBelow(ROOT, part.tests).filter((path) => path.endsWith('.test.ts'));
const related = relatedTests(ROOT, allTests);
const testsOf = (file: string): readonly string[] =>
  part.spawned === true ? [...new Set([...related(file), ...allTests])] : related(file);
const possible = sourcesBelow(ROOT, part.sources).flatMap((file) => mutantsOf(file, readFileSync(join(ROOT, file), 'utf8')));
const drawn = sample(possible, Number(values.count), Number(values.seed));
process.stdout.write(`${drawn.length} of ${possible.length} mutants of ${values.part}, seed ${values.seed}\n`);

/** One runner in a copy of the repository of its own; started again when a mutant keeps it from answering. */
class Job {
  readonly #root: string;
  #child: ChildProcess | null = null;

  constructor() {
    this.#root = mkdtempSync(join(tmpdir(), 'mutation-'));
    const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: ROOT, encoding: 'utf8' });
    for (const file of files.split('\0')) if (file !== '') cpSync(join(ROOT, file), join(this.#root, file));
    cpSync(join(ROOT, 'dist'), join(this.#root, 'dist'), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(this.#root, 'node_modules'));
  }

  async run(task: Task): Promise<Verdict> {
    const child = this.#child ?? (await this.#start());
    return await new Promise((resolve) => {
      const done = (verdict: Verdict): void => {
        clearTimeout(timer);
        child.removeAllListeners('message').removeAllListeners('exit');
        resolve(verdict);
      };
      const timer = setTimeout(() => {
        this.#kill();
        if (task.mutant !== null) this.#restore(task.mutant.file);
        done({ failed: 'timeout' });
      }, Number(values.timeout) * 1000);
      child.once('message', (verdict: Verdict) => done(verdict));
      child.once('exit', () => {
        this.#child = null;
        if (task.mutant !== null) this.#restore(task.mutant.file);
        done({ failed: 'the test process died' });
      });
      child.send(task);
    });
  }

  end(): void {
    this.#kill();
    rmSync(this.#root, { recursive: true, force: true });
  }

  async #start(): Promise<ChildProcess> {
    const child = fork(RUNNER, [this.#root], { detached: true, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    this.#child = child;
    await new Promise((resolve) => child.once('message', resolve));
    return child;
  }

  #kill(): void {
    const pid = this.#child?.pid;
    this.#child?.removeAllListeners('exit');
    this.#child = null;
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  }

  #restore(file: string): void {
    for (const path of [file, join('dist', file.replace(/\.ts$/, '.js'))])
      if (existsSync(join(ROOT, path))) cpSync(join(ROOT, path), join(this.#root, path));
  }
}

const survivors: Mutant[] = [];
const unnoticeable: Mutant[] = [];
let noticed = 0;
const queue = [...drawn];
const start = performance.now();

async function work(): Promise<void> {
  const job = new Job();
  try {
    const { failed: broken } = await job.run({ mutant: null, tests: [...new Set(drawn.flatMap(({ file }) => testsOf(file)))] });
    if (broken !== null) throw new Error(`the tests fail without any mutant: ${broken}`);
    for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
      const tests = testsOf(mutant.file);
      const { failed } = await job.run({ mutant, tests });
      if (failed !== null) noticed += 1;
      else if (tests.length === 0) unnoticeable.push(mutant);
      else survivors.push(mutant);
      const original = readFileSync(join(ROOT, mutant.file), 'utf8').slice(mutant.start, mutant.end);
      const line = JSON.stringify({ ...mutant, original, failed, tests: tests.length });
      if (values.out !== undefined) appendFileSync(values.out, `${line}\n`);
      if (failed === null) process.stdout.write(`survived ${describe(mutant)}\n`);
    }
  } finally {
    job.end();
  }
}

function describe({ file, line, start: from, end, replacement, kind }: Mutant): string {
  const original = readFileSync(join(ROOT, file), 'utf8').slice(from, end).replace(/\s+/g, ' ');
  return `${file}:${line} ${kind}: ${original.slice(0, 80)} → ${replacement || '(removed)'}`;
}

await Promise.all(Array.from({ length: Number(values.jobs) }, work));
const minutes = ((performance.now() - start) / 60_000).toFixed(1);
const score = ((100 * noticed) / Math.max(1, drawn.length)).toFixed(1);
process.stdout.write(
  `${noticed} noticed, ${survivors.length} survived, ${unnoticeable.length} without a test; score ${score} % in ${minutes} minutes\n`,
);
