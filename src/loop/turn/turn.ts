import { isTurnNonce, type Lint, MintLedger, ProgressGuard, type ProgressState, resolveLifetimes } from '../../aeiou/index.ts';
import { tighten } from '../../sandbox/index.ts';
import { untakenCalls } from '../../tools/index.ts';
import { ConfigError } from '../../wire/errors.ts';
import { STORED_VERSION } from '../../wire/forms.ts';
import type { JournalEntry } from '../../wire/journal.ts';
import type { RunInput } from '../../wire/protocol.ts';
import { type LoopEventBody, Watcher } from '../events.ts';
import { MAGIC_TOOL } from '../magic.ts';
import { hasAnswer, journalsOf, voidTokens } from '../record/attempt.ts';
import type { FailedAttempt } from '../record/record.ts';
import { recordedInput, type Scene, type TurnRecord, type UnsealedRecord } from '../record/record.ts';
import { sealRecord } from '../record/seal.ts';
import type { EarlierTurn, SuspendedTurn } from '../record/suspension.ts';
import { type Execution, execute } from './execute.ts';
import type { TurnExecutor } from './executor.ts';
import { endOf, failedAttempt } from './failure.ts';
import type { TurnInput } from './input.ts';
import { TurnKeeper } from './keeper.ts';
import { Lifecycle } from './lifecycle.ts';
import { PhaseTimer } from './phases.ts';
import { DecisionRecorder, publicPart, TokenRecorder } from './recorder.ts';
import type { EarlierRun, RepeatedRun, TurnHost, TurnRequest } from './request.ts';
import { decide } from './verdict.ts';

/** A turn with a decision, and the state of the progress guard after it. */
export interface DecidedTurn {
  readonly kind: 'decided';
  /** The turn, sealed. */
  readonly record: TurnRecord;
  /** The state of the progress guard after the turn. */
  readonly progress: ProgressState;
}

/** A turn ends with a decision, or a tool suspends it. */
export type TurnOutcome = DecidedTurn | ({ readonly kind: 'suspended' } & SuspendedTurn);

/** An attempt that does not decide its turn, because another one may follow. */
export interface UndecidedAttempt {
  readonly kind: 'failed';
  readonly attempt: FailedAttempt;
  /** The program with the corrections that need no decision; null when there is none. */
  readonly fixed: string | null;
  /** The input of the program; null when it did not run. */
  readonly run: RunInput | null;
  /** Hash of the ACTIONS that a human approved; null when none had to, or the program did not run. */
  readonly approved: string | null;
  /** The state from which the turn goes on. */
  readonly earlier: EarlierTurn;
}

/**
 * Runs exactly one turn: nonce and context, envelope, ACTIONS check, policy, execution in a fresh sandbox under limits,
 * candidates, selection and lints, progress guard, carry-forward check. The caller holds the session's lock and stores the
 * record. A tool cannot suspend this turn; see {@link runSuspendableTurn}.
 *
 * Resolves with a decision for every failure of the envelope or the program, for every limit, and for a cancellation. Rejects
 * only for misuse and state: `ConfigError`, `RuntimeClosedError`, `BusyError`.
 */
export async function runTurn(host: TurnHost, request: TurnRequest): Promise<DecidedTurn> {
  const outcome = await runAttempt(host, { ...request, mayFollow: NONE }, false);
  if (outcome.kind === 'decided') return outcome;
  throw new ConfigError('the executor suspended a turn that cannot be resumed');
}

/** Like {@link runTurn}, but a tool may suspend the turn. To continue, run the turn again with `earlier`. */
export async function runSuspendableTurn(host: TurnHost, request: TurnRequest): Promise<TurnOutcome> {
  const outcome = await runAttempt(host, { ...request, mayFollow: NONE }, true);
  if (outcome.kind !== 'failed') return outcome;
  throw new ConfigError('an attempt that nothing may follow did not decide its turn');
}

/** No attempt follows. */
const NONE = (): boolean => false;

/** Makes one attempt at a turn. It decides the turn, unless a tool suspends it or another attempt may follow. */
export async function runAttempt(
  host: TurnHost,
  request: TurnRequest,
  mayWait: boolean,
): Promise<TurnOutcome | UndecidedAttempt> {
  const { sid, turn, input, earlier, attempts = [], mayFollow = NONE } = request;
  const { clock } = host;
  checkSid(sid);
  const guard = new ProgressGuard(host.noProgressN, 'noProgressN');
  const lifetimes = resolveLifetimes(host.lifetimes);
  const watcher = new Watcher(request.onEvent);
  const emit = (body: LoopEventBody): void => watcher.emit({ sid, turn, ...body });
  const lifecycle = new Lifecycle((from, to) => emit({ type: 'state', from, to }));
  const recorder = new TokenRecorder(clock, host.ids, earlier);
  const startedAt = earlier?.startedAt ?? clock.now();
  const timer = new PhaseTimer(clock, timeBefore(earlier));

  lifecycle.to('EXECUTING');
  const limits = tighten(host.executor.limits, request.limits ?? {});
  const nonce = earlier?.nonce ?? host.ids.nonce(sid, turn);
  if (!isTurnNonce(nonce)) throw new ConfigError('the nonce of a turn must be 16 bytes in base64url (22 characters)');
  await request.onStart?.({ startedAt, nonce, limits });
  timer.end('store');
  const ledger = ledgerOf(earlier);
  const soFar = (): EarlierTurn => {
    const { readings, jtis } = recorder;
    return { startedAt, nonce, clock: readings, jtis, mints: ledger.mints, mintFailed: ledger.failed, ranMs: timer.elapsed };
  };
  const keeper =
    request.keep === undefined ? null : new TurnKeeper({ keep: request.keep, soFar, continues: earlier?.recorded != null });
  const onAsked = (): void => void timer.end('prepare');
  const means = { limits, nonce, recorder, ledger, emit, mayWait, time: timer, onAsked, keeper };
  const executed = withRepeats(await execute(host, request, means), earlier?.repeats ?? null);
  const { run, denied, host: facts, waiting: calls, approved, rejected: _, problems: __, names, fixed, ...execution } = executed;
  watcher.check();
  if (timer.has('prepare')) timer.endRun(execution.usage);
  else timer.end('prepare');
  const [waiting, ...alsoWaiting] = calls;
  if (waiting !== undefined && run !== null) {
    const also = alsoWaiting.length === 0 ? {} : { alsoWaiting };
    return { kind: 'suspended', ...waiting, ...also, approved, earlier: { ...soFar(), run, journal: execution.journal } };
  }

  // A stored run that is refused is not the agent's fault, and no other program may take its place.
  const mayEnd = !executed.rejected || (earlier?.recorded ?? null) === null;
  const end = mayEnd ? endOf(executed, input) : null;
  const { error } = executed;
  if (end !== null && error !== null && !ledger.failed) {
    const until = soFar();
    const attempt = failedAttempt({ ...executed, error }, { end, reply: request.reply ?? '', input, limits, earlier: until });
    if (mayFollow(attempt, fixed)) return { kind: 'failed', attempt, fixed, run, approved, earlier: until };
  }

  lifecycle.to('VERIFYING');
  const answers = new DecisionRecorder(host, voidTokens(attempts));
  const { verdict, progress } = decide(execution, {
    sid,
    turn,
    nonce,
    guard,
    checks: [answers.stopped],
    keys: host.keys ?? host.keyring,
    clock: recorder,
    clockSkew: lifetimes.clockSkew,
    replay: answers.replay,
    progress: request.progress,
    userdata: input.ok ? input.envelope.userdata : '{}',
  });
  lifecycle.to('DECIDED');
  lifecycle.finish(verdict.decision);
  watcher.close();

  const { halt: ___, ...outcome } = execution;
  const scene: Scene = {
    lints: envelopeLints(input),
    unreadable: input.ok ? null : { code: input.failure.code, message: input.failure.message },
    denied,
    // On the last reply, what may fail is not rejected: then a denied tool says it all.
    ...(names === null || request.strict !== true ? {} : { names }),
    run: run === null ? null : recordedInput(run),
    host: facts,
    judged: {
      progress: request.progress,
      noProgressN: guard.n,
      clockSkew: lifetimes.clockSkew,
      stopped: answers.didStop,
      mintFailed: ledger.failed,
      fresh: answers.fresh,
      keys: host.keyring.list().map(publicPart),
    },
  };
  const unsealed: UnsealedRecord = {
    version: STORED_VERSION,
    sid,
    turn,
    startedAt,
    latencyMs: timer.end('verify'),
    phases: timer.phases,
    agent: request.agent ?? null,
    inputs: { envelope: input.text, limits, nonce, clock: recorder.readings, jtis: recorder.jtis, scene },
    ...outcome,
    ...verdict,
    ...repetitions(host.executor, request, execution.journal),
    ...recordedAttempts(host.executor, attempts, execution.journal),
    ...(request.plans?.length ? { plans: request.plans } : {}),
    lints: [...envelopeLints(input), ...verdict.lints],
    outputBytes: Buffer.byteLength(execution.output),
    scratchBytes: Buffer.byteLength(execution.scratchpad),
  };
  return { kind: 'decided', record: sealRecord(unsealed, request.prev ?? null), progress };
}

/** Milliseconds that a turn took before this execution. What a worker or process did until it died is known by its calls alone. */
function timeBefore({ ranMs, repeats }: Partial<EarlierRun> = {}): number {
  return (repeats?.journal ?? []).reduce((last, { begin, ms }) => Math.max(last, begin + ms), ranMs ?? 0);
}

/**
 * An execution with the calls that it was to repeat and had not come to when it ended, because it was cancelled or its worker was killed.
 * They were made.
 */
function withRepeats(executed: Execution, repeats: RepeatedRun | null): Execution {
  const answered = new Set(executed.journal.filter(hasAnswer).map(({ seq }) => seq));
  const missed = (repeats?.journal ?? []).filter(({ seq }) => !answered.has(seq));
  if (repeats === null || missed.length === 0) return executed;
  const others = executed.journal.filter(({ seq }) => !missed.some((call) => call.seq === seq));
  const journal = [...others, ...missed].toSorted((a, b) => a.seq - b.seq);
  return { ...executed, journal, run: executed.run ?? repeats.run };
}

/** The earlier attempts, and their calls with effects that this one did not take; nothing without an earlier attempt. */
function recordedAttempts(
  executor: TurnExecutor,
  attempts: readonly FailedAttempt[],
  journal: readonly JournalEntry[],
): Pick<UnsealedRecord, 'attempts' | 'leftOver'> {
  if (attempts.length === 0) return {};
  const leftOver = untakenCalls(journalsOf(attempts), journal).filter(({ tool }) => executor.hasEffects?.(tool) ?? true);
  return { attempts, leftOver };
}

/** The calls of this attempt that an earlier one may have made too, if their tools are not idempotent. */
function repetitions(
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

const SID = /^[\x21-\x7e]{1,128}$/;

/** Throws {@link ConfigError} for a session id that does not fit into a token or one line of a log. */
export function checkSid(sid: string): void {
  if (!SID.test(sid)) throw new ConfigError('a session id has 1 to 128 visible ASCII characters and no blanks');
}

/** The ledger of a turn, including the tokens that an earlier execution minted. */
function ledgerOf(earlier: EarlierRun | undefined): MintLedger {
  const ledger = new MintLedger(earlier?.mints);
  if (earlier?.mintFailed) ledger.markFailed();
  return ledger;
}

function envelopeLints(input: TurnInput): readonly Lint[] {
  return input.ok ? input.lints.map(({ code, line }) => ({ code, line })) : [];
}
