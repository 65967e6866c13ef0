import { type ChildProcess, fork } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Task, Verdict } from './runner.ts';

const RUNNER = fileURLToPath(new URL('runner.ts', import.meta.url));

type Mode = 'record' | 'together' | 'alone';

/** The process that runs the tests; started again when a mutant has kept it from answering. */
export class Runner {
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
