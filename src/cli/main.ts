import { fstatSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { CommanderError } from 'commander';
import { ConfigError, NeuroScriptError } from '../wire/errors.ts';
import { answerOf } from './commands/gate.ts';
import { createProgram, usageOf } from './program.ts';
import { EXIT, type ExitCode } from './terminal/exit.ts';
import { UsageError } from './terminal/failure.ts';
import { Output } from './terminal/output.ts';
import type { Terminal } from './terminal/terminal.ts';
import { paintFor, printable } from './terminal/text.ts';

/** What is still at work so long after an interrupt, for instance waiting for a pipe to be opened, is left behind. */
const GRACE_MS = 3000;

/**
 * The command line. Sets `process.exitCode` (DESIGN 5) and never rejects: what nobody foresaw is one sentence on standard
 * error and exit code 70.
 */
export async function main(argv: string[]): Promise<void> {
  process.once('uncaughtException', (error) => {
    process.stderr.write(`${sentence(error)}\n`);
    process.exit(answerOf(argv, exitOfThrown(error)));
  });
  const out = new Output(process.stdout);
  const interrupt = new AbortController();
  const opened = new Set<Readable>();
  const closeInput = () => {
    for (const stream of opened) stream.destroy();
  };
  const terminal: Terminal = {
    get stdin() {
      // Node takes a folder for an empty stream.
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
    paintOut: paintFor(process.stdout, process.env),
    paintErr: paintFor(process.stderr, process.env),
    outIsTTY: process.stdout.isTTY === true,
    errIsTTY: process.stderr.isTTY === true,
    interrupt: interrupt.signal,
  };
  // A reader that had enough ended the command; that is how `| head -1` is meant, and no failure, but no yes either.
  const exitCode = (code: ExitCode) => {
    const answer = answerOf(argv, code);
    return answer === EXIT.cancelled && out.closed.aborted ? EXIT.ok : answer;
  };
  const stop = () => {
    interrupt.abort();
    closeInput();
    setTimeout(() => process.exit(exitCode(EXIT.cancelled)), GRACE_MS).unref();
  };
  // Once: a second Ctrl-C does what it does to every other program.
  for (const signal of SIGNALS) process.once(signal, stop);
  out.closed.addEventListener('abort', stop, { once: true });
  process.exitCode = exitCode(await dispatch(argv, terminal));
  for (const signal of SIGNALS) process.off(signal, stop);
  // An open standard input would keep the process waiting for lines that nobody reads any more.
  closeInput();
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

async function dispatch(argv: readonly string[], terminal: Terminal): Promise<ExitCode> {
  let code: ExitCode = EXIT.ok;
  const program = createProgram(terminal, async (action) => {
    code = await action(terminal);
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return code;
  } catch (error) {
    // What was being read or waited for broke off because it was told to.
    if (terminal.interrupt.aborted) return EXIT.cancelled;
    if (error instanceof CommanderError) {
      const message = usageOf(error, argv);
      if (message !== null) terminal.err.line(`neuroscript: ${message}`);
      return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    }
    terminal.err.line(sentence(error));
    return exitOfThrown(error);
  }
}

function exitOfThrown(error: unknown): ExitCode {
  return error instanceof UsageError || error instanceof ConfigError ? EXIT.usage : EXIT.internal;
}

/** One line for whatever was thrown; the place in our code is for the debugger, not for the person at the terminal. */
function sentence(error: unknown): string {
  if (error instanceof UsageError || error instanceof ConfigError) return `neuroscript: ${printable(error.message)}`;
  const message = printable(error instanceof Error ? error.message : String(error));
  return error instanceof NeuroScriptError
    ? `neuroscript: ${message} (${error.code})`
    : `neuroscript: unexpected failure, please report it: ${message}`;
}
