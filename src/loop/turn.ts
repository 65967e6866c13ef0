import {
  createMagicTool,
  isTurnNonce,
  type Keyring,
  type Lifetimes,
  type Lint,
  MINT_LEDGER,
  MintLedger,
  ProgressGuard,
  type ProgressState,
  type ReplayCache,
  resolveLifetimes,
} from '../aeiou/index.ts';
import { type LimitOptions, tighten } from '../sandbox/limits.ts';
import { ConfigError } from '../wire/errors.ts';
import type { LimitValues } from '../wire/protocol.ts';
import type { LoopEventBody, LoopListener } from './events.ts';
import { type Execution, execute } from './execute.ts';
import type { TurnExecutor } from './executor.ts';
import type { ProgressCheck } from './guard.ts';
import type { TurnInput } from './input.ts';
import { Lifecycle } from './lifecycle.ts';
import type { Clock, Ids } from './ports.ts';
import type { TurnRecord } from './record.ts';
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
}

/** One turn to run. */
export interface TurnRequest {
  readonly sid: string;
  /** From 1. */
  readonly turn: number;
  readonly input: TurnInput;
  /** What the guard knows of the turns before. */
  readonly progress: ProgressState;
  /** Tighter limits than the executor's own; looser ones have no effect. */
  readonly limits?: LimitOptions;
  readonly signal?: AbortSignal;
  /** Waited for when nonce and limits are settled and nothing has run; what it throws ends the turn before it began. */
  readonly onStart?: (start: TurnStart) => Promise<void>;
  /** Must not throw. */
  readonly onEvent?: LoopListener;
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
  const { sid, turn, input } = request;
  const { clock } = host;
  checkSid(sid);
  const guard = new ProgressGuard(host.noProgressN);
  const lifetimes = resolveLifetimes(host.lifetimes);
  const emit = (body: LoopEventBody): void => request.onEvent?.({ sid, turn, ...body });
  const lifecycle = new Lifecycle((from, to) => emit({ type: 'state', from, to }));
  const recorder = new Recorder(clock, host.ids);
  const startedAt = clock.now();
  const begun = clock.monotonic();

  lifecycle.to('EXECUTING');
  const limits = tighten(host.executor.limits, request.limits ?? {});
  const nonce = host.ids.nonce(sid, turn);
  if (!isTurnNonce(nonce)) throw new ConfigError('the nonce of a turn must be 16 bytes in base64url (22 characters)');
  await request.onStart?.({ startedAt, nonce, limits });
  const execution = await executeTurn(host, request, { limits, nonce, recorder, emit });

  lifecycle.to('VERIFYING');
  const { verdict, progress } = decide(execution, {
    sid,
    turn,
    nonce,
    guard,
    checks: host.checks ?? [],
    keys: host.keyring,
    clock: recorder,
    clockSkew: lifetimes.clockSkew,
    replay: host.replay,
    progress: request.progress,
    userdata: input.ok ? input.envelope.userdata : '{}',
  });
  lifecycle.to('DECIDED');
  lifecycle.finish(verdict.decision);

  const { halt: _, ...outcome } = execution;
  const record: TurnRecord = {
    version: 1,
    sid,
    turn,
    startedAt,
    latencyMs: clock.monotonic() - begun,
    inputs: { envelope: input.text, limits, nonce, clock: recorder.readings, jtis: recorder.jtis },
    ...outcome,
    ...verdict,
    lints: [...envelopeLints(input), ...verdict.lints],
    outputBytes: Buffer.byteLength(execution.output),
    scratchBytes: Buffer.byteLength(execution.scratchpad),
  };
  return { record, progress };
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
  readonly emit: (event: LoopEventBody) => void;
}

/**
 * The execution inside a context of its own, which knows session, turn and nonce and is closed before anything is decided:
 * a late callback of this turn cannot mint for the next (threat 23).
 */
async function executeTurn(
  host: TurnHost,
  request: TurnRequest,
  { limits, nonce, recorder, emit }: Provisions,
): Promise<Execution> {
  const ledger = new MintLedger();
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
    values: { [MINT_LEDGER]: ledger },
    ...(request.signal === undefined ? {} : { signal: request.signal }),
  });
  try {
    const execution = await execute({ executor: host.executor, input: request.input, context, limits, magic, emit });
    // Sticky: a program that swallowed the failure, or minted later, does not undo it (AMB-39).
    return execution.halt === null && ledger.failed ? { ...execution, halt: 'ERR_MAGIC_TOOL_INTERNAL' } : execution;
  } finally {
    context.close();
  }
}

function envelopeLints(input: TurnInput): readonly Lint[] {
  return input.ok ? input.lints.map(({ code, line }) => ({ code, line })) : [];
}
