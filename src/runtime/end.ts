import { DeadlineError, type TurnContext } from '../context/index.ts';
import type { SandboxResult } from '../sandbox/index.ts';
import type { CostMeter, Dispatcher } from '../tools/index.ts';
import { defined } from '../wire/defined.ts';
import { cancelledError, timeoutError } from '../wire/errorinfo.ts';
import type { ErrorInfo } from '../wire/errors.ts';
import type { JournalEntry } from '../wire/journal.ts';
import type { LimitValues } from '../wire/limits.ts';
import type { Source, Usage } from '../wire/protocol.ts';
import type { RunResult } from '../wire/result.ts';
import { RunError } from '../wire/text/runerror.ts';
import type { RunOutput } from './output.ts';
import type { RunRequest } from './request.ts';

/** Why a run of this turn must not start: the turn has ended; null when the run may start. */
export function turnEnd(turn: TurnContext, now: () => number, limits: LimitValues): ErrorInfo | null {
  // Compares with the clock, because the timer of a deadline may be late.
  if (turn.deadline !== null && now() >= turn.deadline) return deadlineError(limits);
  return turn.aborted ? abortError(turn, limits) : null;
}

/** The error that ended a run; a run whose turn was aborted ends with the reason for that. */
export function endingError({ result }: SandboxResult, turn: TurnContext, limits: LimitValues): ErrorInfo | null {
  return turn.aborted && result.error?.kind === 'cancelled' ? abortError(turn, limits) : result.error;
}

/** The error of a run whose turn was aborted: a time limit for the deadline, a cancellation for everything else. */
function abortError(turn: TurnContext, limits: LimitValues): ErrorInfo {
  const reason: unknown = turn.signal.reason;
  return reason instanceof DeadlineError ? deadlineError(limits) : cancelledError('the run was cancelled');
}

function deadlineError({ wallMs }: LimitValues): ErrorInfo {
  return timeoutError({ limit: 'wallMs', allowed: wallMs }, "the turn's deadline has passed");
}

/** The result of a run that began. */
export function resultOf(
  { result: ended, errors, findings, names, usage: used, outputComplete, measuring }: SandboxResult,
  error: ErrorInfo | null,
  { emits, values, whispers }: RunOutput,
  journal: ReturnType<Dispatcher['finish']>,
  { limits, sources }: { readonly limits: LimitValues; readonly sources: readonly Source[] },
  { waiting: calls, taken }: Pick<Dispatcher, 'waiting' | 'taken'>,
  { used: cost }: Pick<CostMeter, 'used'>,
): RunResult {
  const [waiting, ...alsoWaiting] = calls;
  const { phase, result, eventErrors, variables, labels } = ended;
  // The interpreter counts a call whose answer an earlier attempt gave; nobody made it. A worker that was killed may have counted fewer.
  const made = { ...used, toolCalls: Math.max(0, used.toolCalls - taken) };
  const usage = { ...withEndingAsk(made, journal.last, limits), ...(cost === 0 ? {} : { cost }) };
  const facts = defined({
    phase,
    emits,
    values,
    whispers,
    result,
    eventErrors: eventErrors.map((each) => ({ ...each, error: new RunError(each.error, sources) })),
    variables,
    labels,
    usage,
    outputComplete: outputComplete ? undefined : false,
    profile: measuring?.profile(usage.fuel),
  });
  if (error === null) return withJournal({ ok: true, ...facts, error }, journal);
  // A worker may be killed when a tool has put the run aside. The call waits all the same.
  const isPutAside = error.code === 'ERR_SUSPENDED' || error.code === 'ERR_WORKER';
  const failure = {
    ok: false as const,
    ...facts,
    ...(errors.length === 0 ? {} : { errors }),
    findings,
    names,
    error: new RunError(error, sources, errors),
    ...(waiting === undefined || !isPutAside ? {} : { waiting }),
    ...(alsoWaiting.length === 0 || !isPutAside ? {} : { alsoWaiting }),
  };
  return withJournal(failure, journal);
}

/** Makes the entries of a journal when they are read for the first time, because few callers read them. */
function withJournal<T extends object>(result: T, journal: ReturnType<Dispatcher['finish']>): T & Pick<RunResult, 'journal'> {
  let entries: RunResult['journal'] | undefined;
  Object.defineProperty(result, 'journal', { enumerable: true, get: () => (entries ??= journal.entries) });
  // The property was just defined.
  return result as T & Pick<RunResult, 'journal'>;
}

/** The usage of a run, including that of an `ask` that ended it, for which the ended interpreter could not be charged. */
function withEndingAsk(usage: Usage, last: JournalEntry | undefined, limits: LimitValues): Usage {
  if (last?.kind !== 'ask' || last.spent === undefined || !('halted' in last.outcome)) return usage;
  const { fuel, toolCalls, cpuMs } = last.spent;
  // Reporting the end costs fuel too, and may exceed the limit of the run.
  const total = Math.max(usage.fuel, Math.min(limits.fuel, usage.fuel + fuel));
  return { ...usage, fuel: total, toolCalls: usage.toolCalls + toolCalls, cpuMs: usage.cpuMs + cpuMs };
}

/** Warns of a run that {@link ranNothing}. */
export const NOTHING_RUN = 'nothing was run: the program has no command block, and neither a call nor an event was asked for';

/**
 * Whether a run ended well because its sources have definitions alone. Event handlers cost fuel without being run. An empty source is not one that
 * somebody meant to run.
 */
export function ranNothing({ ok, usage }: RunResult, { sources = [], call, events = [], recorded }: RunRequest): boolean {
  const isIdle = ok && recorded === undefined && call === undefined && events.length === 0;
  return (
    isIdle &&
    (usage.fuel === 0 || !sources.some(({ text }) => beginsCommand(text))) &&
    sources.some(({ text }) => text.trim() !== '')
  );
}

/** Whether a line begins with the word that begins a command block. */
function beginsCommand(text: string): boolean {
  for (let at = 0; ; at++) {
    while (text[at] === ' ' || text[at] === '\t') at++;
    if (text.startsWith('command', at)) return true;
    at = text.indexOf('\n', at);
    if (at < 0) return false;
  }
}
