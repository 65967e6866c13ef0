import type { LimitValues } from './limits.ts';
import type { ForeseeOptions, GuestReply, RunInput, Source } from './protocol.ts';
import type { CheckEnvironment } from './sourcereports.ts';

/** A source of a run, or the number under which the worker keeps it. */
export type SentSource = Source | { readonly kept: number };

/** The input of a run as it is sent. Without limits it has those of the last run that this worker was sent. */
export type SentInput = Omit<RunInput, 'sources' | 'limits'> & {
  readonly sources: readonly SentSource[];
  readonly limits?: LimitValues | undefined;
};

/** Host process → worker process. */
export type HostFrame =
  /** With `isolate`, the worker keeps the isolate of the run under that number, and the next run of that number has it. */
  | { readonly t: 'run'; readonly id: number; readonly isolate?: number | undefined; readonly input: SentInput }
  /** Disposes of kept isolates. Has no answer. */
  | { readonly t: 'discard'; readonly isolates: readonly number[] }
  /** Stores a source under a number, which later runs send in its place. Has no answer. */
  | { readonly t: 'keep'; readonly number: number; readonly source: Source }
  | { readonly t: 'drop'; readonly number: number }
  /**
   * Takes the next step towards the next runs: the first makes an isolate, the second warms it up, the third makes a spare one. Has no
   * answer. Without this frame an isolate is made when the run comes.
   */
  | { readonly t: 'prepare' }
  /** Gives the memory back that the worker no longer needs. Has no answer. */
  | { readonly t: 'tidy' }
  | { readonly t: 'parse'; readonly id: number; readonly sources: readonly Source[]; readonly sourceBytes: number }
  | {
      readonly t: 'check';
      readonly id: number;
      readonly sources: readonly Source[];
      readonly sourceBytes: number;
      readonly environment: CheckEnvironment;
    }
  | {
      readonly t: 'foresee';
      readonly id: number;
      readonly sources: readonly Source[];
      readonly sourceBytes: number;
      readonly options: ForeseeOptions;
    }
  | { readonly t: 'format'; readonly id: number; readonly source: Source; readonly sourceBytes: number }
  | GuestReply
  | { readonly t: 'exit' };
