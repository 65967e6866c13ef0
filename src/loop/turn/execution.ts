import { hash } from 'node:crypto';
import { type Grant, untakenCalls } from '../../tools/index.ts';
import { defined } from '../../wire/defined.ts';
import type { ErrorInfo } from '../../wire/errors.ts';
import type { JournalEntry } from '../../wire/journal.ts';
import type { SaidLabels } from '../../wire/labels.ts';
import type { RunInput, Source, TaggedJson, Usage, Whisper } from '../../wire/protocol.ts';
import { NO_USAGE, type RunResult } from '../../wire/result.ts';
import type { JudgedNames } from '../../wire/sourcereports.ts';
import { MAGIC_TOOL } from '../magic.ts';
import { hasAnswer, journalsOf } from '../record/attempt.ts';
import { type HaltReason, reasonOfRun } from '../record/decision.ts';
import type { FailedAttempt, HostFacts, Problem, Scene, UnsealedRecord } from '../record/record.ts';
import type { PromisedCall } from '../record/suspension.ts';
import type { TurnExecutor } from './executor.ts';
import { problemsIn, safelyFixed } from './problems.ts';
import type { RepeatedRun, TurnRequest } from './request.ts';
import type { Said } from './verdict.ts';

/** The result of executing the ACTIONS of a turn. */
export interface Execution extends Said {
  /** False when the worker was killed and the last emits may be missing. */
  readonly outputComplete: boolean;
  readonly labels?: SaidLabels;
  readonly whispers: readonly Whisper[];
  readonly journal: readonly JournalEntry[];
  readonly usage: Usage;
  readonly error: ErrorInfo | null;
  /** The worker's input; null when no program ran or the executor does not report it. */
  readonly run: RunInput | null;
  /** The first tool that the policy denied before the program ran. */
  readonly denied: Scene['denied'];
  readonly host: HostFacts | null;
  /** The calls at which tools suspended the run, in the order of the program: several only when they ran together. */
  readonly waiting: readonly PromisedCall[];
  /** Hash of the ACTIONS that a human approved; null when none had to. */
  readonly approved: string | null;
  /** Whether the program was rejected before it ran. */
  readonly rejected: boolean;
  /** Everything that is wrong with a rejected program, or may have caused the failure of one that ran. */
  readonly problems: readonly Problem[];
  /** What a program was judged by that was rejected for the names in it; null for any other. */
  readonly names: JudgedNames | null;
  /** A rejected program with the corrections that need no decision; null when there is none. */
  readonly fixed: string | null;
}

/** The execution of ACTIONS whose run has this result. `ran` is what the result does not say. */
export function executionOf(
  result: RunResult,
  actions: string,
  { run, ...ran }: Pick<Execution, 'run' | 'host' | 'waiting' | 'approved'>,
): Execution {
  const { emits, whispers, journal, usage, error, errors, findings, labels, names } = result;
  const rejected = errors !== undefined || findings !== undefined;
  return {
    halt: error === null ? null : reasonOfRun(error),
    output: stream(emits),
    scratchpad: stream(whispers.map(({ text }) => text)),
    outputComplete: result.outputComplete ?? true,
    ...defined({ labels }),
    ...{ whispers, journal, usage },
    // A record has fields alone.
    error: error && { ...error },
    run: rejected ? null : run,
    ...ran,
    denied: deniedIn(result),
    rejected,
    problems: problemsIn(result, actions),
    names: rejected ? (names ?? null) : null,
    fixed: rejected ? safelyFixed(result, actions) : null,
  };
}

/** The execution of ACTIONS that did not run. */
export function refused(halt: HaltReason, error: ErrorInfo): Execution {
  const nothing = { output: '', scratchpad: '', outputComplete: true, whispers: [], journal: [], usage: NO_USAGE };
  const none = { run: null, denied: null, host: null, waiting: [], approved: null };
  return { halt, error, ...nothing, ...none, rejected: false, problems: [], names: null, fixed: null };
}

/**
 * An execution with the calls that it was to repeat and had not come to when it ended, because it was cancelled or its worker was killed.
 * They were made.
 */
export function withRepeats(executed: Execution, repeats: RepeatedRun | null): Execution {
  const answered = new Set(executed.journal.filter(hasAnswer).map(({ seq }) => seq));
  const missed = (repeats?.journal ?? []).filter(({ seq }) => !answered.has(seq));
  if (repeats === null || missed.length === 0) return executed;
  const others = executed.journal.filter(({ seq }) => !missed.some((call) => call.seq === seq));
  const journal = [...others, ...missed].toSorted((a, b) => a.seq - b.seq);
  return { ...executed, journal, run: executed.run ?? repeats.run };
}

/** The earlier attempts, and their calls with effects that this one did not take; nothing without an earlier attempt. */
export function recordedAttempts(
  executor: TurnExecutor,
  attempts: readonly FailedAttempt[],
  journal: readonly JournalEntry[],
): Pick<UnsealedRecord, 'attempts' | 'leftOver'> {
  if (attempts.length === 0) return {};
  const leftOver = untakenCalls(journalsOf(attempts), journal).filter(({ tool }) => executor.hasEffects?.(tool) ?? true);
  return { attempts, leftOver };
}

/** The calls of this attempt that an earlier one may have made too, if their tools are not idempotent. */
export function repetitions(
  executor: TurnExecutor,
  { attempt = 1, earlier, keep }: TurnRequest,
  journal: readonly JournalEntry[],
): Pick<UnsealedRecord, 'repeats'> {
  // With kept calls, a call that may have had its effect is not made again.
  if (attempt === 1 || keep !== undefined) return {};
  const answered = new Set(earlier?.repeats?.journal.map(({ seq }) => seq));
  const mayHaveTwo = (name: string): boolean => name !== MAGIC_TOOL && !(executor.idempotent?.(name) ?? false);
  const repeats = journal.filter((entry) => !answered.has(entry.seq) && entry.kind === 'tool' && mayHaveTwo(entry.name));
  return repeats.length === 0 ? {} : { repeats: repeats.map(({ seq }) => seq) };
}

/**
 * The part of a recorded run that does not belong to this turn; null when there is none. Records and rows may come from others, so the
 * run must have no program but that of the envelope, no USERDATA but the host's, and the sources that a person was `shown` with the plan, if
 * one was approved. The worker refuses other sources with a command block.
 */
export function foreignPart(
  { sources, globals, call, events, variables, turn }: RunInput,
  { name, text }: Source,
  userdata: TaggedJson,
  shown: Grant['programs'] | undefined,
): string | null {
  const program = sources.at(-1);
  if (program?.name !== name || program.text !== text) return 'its program is not the ACTIONS of its envelope';
  if (JSON.stringify(globals['userdata']) !== JSON.stringify(userdata)) return 'its USERDATA is not that of its envelope';
  const isShown = (each: Source, index: number): boolean =>
    shown === undefined || (shown.length === sources.length && shown[index]?.sha256 === hash('sha256', each.text));
  if (!sources.every(isShown)) return 'its procedures are not those of the plan that was approved';
  if (call !== null || events.length > 0 || variables !== undefined || !turn) return 'it has more than ACTIONS to run';
  return null;
}

/** The first denied tool for which the program was rejected. */
function deniedIn({ findings }: RunResult): Scene['denied'] {
  const first = findings?.find(({ code }) => code === 'LINT_DENIED_TOOL');
  return first?.tool === undefined ? null : { tool: first.tool, message: first.message };
}

/** Joins texts, each followed by a line feed. Replaces ill-formed characters before the text is measured. */
function stream(texts: readonly string[]): string {
  return texts
    .map((text) => `${text}\n`)
    .join('')
    .toWellFormed();
}
