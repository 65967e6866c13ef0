import type { Divergence, TurnReplay } from '../loop/index.ts';
import type { TurnSide } from './views.ts';

/* The JSON of turns that are executed again. The server writes it and the page reads it. */

/** `POST /api/sessions/SID/turns/N/replay`, without a body: the turn executed again from its record. */
export type ReplayView = Pick<TurnReplay, 'turn' | 'verdict' | 'why' | 'attempts' | 'faults' | 'divergence' | 'unverified'>;

/** Body of `POST /api/sessions/SID/turns/N/try`. */
export interface TryRequest {
  /** Another program; the recorded one when absent. */
  readonly program?: string;
  /** Other answers, by id of a call (`CallView.call`) or name of a tool: a JSON value, or a failure with this message. */
  readonly answers?: Readonly<Record<string, { readonly value: unknown } | { readonly error: string }>>;
}

/** `POST /api/sessions/SID/turns/N/try`: that turn and those after it, tried out. No tool runs, and nothing is stored. */
export interface TryView {
  readonly turns: readonly TriedView[];
  readonly end: string;
}

/** One turn of a trial beside the recorded one. */
export interface TriedView {
  readonly turn: number;
  readonly recorded: TurnSide;
  readonly tried: TurnSide;
  /** Of output, the first differing line. */
  readonly differences: readonly Divergence[];
  /** Calls that nothing answered. They failed. */
  readonly unanswered: readonly string[];
}
