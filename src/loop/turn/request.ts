import type { KeyLookup, Keyring, Lifetimes, ProgressState, ReplayCache } from '../../aeiou/index.ts';
import type { TurnInit } from '../../context/index.ts';
import type { RecordedRun, RunRequest } from '../../runtime/index.ts';
import type { OnChanged } from '../../tools/index.ts';
import type { JournalEntry } from '../../wire/journal.ts';
import type { LimitValues } from '../../wire/limits.ts';
import type { RunInput } from '../../wire/protocol.ts';
import type { Clock } from '../clock.ts';
import type { LoopListener } from '../events.ts';
import type { Ids } from '../ids.ts';
import type { KeptCall } from '../record/kept.ts';
import type { AgentUse, FailedAttempt } from '../record/record.ts';
import type { EarlierTurn, SignedPlan } from '../record/suspension.ts';
import type { SessionOrigins } from '../sessions/origins.ts';
import type { TurnApproval } from './approval.ts';
import type { TurnExecutor } from './executor.ts';
import type { TurnInput } from './input.ts';
import type { ProgressCheck } from './verdict.ts';

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

/**
 * One turn to run, with what goes on to its context and to its run as it is. The grant `bound` is no approval; pass it again when the turn is
 * continued.
 */
export interface TurnRequest
  extends Pick<TurnInit, 'tenant' | 'signal' | 'fence' | 'origin' | 'mayAct' | 'values'>,
    Pick<RunRequest, 'limits' | 'strict' | 'bound' | 'plan'> {
  /** Id of the session. */
  readonly sid: string;
  /** From 1. */
  readonly turn: number;
  /** The envelope of the turn, or why it cannot be read. */
  readonly input: TurnInput;
  /** The agent's usage, only for the record. Null when absent. */
  readonly agent?: AgentUse | null | undefined;
  /**
   * Canonical names of the tools that were called successfully in earlier turns of the session. When absent, those of earlier turns in this
   * process count.
   */
  readonly called?: readonly string[] | undefined;
  /** Labels of what the session has read and was given; none when absent. */
  readonly origins?: SessionOrigins | undefined;
  /** State of the progress guard after the previous turn. */
  readonly progress: ProgressState;
  /** Number of this attempt at the turn, from 1, which is the default. A higher one may repeat calls of an earlier one. */
  readonly attempt?: number | undefined;
  /** Stores every call before the program goes on; absent if a turn is stored only at its end. */
  readonly keep?: ((call: KeptCall) => Promise<void>) | undefined;
  /** Awaited when nonce and limits are fixed and nothing has run. If it throws, the turn does not begin. */
  readonly onStart?: ((start: TurnStart) => Promise<void>) | undefined;
  /** Must not throw. */
  readonly onEvent?: LoopListener | undefined;
  /** Hash of the previous turn's record; null or absent for the first. */
  readonly prev?: string | null | undefined;
  /** An earlier execution of this turn, to be continued or repeated. */
  readonly earlier?: EarlierRun | undefined;
  /** A human's approval, and whether ACTIONS requires it. */
  readonly approval?: TurnApproval | undefined;
  /** Why the program must not run; undefined for one that may. */
  readonly refused?: string | undefined;
  /** People's answers to the plans of the turn, for the record. */
  readonly plans?: readonly SignedPlan[] | undefined;
  /** The earlier attempts at the turn, which did not decide it. */
  readonly attempts?: readonly FailedAttempt[] | undefined;
  /**
   * Whether another attempt may follow this one; `fixed` is its program with safe corrections, if there are any. Absent: the attempt decides
   * the turn.
   */
  readonly mayFollow?: ((attempt: FailedAttempt, fixed: string | null) => boolean) | undefined;
  /** What happens to another call of a tool with effects that an earlier attempt called; `ask` when absent. */
  readonly onChanged?: OnChanged | undefined;
  /** The agent's reply, for the record of an attempt that does not decide the turn. */
  readonly reply?: string | null | undefined;
}

/** A run that is repeated, and its calls that have ended. */
export interface RepeatedRun {
  readonly run: RunInput;
  readonly journal: readonly JournalEntry[];
}

/** An earlier execution of a turn, and the recorded run to execute; null when no program had run. */
export interface EarlierRun extends EarlierTurn {
  /** The run to execute again; null when no program had run. */
  readonly recorded: RecordedRun | null;
  /** The run that `recorded` repeats, as it began, and its calls that have ended. Absent when no program had run. */
  readonly repeats?: RepeatedRun;
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
