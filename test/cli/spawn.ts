import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { tempFolder } from '../folder.ts';

/** The command as users start it; it runs what `npm run build` made. */
export const BIN = fileURLToPath(new URL('../../bin/neuroscript.js', import.meta.url));

/** Where commands keep sessions that say nothing of a store: not in the folder of whoever runs the tests. */
export const STATE = mkdtempSync(join(tmpdir(), 'cli-state-'));
process.once('exit', () => rmSync(STATE, { recursive: true, force: true }));

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface SpawnOptions {
  readonly stdin?: string | Uint8Array;
  /** Leaves standard input open; `onStdout` closes it. */
  readonly keepStdinOpen?: boolean;
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>>;
  /** Called with every piece of standard output. */
  readonly onStdout?: (text: string, child: ChildProcess) => void;
  /** Called with every piece of standard error. */
  readonly onStderr?: (text: string, child: ChildProcess) => void;
  /** A file descriptor for standard output, in place of what `stdout` of the outcome has. */
  readonly stdoutTo?: number;
  /** A file descriptor for standard input, in place of `stdin`. */
  readonly stdinFrom?: number;
  /** Sends what Ctrl-C sends, this long after the start. */
  readonly interruptAfterMs?: number;
}

/** Runs the built command to its end. A child that does not end by itself is killed, and its code is null. */
export function neuroscript(args: readonly string[], options: SpawnOptions = {}): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [BIN, ...args], {
      cwd: options.cwd,
      env: { ...process.env, NO_COLOR: '1', XDG_STATE_HOME: STATE, ...options.env },
      stdio: [options.stdinFrom ?? 'pipe', options.stdoutTo ?? 'pipe', 'pipe'],
      timeout: 45_000,
      killSignal: 'SIGKILL',
      detached: true,
    });
    let stdout = '';
    let stderr = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      options.onStdout?.(text, child);
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
      options.onStderr?.(text, child);
    });
    if (options.interruptAfterMs !== undefined) setTimeout(() => pressControlC(child), options.interruptAfterMs).unref();
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
    child.stdin?.on('error', () => {
      // The child may end before it read everything; what matters is how it ends.
    });
    if (options.keepStdinOpen) child.stdin?.write(options.stdin ?? '');
    else child.stdin?.end(options.stdin ?? '');
  });
}

/** What a terminal does on Ctrl-C: it interrupts the command and every process that the command started. */
export function pressControlC(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null) return;
  try {
    process.kill(-child.pid, 'SIGINT');
  } catch (error) {
    // It may have ended just now; how it ended is what the test looks at.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** A folder with these files; returns its path. */
export function folder(files: Readonly<Record<string, string | Uint8Array>>): string {
  const path = tempFolder();
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), content);
  }
  return path;
}

export function command(...statements: readonly string[]): string {
  return `command\n${statements.map((line) => `  ${line}\n`).join('')}endcommand\n`;
}

/** The lines of a text without the empty one after the last line feed. */
export function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}
