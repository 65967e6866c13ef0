import {
  isTurnNonce,
  type KeyLookup,
  type Keyring,
  type Lifetimes,
  type Lint,
  MintLedger,
  ProgressGuard,
  type ProgressState,
  type ReplayCache,
  resolveLifetimes,
} from '../../aeiou/index.ts';
import type { RecordedRun } from '../../runtime/index.ts';
import { type LimitOptions, tighten } from '../../sandbox/index.ts';
import { APPROVAL } from '../../tools/index.ts';
import { ConfigError } from '../../wire/errors.ts';
import { STORED_VERSION } from '../../wire/forms.ts';
import type { JournalEntry } from '../../wire/journal.ts';
import type { LimitValues } from '../../wire/limits.ts';
import type { Preview } from '../../wire/preview.ts';
import type { Clock } from '../clock.ts';
import type { LoopEventBody, LoopListener } from '../events.ts';
import type { Ids } from '../ids.ts';
import { createMagicTool, MAGIC_TOOL, MINT_LEDGER } from '../magic.ts';
import type { KeptCall } from '../record/kept.ts';
import { type AgentUse, recordedInput, type Scene, type TurnRecord, type UnsealedRecord } from '../record/record.ts';
import { sealRecord } from '../record/seal.ts';
import type { EarlierTurn, SuspendedTurn } from '../record/suspension.ts';
import type { TurnApproval } from './approval.ts';
import { type Execution, execute } from './execute.ts';
import type { TurnExecutor } from './executor.ts';
import type { TurnInput } from './input.ts';
import { TurnKeeper } from './keeper.ts';
import { Lifecycle } from './lifecycle.ts';
import { DecisionRecorder, publicPart, TokenRecorder } from './recorder.ts';
import { decide, type ProgressCheck } from './verdict.ts';

/** The parts that all turns of a host share. */
export interface TurnHost {
  /** Runs programs. */
  readonly executor: TurnExecutor;
  /** Signs and verifies tokens. */
  readonly keyring: Keyring;
  /** Gives the times of records and tokens. */
  readonly clock: Clock;
  /** Gives the ids of tokens. */
  readonly ids: Ids;
  /** Remembers used token ids across turns. */
  readonly replay: ReplayCache;
  /** How long tokens are valid; `DEFAULT_LIFETIMES` for absent fields. */
  readonly lifetimes?: Partial<Lifetimes> | undefined;
  /** Number of equal turns in a row that ends a session, from 2 to 100; 3 when absent. */
  readonly noProgressN?: number | undefined;
  /** Guards of the application, in addition to the mandatory guard. */
  readonly checks?: readonly ProgressCheck[];
  /** Keys that verify tokens, if they differ from the keyring that signs. */
  readonly keys?: KeyLookup;
}

/** One turn to run. */
export interface TurnRequest {
  /** Id of the session. */
  readonly sid: string;
  /** From 1. */
  readonly turn: number;
  /** The envelope of the turn, or why it cannot be read. */
  readonly input: TurnInput;
  /** The agent's usage, only for the record. Null when absent. */
  readonly agent?: AgentUse | null;
  /** State of the progress guard after the previous turn. */
  readonly progress: ProgressState;
  /** Limits tighter than the executor's own; looser values have no effect. */
  readonly limits?: LimitOptions;
  /** Cancels the turn. */
  readonly signal?: AbortSignal | undefined;
  /** As in the turn's context. */
  readonly mayAct?: () => boolean;
  /** As in the turn's context. */
  readonly fence?: number;
  /** As in the turn's context. */
  readonly origin?: string;
  /** Number of this attempt at the turn, from 1, which is the default. A higher one may repeat calls of an earlier one. */
  readonly attempt?: number;
  /** The tenant in whose name the turn runs. */
  readonly tenant?: string;
  /** Stores every call before the program goes on; absent if a turn is stored only at its end. */
  readonly keep?: (call: KeptCall) => Promise<void>;
  /** Awaited when nonce and limits are fixed and nothing has run. If it throws, the turn does not begin. */
  readonly onStart?: (start: TurnStart) => Promise<void>;
  /** Must not throw. */
  readonly onEvent?: LoopListener;
  /** Hash of the previous turn's record; null or absent for the first. */
  readonly prev?: string | null;
  /** An earlier execution of this turn, to be continued or repeated. */
  readonly earlier?: EarlierRun;
  /** A human's approval, and whether ACTIONS requires it. */
  readonly approval?: TurnApproval;
  /**
   * The preview to which ACTIONS is bound: a call outside of it is refused. It is no approval. Pass it again when the turn is continued.
   */
  readonly bound?: Preview;
  /** Further values of the turn's context. */
  readonly values?: Readonly<Record<string, unknown>>;
}

/** An earlier execution of a turn, and the recorded run to execute; null when no program had run. */
export interface EarlierRun extends EarlierTurn {
  /** The run to execute again; null when no program had run. */
  readonly recorded: RecordedRun | null;
  /** Numbers of the calls that the recorded run answers; none when absent. */
  readonly answered?: readonly number[];
  /** Hash of the ACTIONS that a human approved when it began; null or absent when none had to. */
  readonly approved?: string | null;
}

/** Values that are fixed before the program of a turn runs. */
export interface TurnStart {
  /** Unix milliseconds. */
  readonly startedAt: number;
  /** 16 random bytes in base64url, to which the tokens of the turn are bound. */
  readonly nonce: string;
  /** The limits under which the program will run. */
  readonly limits: LimitValues;
}

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

/**
 * Runs exactly one turn: nonce and context, envelope, ACTIONS check, policy, execution in a fresh sandbox under limits,
 * candidates, selection and lints, progress guard, carry-forward check. The caller holds the session's lock and stores the
 * record. A tool cannot suspend this turn; see {@link runSuspendableTurn}.
 *
 * Resolves with a decision for every failure of the envelope or the program, for every limit, and for a cancellation. Rejects
 * only for misuse and state: `ConfigError`, `RuntimeClosedError`, `BusyError`.
 */
export async function runTurn(host: TurnHost, request: TurnRequest): Promise<DecidedTurn> {
  const outcome = await runOnce(host, request, false);
  if (outcome.kind === 'decided') return outcome;
  throw new ConfigError('the executor suspended a turn that cannot be resumed');
}

/** Like {@link runTurn}, but a tool may suspend the turn. To continue, run the turn again with `earlier`. */
export function runSuspendableTurn(host: TurnHost, request: TurnRequest): Promise<TurnOutcome> {
  return runOnce(host, request, true);
}

async function runOnce(host: TurnHost, request: TurnRequest, mayWait: boolean): Promise<TurnOutcome> {
  const { sid, turn, input, earlier } = request;
  const { clock } = host;
  checkSid(sid);
  const guard = new ProgressGuard(host.noProgressN, 'noProgressN');
  const lifetimes = resolveLifetimes(host.lifetimes);
  const emit = (body: LoopEventBody): void => request.onEvent?.({ sid, turn, ...body });
  const lifecycle = new Lifecycle((from, to) => emit({ type: 'state', from, to }));
  const recorder = new TokenRecorder(clock, host.ids, earlier);
  const startedAt = earlier?.startedAt ?? clock.now();
  const begun = clock.monotonic();

  lifecycle.to('EXECUTING');
  const limits = tighten(host.executor.limits, request.limits ?? {});
  const nonce = earlier?.nonce ?? host.ids.nonce(sid, turn);
  if (!isTurnNonce(nonce)) throw new ConfigError('the nonce of a turn must be 16 bytes in base64url (22 characters)');
  await request.onStart?.({ startedAt, nonce, limits });
  const ledger = ledgerOf(earlier);
  const ranUntilNow = (): number => (earlier?.ranMs ?? 0) + clock.monotonic() - begun;
  const soFar = (): EarlierTurn => {
    const { readings, jtis } = recorder;
    return { startedAt, nonce, clock: readings, jtis, mints: ledger.mints, mintFailed: ledger.failed, ranMs: ranUntilNow() };
  };
  const keeper =
    request.keep === undefined ? null : new TurnKeeper({ keep: request.keep, soFar, continues: earlier !== undefined });
  const provisions = { limits, nonce, recorder, ledger, emit, mayWait, keeper };
  const { run, denied, host: facts, waiting: calls, approved, ...execution } = await executeTurn(host, request, provisions);
  const ranMs = ranUntilNow();
  const [waiting, ...alsoWaiting] = calls;
  if (waiting !== undefined && run !== null) {
    const also = alsoWaiting.length === 0 ? {} : { alsoWaiting };
    return { kind: 'suspended', ...waiting, ...also, approved, earlier: { ...soFar(), run, journal: execution.journal } };
  }

  lifecycle.to('VERIFYING');
  const answers = new DecisionRecorder(host);
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

  const { halt: _, ...outcome } = execution;
  const scene: Scene = {
    lints: envelopeLints(input),
    unreadable: input.ok ? null : { code: input.failure.code, message: input.failure.message },
    denied,
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
    latencyMs: ranMs,
    agent: request.agent ?? null,
    inputs: { envelope: input.text, limits, nonce, clock: recorder.readings, jtis: recorder.jtis, scene },
    ...outcome,
    ...verdict,
    ...repetitions(host.executor, request, execution.journal),
    lints: [...envelopeLints(input), ...verdict.lints],
    outputBytes: Buffer.byteLength(execution.output),
    scratchBytes: Buffer.byteLength(execution.scratchpad),
  };
  return { kind: 'decided', record: sealRecord(unsealed, request.prev ?? null), progress };
}

/** The calls of this attempt that an earlier one may have made too, if their tools are not idempotent. */
function repetitions(
  executor: TurnExecutor,
  { attempt = 1, earlier, keep }: TurnRequest,
  journal: readonly JournalEntry[],
): Pick<UnsealedRecord, 'repeats'> {
  // With kept calls, a call that may have had its effect is not made again.
  if (attempt === 1 || keep !== undefined) return {};
  const answered = new Set(earlier?.answered);
  const mayHaveTwo = (name: string): boolean => name !== MAGIC_TOOL && !(executor.idempotent?.(name) ?? false);
  const repeats = journal.filter((entry) => !answered.has(entry.seq) && entry.kind === 'tool' && mayHaveTwo(entry.name));
  return repeats.length === 0 ? {} : { repeats: repeats.map(({ seq }) => seq) };
}

const SID = /^[\x21-\x7e]{1,128}$/;

/** Throws {@link ConfigError} for a session id that does not fit into a token or one line of a log. */
export function checkSid(sid: string): void {
  if (!SID.test(sid)) throw new ConfigError('a session id has 1 to 128 visible ASCII characters and no blanks');
}

interface Provisions {
  readonly limits: LimitValues;
  readonly nonce: string;
  readonly recorder: TokenRecorder;
  readonly ledger: MintLedger;
  readonly emit: (event: LoopEventBody) => void;
  readonly mayWait: boolean;
  readonly keeper: TurnKeeper | null;
}

/**
 * Executes ACTIONS in a context of its own that holds session, turn and nonce. The context is closed before the decision, so a
 * late callback of this turn cannot mint a token for the next one.
 */
async function executeTurn(
  host: TurnHost,
  request: TurnRequest,
  { limits, nonce, recorder, ledger, emit, mayWait, keeper }: Provisions,
): Promise<Execution> {
  const magic = createMagicTool({
    keyring: host.keyring,
    clock: recorder,
    ids: recorder,
    lifetimes: host.lifetimes,
  });
  const context = host.executor.context({
    sessionId: request.sid,
    turnIndex: request.turn,
    nonce,
    // The recorder records only the times of tokens. Times that a tool reads are in its result.
    clock: () => host.clock.now(),
    values: { ...request.values, [MINT_LEDGER]: ledger, [APPROVAL]: request.approval?.approval },
    signal: request.signal,
    mayAct: request.mayAct,
    fence: request.fence,
    origin: request.origin,
    tenant: request.tenant,
  });
  try {
    const { recorded = null, approved = null } = request.earlier ?? {};
    const { executor } = host;
    const { input, approval = {}, bound = null } = request;
    const more = { recorded, approved, mayWait, approval, bound, keeper };
    const execution = await execute({ executor, input, context, limits, magic, emit, ...more });
    // A failed mint always fails the turn, even if the program caught the error or minted a token later.
    const isMintFailure = ledger.failed && (execution.halt === null || execution.halt === 'ERR_EXEC');
    return isMintFailure ? { ...execution, halt: 'ERR_MAGIC_TOOL_INTERNAL' } : execution;
  } finally {
    context.close();
  }
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
