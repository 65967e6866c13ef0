import { envelopeOf, NO_PROGRESS_YET } from '../../aeiou/index.ts';
import type { Runtime } from '../../runtime/index.ts';
import { hostFailure } from '../record/decision.ts';
import {
  actionsOf,
  type FailedAttempt,
  inputOf,
  type Judged,
  type RecordedInput,
  type Scene,
  type TurnRecord,
} from '../record/record.ts';
import { readReply } from '../turn/input.ts';
import { problemsIn } from '../turn/problems.ts';
import { compareRuns, type Divergence, difference } from './compare.ts';
import { type ExecutionOptions, judgedBy, NO_NAMES, type Repetition, repeat, replayLimits } from './execute.ts';

/** The result of executing an attempt again that did not decide its turn, or of judging its rejected program again. */
export interface AttemptReplay extends Pick<FailedAttempt, 'end'>, Pick<Repetition, 'verdict' | 'why'> {
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /** The first difference; null without one. Its place names the attempt. */
  readonly divergence: Divergence | null;
}

type AttemptOutcome = Pick<Repetition, 'verdict' | 'why' | 'divergence'>;

/** Executes the attempts that did not decide a turn, in order. The record must not be malformed. */
export async function replayAttempts(
  runtime: Runtime,
  record: TurnRecord,
  { signal }: ExecutionOptions,
): Promise<readonly AttemptReplay[]> {
  const replays: AttemptReplay[] = [];
  for (const [index, each] of (record.attempts ?? []).entries()) {
    signal?.throwIfAborted();
    const attempt = index + 1;
    const { verdict, why, divergence } = await replayAttempt(runtime, record, each, signal);
    const placed = divergence === null ? null : { ...divergence, where: `attempt ${attempt}: ${divergence.where}` };
    replays.push({ attempt, end: each.end, verdict, why, divergence: placed });
  }
  return replays;
}

async function replayAttempt(
  runtime: Runtime,
  record: TurnRecord,
  attempt: FailedAttempt,
  signal: AbortSignal | undefined,
): Promise<AttemptOutcome> {
  const read = attempt.unreadable === null ? envelopeDifference(attempt) : unreadableDifference(record, attempt);
  if (read !== null) return differs(read);
  if (attempt.unreadable !== null) return SAME;
  if (attempt.run === null) return judgeAgain(runtime, attempt, signal);
  const tried = recordOf(record, attempt);
  const repeated = await repeat(runtime, tried.record, tried.scene, compareRuns, { signal });
  return repeated.verdict === 'same' ? explainAgain(runtime, attempt, attempt.run, signal) : repeated;
}

/** Compares what may have caused the error of an attempt. Where nothing is recorded, no worker may have been able to look. */
async function explainAgain(
  runtime: Runtime,
  { envelope, error, problems, limits }: FailedAttempt,
  run: RecordedInput,
  signal: AbortSignal | undefined,
): Promise<AttemptOutcome> {
  if (problems.length === 0) return SAME;
  const actions = actionsOf(envelope) ?? '';
  using turn = runtime.turn({ signal });
  const input = inputOf(run, replayLimits(limits, runtime.limits), { name: 'ACTIONS', text: actions }, null);
  const causes = await runtime.interpreter().fork({ turn }).causes(input, error);
  const divergence = difference('problems', problems, problemsIn({ causes }, actions));
  return divergence === null ? SAME : differs(divergence);
}

const SAME: AttemptOutcome = { verdict: 'same', why: null, divergence: null };

const differs = (divergence: Divergence): AttemptOutcome => ({ verdict: 'differs', why: null, divergence });

const unjudged = (why: string): AttemptOutcome => ({ verdict: 'incomplete', why, divergence: null });

/** The parts of a decision that an attempt does not have. */
const NOT_JUDGED: Judged = {
  progress: NO_PROGRESS_YET,
  noProgressN: 3,
  clockSkew: 0,
  stopped: false,
  mintFailed: false,
  fresh: [],
  keys: [],
};

/** The attempt in the form of a turn. Its decision has no meaning. */
function recordOf(record: TurnRecord, attempt: FailedAttempt): { readonly record: TurnRecord; readonly scene: Scene } {
  const { envelope, limits, clock, jtis, unreadable, denied, run } = attempt;
  const { output, scratchpad, outputComplete, whispers, journal, usage, error } = attempt;
  const { nonce, scene: decided } = record.inputs;
  const scene: Scene = { lints: [], unreadable, denied, run, host: decided?.host ?? null, judged: NOT_JUDGED };
  const ran = { output, scratchpad, outputComplete, whispers, journal, usage, error };
  return { record: { ...record, ...ran, candidates: [], inputs: { envelope, limits, nonce, clock, jtis, scene } }, scene };
}

/** The first difference between the recorded program and that of the reply; null when they are equal. */
function envelopeDifference({ reply, envelope }: FailedAttempt): Divergence | null {
  const sections = envelopeOf(envelope);
  return difference('envelope', envelope, sections === null ? null : readReply(sections, reply).text);
}

/** Reads a reply again that could not be read. */
function unreadableDifference(record: TurnRecord, { reply, error }: FailedAttempt): Divergence | null {
  const sections = envelopeOf(record.inputs.envelope) ?? { userdata: '{}', output: null, scratchpad: null };
  const input = readReply(sections, reply);
  return difference('error', error, input.ok ? null : hostFailure(input.failure.code, input.failure.message));
}

/** Judges a rejected program again: by its text, and by what is recorded of the tools and procedures that it names. */
async function judgeAgain(
  runtime: Runtime,
  { envelope, error, problems, limits, names }: FailedAttempt,
  signal: AbortSignal | undefined,
): Promise<AttemptOutcome> {
  const actions = actionsOf(envelope) ?? '';
  const sources = [{ name: 'ACTIONS', text: actions }];
  const recorded = judgedBy(names ?? NO_NAMES, replayLimits(limits, runtime.limits), { sources });
  using turn = runtime.turn({ signal });
  const request = { asTurn: true, checkFirst: true, strict: names !== undefined, recorded };
  const again = await runtime.interpreter().fork({ turn }).rejection(request);
  if (again?.error.code === 'ERR_WORKER' || again?.error.code === 'ERR_TIMEOUT') return unjudged(again.error.message);
  const told = again === null ? [] : problemsIn(again, actions);
  const divergence = difference('error', error, again && { ...again.error }) ?? difference('problems', problems, told);
  return divergence === null ? SAME : differs(divergence);
}
