import type { Keyring, Lifetimes } from '../aeiou/index.ts';
import { checkLimits, type LimitOptions } from '../sandbox/limits.ts';
import { ConfigError } from '../wire/errors.ts';
import { checkCallback, checkObject, checkOptions, checkSignal, type KeysOf } from '../wire/options.ts';
import type { Agent } from './agents/index.ts';
import { CEILINGS, type Ceilings, ceiling, checkCeilings } from './ceilings.ts';
import type { LoopListener } from './events.ts';
import type { ProgressCheck } from './guard.ts';
import type { DecisionLog } from './log/log.ts';
import type { Metrics } from './metrics.ts';
import type { Clock, Ids } from './ports.ts';
import type { SessionStore } from './sessions/store.ts';
import type { Spans } from './spans.ts';
import type { OnExpired } from './suspend/suspension.ts';
import type { TurnApproval } from './turn/approval.ts';
import type { TurnExecutor } from './turn/executor.ts';
import type { OnInterrupted } from './turn/interrupted.ts';

/** What a `LoopController` is made from. */
export interface LoopControllerOptions {
  readonly executor: TurnExecutor;
  /** Must hold a fallback key (A3-11.4-1). */
  readonly keyring: Keyring;
  /** The machine's clock when absent. */
  readonly clock?: Clock;
  /** Random ids when absent. */
  readonly ids?: Ids;
  /** What agents are told beside the envelopes; `agentBrief` without tools when absent. */
  readonly system?: string;
  /** A `MemoryStore` when absent. */
  readonly store?: SessionStore;
  /** No log when absent; the records of the store hold all that it would say. */
  readonly log?: DecisionLog;
  /** New ones, in the application's OpenTelemetry meter, when absent. */
  readonly metrics?: Metrics;
  /** Of the application's OpenTelemetry tracer when absent. */
  readonly spans?: Spans;
  readonly lifetimes?: Partial<Lifetimes>;
  /** Limits of every turn, tighter than the executor's own. */
  readonly limits?: LimitOptions;
  /** Equal turns in a row that end a session, from 2 to 100; 3 when absent (AL3-6-4). */
  readonly noProgressN?: number;
  /** Guards of the application, beside the mandatory one (A3-9-8). */
  readonly checks?: readonly ProgressCheck[];
  /**
   * What becomes of a turn that a dead process was in: `rerun`, the default, runs the same program again, so tools should be
   * safe to repeat; `halt` ends the session with `ERR_INTERRUPTED`.
   */
  readonly onInterrupted?: OnInterrupted;
  /**
   * What becomes of a turn whose call is not completed in time: `halt`, the default, ends the session with `ERR_CALL_EXPIRED`;
   * `error` lets the call fail with code 37, which the program can catch.
   */
  readonly onExpired?: OnExpired;
  /** Whether a tool may let a turn wait, true when absent; else `pending` is an error of the program, code 19. */
  readonly mayWait?: boolean;
  /** Most milliseconds that a call may wait to be completed, from 1; seven days when absent. */
  readonly maxWaitMs?: number;
  /** A turn that was interrupted so often, from 1, is halted and not run again; 3 when absent. */
  readonly maxAttempts?: number;
  /** Name of this process in leases, unique among those that live; a new one when absent. */
  readonly owner?: string;
  /** Milliseconds that a silent process keeps its sessions, from 100; 15 seconds when absent. */
  readonly leaseMs?: number;
}

/** One step of a session. The approval is good for one step or tool call of those that are taken with these options. */
export interface StepOptions extends Ceilings, TurnApproval {
  readonly agent: Agent;
  readonly limits?: LimitOptions;
  /** Ends the step: the agent is not waited for any longer, a running program is cancelled. */
  readonly signal?: AbortSignal;
  /** Most milliseconds of the step: the agent's time and then the program's. */
  readonly wallMs?: number;
  readonly onEvent?: LoopListener;
}

/** How a session is driven on. */
export interface ResumeOptions extends StepOptions {
  /** Most milliseconds of this call, agents and tools included; ten minutes when absent. */
  readonly wallMs?: number;
}

/** A whole session. */
export interface LoopOptions extends ResumeOptions {
  /** Any value; it must be of the form of A3-3.5, or the session is halted before the agent is asked. */
  readonly userdata: unknown;
  /** A new id when absent. */
  readonly sid?: string;
}

const CONTROLLER_OPTIONS: KeysOf<LoopControllerOptions> = {
  executor: true,
  keyring: true,
  clock: true,
  ids: true,
  system: true,
  store: true,
  log: true,
  metrics: true,
  spans: true,
  lifetimes: true,
  limits: true,
  noProgressN: true,
  checks: true,
  onInterrupted: true,
  maxAttempts: true,
  onExpired: true,
  mayWait: true,
  maxWaitMs: true,
  owner: true,
  leaseMs: true,
};

const STEP_OPTIONS: KeysOf<StepOptions> = {
  ...CEILINGS,
  agent: true,
  limits: true,
  signal: true,
  wallMs: true,
  onEvent: true,
  approval: true,
  requiresApproval: true,
};

const LOOP_OPTIONS: KeysOf<LoopOptions> = { ...STEP_OPTIONS, userdata: true, sid: true };

/** Throws {@link ConfigError} (`ERR_CONFIG`) for an option of a controller that is unknown; their values are checked by what takes them. */
export function checkController(options: LoopControllerOptions): void {
  checkOptions('the options of a LoopController', options, CONTROLLER_OPTIONS);
}

/** Throws {@link ConfigError} (`ERR_CONFIG`) for options of a step that cannot be used, before anything happens. */
export function checkStep(options: StepOptions): void {
  checkStepping('the options of a step', options, STEP_OPTIONS);
}

/** As {@link checkStep}, for a session that is driven on. */
export function checkResume(options: ResumeOptions): void {
  checkStepping('the options of a session', options, STEP_OPTIONS);
}

/** As {@link checkStep}, for a whole session; its USERDATA and its id are checked when it is opened. */
export function checkLoop(options: LoopOptions): void {
  checkStepping('the options of a session', options, LOOP_OPTIONS);
}

function checkStepping(what: string, options: StepOptions, keys: Readonly<Record<string, true>>): void {
  checkOptions(what, options, keys);
  checkObject('the agent of a session', options.agent);
  if (typeof options.agent.reply !== 'function') throw new ConfigError("the agent of a session needs a function 'reply'");
  checkCallback('onEvent', options.onEvent);
  checkSignal('signal', options.signal);
  checkCeilings(options);
  if (options.wallMs !== undefined) ceiling('wallMs', options.wallMs);
  checkLimits(options.limits ?? {});
}
