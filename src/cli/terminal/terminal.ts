import type { Readable, Writable } from 'node:stream';
import type { Palette } from '../../report/index.ts';
import type { ExitCode } from './exit.ts';
import type { Output } from './output.ts';

/** The parts of the process that a command may use. */
export interface Terminal {
  /** The first access opens it. */
  readonly stdin: Readable;
  /** The stream for prompts; null unless standard input and an output are terminals. */
  readonly screen: Writable | null;
  readonly out: Output;
  readonly err: Output;
  /** Styles for standard output and for standard error. */
  readonly paintOut: Palette;
  readonly paintErr: Palette;
  /** Whether standard output is a terminal, which control characters must not reach. */
  readonly outIsTTY: boolean;
  /** Columns for a status line on standard error; 0 where none is shown. */
  readonly statusColumns: number;
  /** Lets a command stop in its own time: from now on SIGINT, SIGTERM and SIGHUP call the listener and do nothing else. */
  onSignal(listener: (signal: NodeJS.Signals) => void): void;
  /**
   * Adds work to do before the process ends because of an error that nobody handles, such as an output that cannot be written. It may
   * take no longer than the grace of an interrupt.
   */
  beforeFailure(work: () => Promise<void>): void;
  /** Aborts on Ctrl-C, SIGTERM, SIGHUP, or a closed standard output. */
  readonly interrupt: AbortSignal;
}

/** Makes an action of Commander from a command, which gets the terminal after its arguments and flags. Its exit code is kept. */
export type Execute = <Given extends readonly unknown[]>(
  command: (...given: [...Given, Terminal]) => Promise<ExitCode>,
) => (...given: Given) => Promise<void>;
