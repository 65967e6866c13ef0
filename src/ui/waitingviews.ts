import type { CallChange, Effects } from '../tools/index.ts';
import type { AnswerForm } from '../wire/journal.ts';
import type { TextView } from './callviews.ts';

/** A call that a session waits for. */
export interface WaitingView {
  /** Id of the call, unique in its session. */
  readonly call: string;
  readonly turn: number;
  readonly tool: string;
  readonly args: readonly TextView[];
  readonly reason: string;
  readonly since: number;
  readonly expiresAt: number;
  /** What the answer must be; null for a value of any type. */
  readonly answer: AnswerForm | null;
  /** What the program may do, of the call `plan`; null for other calls. Its arguments are none then. */
  readonly plan: PlanView | null;
  /** Whether it has its answer, and the session waits for other calls or its driver. */
  readonly completed: boolean;
  /** Why the page cannot answer it: without `--approve`, or an ARGO intent; null when it can. */
  readonly refusal: string | null;
}

/** All that a program may do if its plan is approved. */
export interface PlanView {
  /** Its files, and how many calls may change something. */
  readonly head: TextView;
  /** The turn for which the last grant of the session was approved, against which changes are marked; null for none. */
  readonly since: number | null;
  /** New calls and those that may change something first. */
  readonly calls: readonly PlanCallView[];
  /** Tools of that earlier grant that this one does not have. */
  readonly gone: readonly string[];
  /** Rules about the order of calls, and what is not known. */
  readonly notes: readonly TextView[];
}

/** Calls that a plan allows. */
export interface PlanCallView {
  readonly tool: string;
  /** What the tool declares; null for what no tool does. */
  readonly effects: Effects | null;
  /** Whether it may change something, or nobody knows. */
  readonly mayChange: boolean;
  /** Since the earlier grant; null without one. */
  readonly change: CallChange | null;
  /** Arguments and number, in words. */
  readonly terms: TextView;
  /** What the calls cost, at most and usually, in words; empty without a price and a past. */
  readonly cost: string;
  readonly notes: readonly TextView[];
}
