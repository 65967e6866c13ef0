import { CommanderError } from 'commander';
import { ConfigError, NeuroScriptError } from '../wire/errors.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { UsageError } from './failure.ts';
import { Output } from './output.ts';
import { createProgram, usageOf } from './program.ts';
import type { Terminal } from './terminal.ts';
import { paintFor, printable } from './text.ts';

/**
 * The command line. Sets `process.exitCode` (DESIGN 5) and never rejects: what nobody foresaw is one sentence on standard
 * error and exit code 70.
 */
export async function main(argv: string[]): Promise<void> {
  process.once('uncaughtException', (error) => {
    process.stderr.write(`${sentence(error)}\n`);
    process.exit(exitOfThrown(error));
  });
  const out = new Output(process.stdout);
  const err = new Output(process.stderr);
  const interrupt = new AbortController();
  const stop = () => interrupt.abort();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
  out.closed.addEventListener('abort', stop, { once: true });
  let read = false;
  const terminal: Terminal = {
    get stdin() {
      read = true;
      return process.stdin;
    },
    out,
    err,
    paintOut: paintFor(process.stdout, process.env),
    paintErr: paintFor(process.stderr, process.env),
    outIsTTY: process.stdout.isTTY === true,
    interrupt: interrupt.signal,
  };
  const code = await dispatch(argv, terminal);
  // A reader that had enough ended the command; that is how `| head -1` is meant, and no failure.
  process.exitCode = code === EXIT.cancelled && out.closed.aborted ? EXIT.ok : code;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, stop);
  // An open standard input would keep the process waiting for lines that nobody reads any more.
  if (read) process.stdin.destroy();
}

async function dispatch(argv: readonly string[], terminal: Terminal): Promise<ExitCode> {
  let code: ExitCode = EXIT.ok;
  const program = createProgram(terminal, async (action) => {
    code = await action(terminal);
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return code;
  } catch (error) {
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
