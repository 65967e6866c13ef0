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
import { type LimitOptions, tighten } from '../../sandbox/limits.ts';
import { APPROVAL } from '../../tools/index.ts';
import { ConfigError } from '../../wire/errors.ts';
import type { JournalEntry, WaitingCall } from '../../wire/journal.ts';
import type { LimitValues } from '../../wire/limits.ts';
import type { RunInput } from '../../wire/protocol.ts';
import type { AgentUse } from '../agents/consult.ts';
import { ASK_PURSE, type Purse } from '../ask/purse.ts';
import type { LoopEventBody, LoopListener } from '../events.ts';
import type { ProgressCheck } from '../guard.ts';
import { createMagicTool, MINT_LEDGER } from '../magic.ts';
import type { Clock, Ids } from '../ports.ts';
import { recordedRun, type Scene } from '../replay/facts.ts';
import { Judge, publicPart } from '../replay/judge.ts';
import { sealRecord } from '../replay/seal.ts';
import type { TurnApproval } from './approval.ts';
import { type Execution, execute } from './execute.ts';
import type { TurnExecutor } from './executor.ts';
import type { TurnInput } from './input.ts';
import { Lifecycle } from './lifecycle.ts';
import type { TurnRecord, UnsealedRecord } from './record.ts';
import { Recorder } from './recorder.ts';
import { decide } from './verdict.ts';

/** What all turns of a host have in common. */
export interface TurnHost {
  readonly executor: TurnExecutor;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Remembers used token ids across turns. */
  readonly replay: ReplayCache;
  readonly lifetimes?: Partial<Lifetimes>;
  /** Equal turns in a row that end a session, from 2 to 100; 3 when absent (AL3-6-4). */
  readonly noProgressN?: number;
  /** Guards of the application, beside the mandatory one (A3-9-8). */
  readonly checks?: readonly ProgressCheck[];
  /** Keys that verify, where they are others than those of the keyring, which signs. */
  readonly keys?: KeyLookup;
}

/** One turn to run. */
export interface TurnRequest {
  readonly sid: string;
  /** From 1. */
  readonly turn: number;
  readonly input: TurnInput;
  /** What the agent took; for the record alone. Null when absent. */
  readonly agent?: AgentUse | null;
  /** What the guard knows of the turns before. */
  readonly progress: ProgressState;
  /** Tighter limits than the executor's own; looser ones have no effect. */
  readonly limits?: LimitOptions;
  readonly signal?: AbortSignal;
  /** Waited for when nonce and limits are settled and nothing has run; what it throws ends the turn before it began. */
  readonly onStart?: (start: TurnStart) => Promise<void>;
  /** Must not throw. */
  readonly onEvent?: LoopListener;
  /** Hash of the record of the turn before; null or absent for the first. */
  readonly prev?: string | null;
  /** An execution of this turn that did not come to its end, or that is repeated. */
  readonly earlier?: EarlierRun;
  /** The human's approval, and whether ACTIONS needs it; tools may need it by themselves. */
  readonly approval?: TurnApproval;
  /** What the asks of this turn take from; nothing but their own options bounds them when absent. */
  readonly purse?: Purse;
}

/** What a turn takes over from an earlier execution of itself. */
export interface EarlierRun {
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly nonce: string;
  /** What the worker was given, and what is known of the calls; null when no program had run. */
  readonly again: RecordedRun | null;
  /** Readings of the clock and token ids that were given out then. */
  readonly clock: readonly number[];
  readonly jtis: readonly string[];
  readonly mints: number;
  readonly mintFailed: boolean;
  /** Milliseconds that it ran. */
  readonly ranMs: number;
}

/** What is settled before the program of a turn runs. */
export interface TurnStart {
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly nonce: string;
  readonly limits: LimitValues;
}

/** A decided turn, and what the guard knows after it. */
export interface TurnOutcome {
  readonly record: TurnRecord;
  readonly progress: ProgressState;
}

/**
 * Runs exactly one turn, in the order of protocol.md 10.1: nonce and context, envelope, ACTIONS check, policy, execution
 * in a fresh sandbox under limits, context closed, minting failure, candidates, selection and lints, progress guard,
 * carry-forward check. The caller holds the session's lock and keeps the record.
 *
 * Resolves with a decision whatever the envelope, the program, a limit or a cancellation does. Rejects for misuse and state
 * alone: `ConfigError`, `RuntimeClosedError`, `BusyError`.
 */
export async function runTurn(host: TurnHost, request: TurnRequest): Promise<TurnOutcome> {
  const end = await runWaitingTurn(host, request, false);
  if ('record' in end) return end;
  throw new ConfigError('the executor put a turn aside that nobody keeps');
}

/** A turn that was put aside: a tool will answer later. */
export interface TurnWaits {
  readonly waiting: WaitingCall;
  readonly earlier: Omit<EarlierRun, 'again'> & { readonly run: RunInput; readonly journal: readonly JournalEntry[] };
  /** Digest of what the tool promises; null when the executor does not say. */
  readonly promise: string | null;
}

/**
 * As {@link runTurn}, for a caller that keeps a turn whose tool answers later, and goes on with it by giving what it kept as
 * `earlier`.
 */
export async function runWaitingTurn(host: TurnHost, request: TurnRequest, mayWait = true): Promise<TurnOutcome | TurnWaits> {
  const { sid, turn, input, earlier } = request;
  const { clock } = host;
  checkSid(sid);
  const guard = new ProgressGuard(host.noProgressN);
  const lifetimes = resolveLifetimes(host.lifetimes);
  const emit = (body: LoopEventBody): void => request.onEvent?.({ sid, turn, ...body });
  const lifecycle = new Lifecycle((from, to) => emit({ type: 'state', from, to }));
  const recorder = new Recorder(clock, host.ids, earlier);
  const startedAt = earlier?.startedAt ?? clock.now();
  const begun = clock.monotonic();

  lifecycle.to('EXECUTING');
  const limits = tighten(host.executor.limits, request.limits ?? {});
  const nonce = earlier?.nonce ?? host.ids.nonce(sid, turn);
  if (!isTurnNonce(nonce)) throw new ConfigError('the nonce of a turn must be 16 bytes in base64url (22 characters)');
  await request.onStart?.({ startedAt, nonce, limits });
  const ledger = ledgerOf(earlier);
  const provisions = { limits, nonce, recorder, ledger, emit, mayWait };
  const { run, denied, host: facts, waiting, promise, ...execution } = await executeTurn(host, request, provisions);
  const ranMs = (earlier?.ranMs ?? 0) + clock.monotonic() - begun;
  const given = { startedAt, nonce, clock: recorder.readings, jtis: recorder.jtis };
  if (waiting !== null && run !== null) {
    const { journal } = execution;
    const { mints, failed: mintFailed } = ledger;
    return { waiting, promise, earlier: { ...given, run, journal, mints, mintFailed, ranMs } };
  }

  lifecycle.to('VERIFYING');
  const judge = new Judge(host);
  const { verdict, progress } = decide(execution, {
    sid,
    turn,
    nonce,
    guard,
    checks: [judge.stopped],
    keys: host.keys ?? host.keyring,
    clock: recorder,
    clockSkew: lifetimes.clockSkew,
    replay: judge.replay,
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
    run: run === null ? null : recordedRun(run),
    host: facts,
    judged: {
      progress: request.progress,
      noProgressN: guard.n,
      clockSkew: lifetimes.clockSkew,
      stopped: judge.didStop,
      mintFailed: ledger.failed,
      fresh: judge.fresh,
      keys: host.keyring.list().map(publicPart),
    },
  };
  const unsealed: UnsealedRecord = {
    version: 2,
    sid,
    turn,
    startedAt,
    latencyMs: ranMs,
    agent: request.agent ?? null,
    inputs: { envelope: input.text, limits, nonce, clock: recorder.readings, jtis: recorder.jtis, scene },
    ...outcome,
    ...verdict,
    lints: [...envelopeLints(input), ...verdict.lints],
    outputBytes: Buffer.byteLength(execution.output),
    scratchBytes: Buffer.byteLength(execution.scratchpad),
  };
  return { record: sealRecord(unsealed, request.prev ?? null), progress };
}

const SID = /^[\x21-\x7e]{1,128}$/;

/** Throws {@link ConfigError} for a session id that could not stand in a token or on one line of a log (threat 43). */
export function checkSid(sid: string): void {
  if (!SID.test(sid)) throw new ConfigError('a session id has 1 to 128 visible ASCII characters and no blanks');
}

interface Provisions {
  readonly limits: LimitValues;
  readonly nonce: string;
  readonly recorder: Recorder;
  readonly ledger: MintLedger;
  readonly emit: (event: LoopEventBody) => void;
  readonly mayWait: boolean;
}

/**
 * The execution inside a context of its own, which knows session, turn and nonce and is closed before anything is decided:
 * a late callback of this turn cannot mint for the next (threat 23).
 */
async function executeTurn(
  host: TurnHost,
  request: TurnRequest,
  { limits, nonce, recorder, ledger, emit, mayWait }: Provisions,
): Promise<Execution> {
  const magic = createMagicTool({
    keyring: host.keyring,
    clock: recorder,
    ids: recorder,
    ...(host.lifetimes === undefined ? {} : { lifetimes: host.lifetimes }),
  });
  const context = host.executor.context({
    sessionId: request.sid,
    turnIndex: request.turn,
    nonce,
    // What a tool reads of it is in the tool's result; the recorder keeps the readings for tokens alone.
    clock: () => host.clock.now(),
    values: { [MINT_LEDGER]: ledger, [APPROVAL]: request.approval?.approval, [ASK_PURSE]: request.purse },
    ...(request.signal === undefined ? {} : { signal: request.signal }),
  });
  try {
    const again = request.earlier?.again ?? null;
    const { executor } = host;
    const { input, approval = {} } = request;
    const execution = await execute({ executor, input, context, limits, magic, emit, again, mayWait, approval });
    // Sticky: a program that swallowed the failure, or minted later, does not undo it (AMB-39).
    return execution.halt === null && ledger.failed ? { ...execution, halt: 'ERR_MAGIC_TOOL_INTERNAL' } : execution;
  } finally {
    context.close();
  }
}

/** The ledger of a turn, with what was minted in an earlier execution of it. */
function ledgerOf(earlier: EarlierRun | undefined): MintLedger {
  const ledger = new MintLedger();
  for (let mint = 0; mint < (earlier?.mints ?? 0); mint += 1) ledger.countMint();
  if (earlier?.mintFailed) ledger.markFailed();
  return ledger;
}

function envelopeLints(input: TurnInput): readonly Lint[] {
  return input.ok ? input.lints.map(({ code, line }) => ({ code, line })) : [];
}
