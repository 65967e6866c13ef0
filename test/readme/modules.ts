import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ROOT } from '../architecture/source.ts';
import { cache, environment, type Printed } from './execute.ts';

const RUNNER = fileURLToPath(new URL('runner.ts', import.meta.url));
/** What no module prints; the status follows, and the end of the line. */
const END = '\0the module has ended, with status';
const ENDED = new RegExp(`${END} (\\d+)\\n$`);

/**
 * Executes TypeScript modules from the root of the repository, as `node FILE` does. They share a process, because loading the package
 * takes longer than most of them. After a module that fails or does not end, the next one has a new process.
 */
export class Modules {
  #child: ChildProcess | null = null;

  /** Executes a module until nothing would keep its process alive. One that does not end within `ms` has the status null. */
  async execute(code: string, ms = 45_000): Promise<Printed> {
    const child = this.#child ?? this.#start();
    // within the repository, so that the package's own name resolves
    const folder = mkdtempSync(join(cache(), 'readme-'));
    const file = join(folder, 'example.ts');
    writeFileSync(file, code);
    try {
      const ended = endOf(child, ms);
      child.send({ url: pathToFileURL(file).href, end: END });
      const printed = await ended;
      if (printed.status !== 0 || child.exitCode !== null) this.close();
      return printed;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  #start(): ChildProcess {
    const child = spawn(process.execPath, [RUNNER], { cwd: ROOT, env: environment(), stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    this.#child = child;
    return child;
  }

  close(): void {
    this.#child?.kill('SIGKILL');
    this.#child = null;
  }
}

/** What a process prints from now on, until its module or the process itself has ended. */
function endOf(child: ChildProcess, ms: number): Promise<Printed> {
  return new Promise((resolve) => {
    const texts = { stdout: '', stderr: '' };
    const streams = ['stdout', 'stderr'] as const;
    const timer = setTimeout(() => end(null), ms);
    const end = (status: number | null): void => {
      clearTimeout(timer);
      for (const name of streams) child[name]?.removeAllListeners('data');
      child.removeAllListeners();
      const [stdout = '', stderr = ''] = streams.map((name) => texts[name].replace(ENDED, ''));
      resolve({ status, stdout, stderr });
    };
    for (const name of streams)
      child[name]?.setEncoding('utf8').on('data', (text: string) => {
        texts[name] += text;
        const [out, err] = streams.map((each) => ENDED.exec(texts[each])?.[1]);
        if (out !== undefined && out === err) end(Number(out));
      });
    child.once('error', () => end(null)).once('close', end);
  });
}
