import type { Keyring, Lifetimes } from '../aeiou/index.ts';
import type { Runtime, TenantInit } from '../runtime/index.ts';
import { checkLimitOptions, type LimitOptions } from '../sandbox/index.ts';
import type { Telemetry } from '../telemetry/index.ts';
import { checkedGrant, type Grant, type OnChanged } from '../tools/index.ts';
import {
  anything,
  type Checks,
  checker,
  checkFlag,
  checkFunction,
  checkList,
  checkObject,
  checkSignal,
  checkText,
  methods,
  oneOf,
  required,
  wholeNumber,
} from '../wire/options.ts';
import type { Agent } from './agents/index.ts';
import type { TakeApart } from './apart.ts';
import { CEILING_CHECKS, type Ceilings } from './ceilings.ts';
import type { Clock } from './clock.ts';
import type { LoopListener } from './events.ts';
import type { Ids } from './ids.ts';
import type { DecisionLog } from './log/log.ts';
import type { Metrics } from './metrics.ts';
import type { Durable } from './record/kept.ts';
import type { OnExpired } from './record/suspension.ts';
import type { SessionCoordinator } from './sessions/coordinator.ts';
import type { OnInterrupted } from './sessions/interrupted.ts';
import { type Admission, checkAdmission } from './sessions/setup.ts';
import type { SessionStore } from './sessions/store.ts';
import type { TurnApproval } from './turn/approval.ts';
import type { TurnExecutor } from './turn/executor.ts';
import type { ProgressCheck } from './turn/verdict.ts';

/** Options of a `LoopController`. */
export interface LoopControllerOptions {
  /** Runs the turns. Either this or `executor` is required. */
  readonly runtime?: Runtime;
  /** Runs the turns in place of `runtime`: `runtimeExecutor` with a root interpreter, or an executor of the application. */
  readonly executor?: TurnExecutor;
  /**
   * Must hold a fallback key. When absent, the controller makes temporary keys, and the process warns once: after a restart, a stored
   * session cannot verify earlier tokens.
   */
  readonly keyring?: Keyring;
  /** The machine's clock when absent. */
  readonly clock?: Clock;
  /** Random ids when absent. */
  readonly ids?: Ids;
  /** The system text for agents, in addition to the envelopes; `agentBrief` with the tools of the runtime when absent. */
  readonly system?: string;
  /** The grammar of a reply, `toolGrammar(tools, { of: 'turn' })`, for agents whose server decodes under one; none when absent. */
  readonly grammar?: string | undefined;
  /** A `MemoryStore` when absent. */
  readonly store?: SessionStore | undefined;
  /** No log when absent. The records of the store contain everything that a log does. */
  readonly log?: DecisionLog | undefined;
  /** New counters in the application's OpenTelemetry meter when absent. */
  readonly metrics?: Metrics;
  /** Where spans and durations go; that of `runtime` when absent, else the application's OpenTelemetry SDK. */
  readonly telemetry?: Telemetry;
  /** How long tokens are valid; `DEFAULT_LIFETIMES` for absent fields. */
  readonly lifetimes?: Partial<Lifetimes> | undefined;
  /** Limits of every turn; looser values than the executor's have no effect. */
  readonly limits?: LimitOptions;
  /** Most further replies of a turn after attempts that did not decide it, from 0; 3 when absent. A step may have its own. */
  readonly maxReasks?: number | undefined;
  /** What happens after such an attempt. A step may have its own. */
  readonly repair?: RepairOptions | undefined;
  /** What a person approves. A step may have its own. */
  readonly approve?: Approve | undefined;
  /** Number of equal turns in a row that ends a session, from 2 to 100; 3 when absent. */
  readonly noProgressN?: number;
  /** Guards of the application, in addition to the mandatory guard. */
  readonly checks?: readonly ProgressCheck[];
  /**
   * What the store keeps of a turn, for sessions that this controller opens. It is fixed when a session is opened. `turn`, the default:
   * each turn at its end. `call`: each call to a tool before the program goes on, so that a turn whose process died continues after its
   * last call. A call that was made and not answered is then repeated only if its tool is declared idempotent; otherwise the turn waits
   * for a person.
   */
  readonly durable?: Durable | undefined;
  /** Most sessions that may be open with one that this controller opens; any number when absent. */
  readonly admission?: Admission | undefined;
  /**
   * What happens to a turn whose process died. `rerun`, the default, runs the same program again, so tools should be safe to
   * repeat; `halt` ends the session with `ERR_INTERRUPTED`.
   */
  readonly onInterrupted?: OnInterrupted | undefined;
  /**
   * What happens to a turn whose call is not completed in time. `halt`, the default, ends the session with `ERR_CALL_EXPIRED`;
   * `error` lets the call fail with code 37, which the program can catch.
   */
  readonly onExpired?: OnExpired;
  /** Whether a tool may suspend a turn; true when absent. If not, `pending` fails with code 19. */
  readonly mayWait?: boolean;
  /** Most milliseconds that a call may wait for its completion, from 1; seven days when absent. */
  readonly maxWaitMs?: number;
  /**
   * Most attempts at a turn alone in its process, from 1; 3 when absent. The first attempt does not count: it runs beside the turns of
   * other sessions, and any of them may have killed the process. So no session is halted because of the turn of another one.
   */
  readonly maxAttempts?: number;
  /**
   * Makes these attempts in processes of their own, see `turnProcess`. When absent, such an attempt runs in this process while no other
   * turn does. Needs a store that processes share.
   */
  readonly takeApart?: TakeApart | undefined;
  /** Store, log and leases that several controllers share; takes the place of `store`, `log`, `owner` and `leaseMs`. */
  readonly coordinator?: SessionCoordinator;
  /** Name of this process in leases, unique among all live processes; random when absent. */
  readonly owner?: string | undefined;
  /**
   * Length of a lease in milliseconds, from 100; 15 seconds when absent. The sessions of a dead process stay leased for at most this
   * time.
   */
  readonly leaseMs?: number | undefined;
}

/**
 * `plan`: a turn waits once, before its first call that may change something, until a person has approved the grant of its program, with
 * the call id `plan`. The approval also answers what the policy asks about single calls.
 */
export type Approve = 'plan';

/** What happens after an attempt at a turn that did not decide it; see also `maxReasks`. */
export interface RepairOptions {
  /** `safe`: the corrections that `check --fix` makes by itself are made in a rejected program before the agent is asked. None when absent. */
  readonly fix?: 'safe' | undefined;
  /**
   * What happens when a corrected program calls a tool with effects in another way than a failed program did: `ask`, the default, lets the turn
   * wait for a person; `proceed` makes the call; `halt` ends the session with `ERR_EFFECT_CHANGED`. Tools that are declared idempotent are called.
   */
  readonly changed?: OnChanged | undefined;
}

/** What happens to a session whose agent gives no reply for a reason outside of it. */
export type OnUnanswered = 'halt' | 'leave';

/** Options of one step of a session. An approval covers one step or tool call among all those taken with these options. */
export interface StepOptions extends Ceilings, TurnApproval {
  /** Writes the program of each turn. */
  readonly agent: Agent;
  /**
   * The tenant of the session, whose workers and budgets (tokens included) its turns share. Stores do not keep it, so pass it again to a
   * resumed session.
   */
  readonly tenant?: string | TenantInit;
  /** Tightens the limits of each turn. */
  readonly limits?: LimitOptions;
  /** What happens after an attempt that did not decide the turn; the controller's when absent. */
  readonly repair?: RepairOptions | undefined;
  /** What a person approves; the controller's when absent. A turn that began so goes on so. */
  readonly approve?: Approve | undefined;
  /**
   * A grant to which every program is bound: a call outside of it is refused. With `approve`, its calls need no approval, and a program that
   * can make others waits for the approval of those.
   */
  readonly bound?: Grant | undefined;
  /**
   * Runs every program first, in place of the executor of the controller: `runtimeExecutor` of a runtime whose tools are mocks. A program that
   * fails there is corrected as `maxReasks` says, and one that does not fail runs once for real, whatever happens then.
   */
  readonly rehearse?: TurnExecutor | undefined;
  /**
   * What happens when the agent gives no reply for a reason outside of the session ({@link AgentError.retryable}). `halt`, the default, ends
   * the session with `ERR_AGENT`, as for every other reason. `leave` leaves the session open: the result is CONTINUE
   * with the error. A {@link Host} does so when absent, and asks again later. A `step` always leaves it open.
   */
  readonly onUnanswered?: OnUnanswered | undefined;
  /** Ends the step: stops waiting for the agent and cancels a running program. */
  readonly signal?: AbortSignal;
  /** Most milliseconds of the step, for the agent and the program together. */
  readonly wallMs?: number | undefined;
  /** Receives the events, in order; see {@link LoopListener}. */
  readonly onEvent?: LoopListener;
}

/** Milliseconds of a call that drives a session, where it says nothing else. */
export const WALL_MS = 600_000;

/** Options of continuing a session. */
export interface ResumeOptions extends StepOptions {
  /** Most milliseconds of this call, agents and tools included; ten minutes when absent. */
  readonly wallMs?: number | undefined;
  /**
   * Whether the result has the records of the turns. When absent, it has them only with a `MemoryStore`, which keeps them in memory
   * anyway. Without them a session takes the memory of one turn. The store has the records in any case, and `decided` events carry them.
   */
  readonly keepTurns?: boolean;
  /**
   * Called after every turn with the decision CONTINUE. If it returns true, this process leaves the session to others, as `handOff` does.
   * It then drops what tools keep in memory for the session, also when the session is suspended.
   */
  readonly leave?: () => boolean;
}

/** Options of a whole session. */
export interface LoopOptions extends ResumeOptions {
  /**
   * An object, else the call throws `ConfigError`. It must match the USERDATA schema; otherwise the session is halted before the agent is
   * consulted.
   */
  readonly userdata: unknown;
  /** A new id when absent. */
  readonly sid?: string | undefined;
}

const checkRepair = checker<RepairOptions>({ fix: oneOf('safe'), changed: oneOf('ask', 'proceed', 'halt') });

export const checkController = checker<LoopControllerOptions>({
  runtime: methods('interpreter', 'turn', 'check', 'endSession'),
  executor: methods('context', 'fork'),
  keyring: methods('lookup', 'signer', 'list'),
  clock: methods('now', 'monotonic'),
  ids: methods('session', 'nonce', 'jti'),
  system: checkText,
  grammar: checkText,
  store: methods('create', 'read', 'claim', 'renew', 'start', 'commit', 'logged', 'release'),
  log: methods('append', 'has'),
  metrics: methods('record', 'ended', 'see', 'seeRuntime'),
  telemetry: methods('span', 'record'),
  lifetimes: checkObject,
  limits: checkLimitOptions,
  maxReasks: wholeNumber(0),
  approve: oneOf('plan'),
  repair: checkRepair,
  noProgressN: anything,
  checks: checkList,
  durable: oneOf('turn', 'call'),
  admission: checkAdmission,
  onInterrupted: oneOf('rerun', 'halt'),
  maxAttempts: wholeNumber(1),
  takeApart: checkFunction,
  onExpired: oneOf('halt', 'error'),
  mayWait: checkFlag,
  maxWaitMs: wholeNumber(1),
  coordinator: methods('create', 'claim', 'recover', 'halt'),
  owner: checkText,
  leaseMs: anything,
});

const STEP_CHECKS: Checks<StepOptions> = {
  ...CEILING_CHECKS,
  agent: required(methods('reply')),
  tenant: anything,
  limits: checkLimitOptions,
  repair: checkRepair,
  approve: oneOf('plan'),
  bound: (what, value) => void checkedGrant(what, value),
  rehearse: methods('context', 'fork'),
  onUnanswered: oneOf('halt', 'leave'),
  signal: checkSignal,
  wallMs: wholeNumber(1),
  onEvent: checkFunction,
  approval: anything,
  requiresApproval: anything,
};

export const checkStep = checker(STEP_CHECKS);

const RESUME_CHECKS: Checks<ResumeOptions> = { ...STEP_CHECKS, keepTurns: checkFlag, leave: checkFunction };

/** The check of the options of continuing a session. */
export const checkResume = checker(RESUME_CHECKS);

/** The check of the options of a whole session; the id and the fields of USERDATA are checked when the session is opened. */
export const checkLoop = checker<LoopOptions>({ ...RESUME_CHECKS, userdata: required(checkObject), sid: anything });
