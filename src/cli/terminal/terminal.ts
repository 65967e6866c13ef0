import type { Readable, Writable } from 'node:stream';
import type { Palette } from '../../report/index.ts';
import type { ExitCode } from './exit.ts';
import type { Output } from './output.ts';

/** What a command may use of the process it runs in. */
export interface Terminal {
  /** Opened by the first look at it. */
  readonly stdin: Readable;
  /** Where a person who types is shown prompts; null unless standard input is a terminal, and an output too. */
  readonly screen: Writable | null;
  readonly out: Output;
  readonly err: Output;
  /** Styles for standard output and for standard error. */
  readonly paintOut: Palette;
  readonly paintErr: Palette;
  /** Whether a person reads standard output, so that control characters must not reach it. */
  readonly outIsTTY: boolean;
  /** Whether a person reads standard error: only then is there anything to see of progress. */
  readonly errIsTTY: boolean;
  /** Aborted by Ctrl-C, a polite kill, or a standard output that nobody reads any more. */
  readonly interrupt: AbortSignal;
}

/** Runs the action of the command that was chosen and keeps its exit code. */
export type Execute = (action: (terminal: Terminal) => Promise<ExitCode>) => Promise<void>;
