import { fstatSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { paletteFor } from '../report/index.ts';
import { WARNINGS } from '../wire/codes.ts';
import { runProgram } from './program.ts';
import { answerOf, EXIT, type ExitCode } from './terminal/exit.ts';
import { exitOfThrown, failureLine, UsageError } from './terminal/failure.ts';
import { closeInputs } from './terminal/input.ts';
import { Output } from './terminal/output.ts';
import { statusColumns } from './terminal/status.ts';
import type { Terminal } from './terminal/terminal.ts';

/** Milliseconds after an interrupt or a failure until the process exits even if something still waits, such as the opening of a pipe. */
const GRACE_MS = 3000;

/** A terminal sends SIGHUP when it closes. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs a command line with the streams and signals of this process. Sets `process.exitCode` and never rejects: an unexpected failure is
 * one line on standard error and exit code 70.
 */
export async function runInProcess(argv: string[]): Promise<void> {
  const beforeFailure: (() => Promise<void>)[] = [];
  let hasFailed = false;
  process.on('uncaughtException', (error) => {
    // What the first failure stops may fail as well.
    if (hasFailed) return;
    hasFailed = true;
    process.stderr.write(`${failureLine(error)}\n`);
    const end = () => process.exit(answerOf(argv, exitOfThrown(error)));
    setTimeout(end, GRACE_MS);
    void Promise.allSettled(beforeFailure.map((work) => work())).then(end);
  });
  // Without a listener Node opens its inspector on this signal, which a compromised worker could send. It stays until the end.
  if (process.listenerCount('SIGUSR1') === 0) process.on('SIGUSR1', () => {});
  keepQuietAboutLaunchers();
  const out = new Output(process.stdout);
  const interrupt = new AbortController();
  const opened = new Set<Readable>();
  const closeInput = () => {
    for (const stream of opened) stream.destroy();
  };
  const terminal: Terminal = {
    get stdin() {
      // Node reads a folder as an empty stream.
      if (fstatSync(0).isDirectory()) throw new UsageError('cannot read standard input: it is a folder');
      opened.add(process.stdin);
      return process.stdin;
    },
    get screen() {
      if (!process.stdin.isTTY) return null;
      return process.stdout.isTTY ? process.stdout : process.stderr.isTTY ? process.stderr : null;
    },
    out,
    err: new Output(process.stderr),
    paintOut: paletteFor(process.stdout, process.env),
    paintErr: paletteFor(process.stderr, process.env),
    outIsTTY: process.stdout.isTTY === true,
    get statusColumns() {
      return statusColumns(process.stderr, process.env);
    },
    onSignal(listener) {
      for (const signal of SIGNALS) process.off(signal, stopOrEnd).on(signal, listener);
    },
    beforeFailure: (work) => beforeFailure.push(work),
    interrupt: interrupt.signal,
  };
  // A reader that closes its end (`| head -1`) cancels the command. That is success, but no yes for commands that answer a question.
  const exitCode = (code: ExitCode) => {
    const answer = answerOf(argv, code);
    return answer === EXIT.cancelled && out.closed.aborted ? EXIT.ok : answer;
  };
  const stop = () => {
    interrupt.abort();
    closeInput();
    closeInputs();
    setTimeout(() => process.exit(exitCode(EXIT.cancelled)), GRACE_MS).unref();
  };
  // A second Ctrl-C ends the process at once. It exits by itself: a signal that kills it would leave what it has started alive.
  const stopOrEnd = () => {
    if (interrupt.signal.aborted) process.exit(exitCode(EXIT.cancelled));
    stop();
  };
  for (const signal of SIGNALS) process.on(signal, stopOrEnd);
  out.closed.addEventListener('abort', stop, { once: true });
  process.exitCode = exitCode(await runProgram(argv, terminal));
  for (const signal of SIGNALS) process.removeAllListeners(signal);
  // An open standard input would keep the process alive.
  closeInput();
}

/** Leaves out the warning of a library that runs without a launcher: `doctor` tells how workers are held, and errors stay readable. */
function keepQuietAboutLaunchers(): void {
  const shown = process.listeners('warning');
  process.removeAllListeners('warning');
  process.on('warning', (warning) => {
    if (!('code' in warning) || warning.code !== WARNINGS.noLauncher) for (const show of shown) show(warning);
  });
}
