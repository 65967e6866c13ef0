import {
  type Action,
  type CandidateResult,
  type EnvelopeError,
  envelopeOf,
  type KeyInfo,
  type Lint,
  type ProgressState,
  type TokenCode,
  type UserdataError,
} from '../../aeiou/index.ts';
import type { PolicyOptions } from '../../tools/index.ts';
import type { ErrorInfo } from '../../wire/errors.ts';
import type { EarlierCall, JournalEntry } from '../../wire/journal.ts';
import type { SaidLabels } from '../../wire/labels.ts';
import type { LimitValues } from '../../wire/limits.ts';
import type { RunInput, Source, TaggedJson, Usage, Whisper } from '../../wire/protocol.ts';
import { publicUsage, type RunResult } from '../../wire/result.ts';
import type { JudgedNames } from '../../wire/sourcereports.ts';
import { RunError } from '../../wire/text/runerror.ts';
import type { Decision, HaltReason } from './decision.ts';
import type { SignedPlan } from './suspension.ts';

/** One turn, complete: enough to show it, to log it, and to execute it again with the same result. */
export interface TurnRecord extends UnsealedRecord {
  /** Shows later changes of the record. */
  readonly seal: Seal;
  /** The erased parts; absent when none was erased. The seal still covers their earlier content. */
  readonly erased?: readonly string[];
}

/** A record before it is sealed. */
export interface UnsealedRecord {
  /** Version of the form of records. */
  readonly version: 1;
  /** Id of the session. */
  readonly sid: string;
  /** Number of the turn, from 1. */
  readonly turn: number;
  /** Unix milliseconds. */
  readonly startedAt: number;
  /** Milliseconds from the start of the turn to its decision, without the agent's time. */
  readonly latencyMs: number;
  /** Where this time went, in order. What comes before the first phase was spent by earlier attempts, or before the turn was suspended. */
  readonly phases: readonly TurnPhase[];
  /** The usage of the turn's agent; null when no agent was consulted. */
  readonly agent: AgentUse | null;
  /** Everything that the turn depended on, apart from the answers of tools. */
  readonly inputs: TurnInputs;
  /** What the host decided. */
  readonly decision: Decision;
  /** Set exactly when the decision is HALT. */
  readonly reason: HaltReason | null;
  /** What the token requested when the host decided otherwise; `kid` and `jti` are still those of the token. */
  readonly overridden: Exclude<Decision, 'HALT'> | null;
  /** Key and id of the chosen token; null when no token verified. */
  readonly kid: string | null;
  /** Id of the chosen token; null without one. */
  readonly jti: string | null;
  /** The lines of OUTPUT that have the form of a token, in order. */
  readonly candidates: readonly CandidateRecord[];
  /** Code of the last candidate that failed, even if another candidate decided the turn. */
  readonly verificationFailureReason: TokenCode | null;
  /** Remarks. A lint never changes the decision. */
  readonly lints: readonly Lint[];
  /** All emitted texts, each followed by a line feed. */
  readonly output: string;
  /** All whispered texts, each followed by a line feed. */
  readonly scratchpad: string;
  /** UTF-8 bytes of `output`. */
  readonly outputBytes: number;
  /** UTF-8 bytes of `scratchpad`. */
  readonly scratchBytes: number;
  /** False when the worker was killed and the last emits may be missing. */
  readonly outputComplete: boolean;
  /** Labels of OUTPUT and SCRATCHPAD, under rules about origin; absent if the interpreter did not come to its end. */
  readonly labels?: SaidLabels;
  /** The whispers with their targets, which `scratchpad` does not contain. */
  readonly whispers: readonly Whisper[];
  /** Digest of the progress guard, in hexadecimal; null when the turn did not complete. */
  readonly digest: string | null;
  /** Every call of the program with its answer, in order. */
  readonly journal: readonly JournalEntry[];
  /**
   * Numbers of the calls that may have had their effect twice: the turn's process died, the turn ran again, and their tools are not
   * declared idempotent. Absent when there is none.
   */
  readonly repeats?: readonly number[];
  /** The attempts at the turn before the one that decided it, in order. Absent when the first one did. */
  readonly attempts?: readonly FailedAttempt[];
  /**
   * The calls with effects of earlier attempts whose answers the deciding attempt did not take. Present if there were earlier attempts;
   * `[]` when every effect was taken.
   */
  readonly leftOver?: readonly LeftOver[];
  /** People's answers to the plans of the turn's programs, signed by the host; absent without any. */
  readonly plans?: readonly SignedPlan[];
  /** The usage of the program. */
  readonly usage: Usage;
  /** Why the envelope or the program failed; null when the program ran to its end. */
  readonly error: ErrorInfo | null;
}

/**
 * A stretch of the attempt that decided a turn. Replay ignores it. Storing the decision itself is none, because a record is sealed before.
 *
 * - `store`: the beginning of the turn was stored.
 * - `prepare`: the envelope was read, and context and tools were made.
 * - `queue`: the program waited for a worker.
 * - `load`: the program was sent to its worker, which parsed and checked it.
 * - `run`: the program ran. What its calls took belongs to it.
 * - `verify`: its tokens were verified, and the turn was decided.
 */
export interface TurnPhase {
  readonly name: 'store' | 'prepare' | 'queue' | 'load' | 'run' | 'verify';
  /** Milliseconds from the start of the turn. Time between its executions does not count. */
  readonly begin: number;
  /** How long it took. */
  readonly ms: number;
}

/** One line of OUTPUT that has the shape of a token, in the order of emission. */
export interface CandidateRecord extends Pick<CandidateResult, 'line' | 'ok' | 'code' | 'detail' | 'message'> {
  /** Null for a token that did not verify, as are `kid` and `jti`. */
  readonly action: Action | null;
  /** Key that the token names; null when it cannot be read. */
  readonly kid: string | null;
  /** Id of the token; null when it cannot be read. */
  readonly jti: string | null;
}

/** The usage of a turn's agent. */
export interface AgentUse {
  /** The agent's own name; null when it has none. */
  readonly name: string | null;
  /** Number of replies requested: more than 1 after a reply without an envelope. */
  readonly asks: number;
  /** Model tokens of all replies for this turn. */
  readonly tokens: number;
  /** Tokens of the prompts; null when the agent does not report them. */
  readonly inputTokens: number | null;
  /** Tokens of the replies; null when the agent does not report them. */
  readonly outputTokens: number | null;
  /** US dollars for the tokens; absent for none. */
  readonly cost?: number | undefined;
}

/** Everything external that a turn depends on. Tool results are in the journal. */
export interface TurnInputs {
  /** The envelope that was executed: the host's USERDATA and carried sections, and the agent's ACTIONS. */
  readonly envelope: string;
  /** The limits under which the program ran. */
  readonly limits: LimitValues;
  /** 16 bytes in base64url. */
  readonly nonce: string;
  /** Every reading of the token clock, in Unix milliseconds and in order. */
  readonly clock: readonly number[];
  /** Every token id issued, in order. */
  readonly jtis: readonly string[];
  /** Null for a turn whose process died. */
  readonly scene: Scene | null;
}

/** How a turn came to its program and its decision. A turn without it can be shown but not executed again. */
export interface Scene {
  /** Remarks on the reply from which the envelope was made. */
  readonly lints: readonly Lint[];
  /** Why the envelope could not be read; null when it could. */
  readonly unreadable: Unreadable | null;
  /** The first tool of ACTIONS that the policy denied, or `ACTIONS` when no human approved it; null when everything may run. */
  readonly denied: { readonly tool: string; readonly message: string } | null;
  /** What a program was judged by that was rejected for the names in it; absent for any other. */
  readonly names?: JudgedNames;
  /** Null when no program ran. */
  readonly run: RecordedInput | null;
  /** Null for a host that does not report it. */
  readonly host: HostFacts | null;
  /** Further inputs of the decision. */
  readonly judged: Judged;
}

/** Why an envelope cannot be executed. */
export type Unreadable = Pick<EnvelopeError | UserdataError, 'code' | 'message'>;

/** The software and the policies that a host ran a turn with. */
export interface HostFacts {
  /** Version of this package. */
  readonly version: string;
  /** Version of Node. */
  readonly node: string;
  /** Version of the frames between host and worker. */
  readonly protocol: number;
  /** Every policy had to admit a call; null stands for a missing policy, which denies everything. */
  readonly policies: readonly (PolicyOptions | null)[];
  /** Digest of the definitions of all tools that the turn could see. */
  readonly catalogue: string;
}

/** The inputs of a decision, apart from the output of the program. */
export interface Judged {
  /** State of the progress guard before the turn. */
  readonly progress: ProgressState;
  /** How many equal turns in a row halt the session. */
  readonly noProgressN: number;
  /** Seconds by which a token may appear to come from the future. */
  readonly clockSkew: number;
  /** Whether a guard of the application halted the turn. */
  readonly stopped: boolean;
  /** Whether minting failed at least once because neither key could sign. */
  readonly mintFailed: boolean;
  /** The replay cache's answers in order; true for a token id that was not used before. */
  readonly fresh: readonly boolean[];
  /** The keys that could verify a token of this turn. */
  readonly keys: readonly PublicKeyRecord[];
}

/** The public part of a key that could verify tokens when a turn was decided. */
export interface PublicKeyRecord {
  /** Id of the key. */
  readonly kid: string;
  /** Algorithm of the key. */
  readonly alg: KeyInfo['alg'];
  /** 32 bytes in base64url; null for HS256, whose key is secret. */
  readonly publicKey: string | null;
}

/** The worker's input without the parts that the record stores elsewhere: limits, ACTIONS and USERDATA. */
export type RecordedInput = Omit<RunInput, 'limits' | 'probe'>;

/** What is wrong at one place of a program. */
export interface Problem {
  /** Code of the error or of the rule. */
  readonly code: string;
  /** Line of ACTIONS, from 1. */
  readonly line: number;
  /** From 1, in code points. */
  readonly column: number;
  /** What is wrong, as a sentence. */
  readonly message: string;
  /** What to write instead; null when nothing is known. */
  readonly hint: string | null;
  /** The lines that the proposed correction changes; empty when none is proposed. Problems on the same lines have them in common. */
  readonly fix: readonly CorrectedLines[];
}

/** Lines of ACTIONS, with all proposed corrections made. */
export interface CorrectedLines {
  /** From 1. */
  readonly line: number;
  /** The last line of the range. */
  readonly endLine: number;
  /** What stands there afterwards. It may have more lines or fewer. */
  readonly text: string;
}

/**
 * How an attempt at a turn ended without deciding the turn.
 *
 * - `rejected`: the reply held no program that may run. Nothing ran.
 * - `failed`: the program ran and ended with an error.
 * - `interrupted`: the worker process of the program ended, and the program is not at fault. The same program runs again.
 * - `rehearsed`: the program ran against mocks alone, and did not come to a good end. Its calls have reached nothing.
 */
export type AttemptEnd = 'rejected' | 'failed' | 'interrupted' | 'rehearsed';

/** An attempt at a turn that did not decide it. Its output has no effect, and its tokens are void. */
export interface FailedAttempt
  extends Pick<TurnRecord, 'output' | 'scratchpad' | 'outputComplete' | 'labels' | 'whispers' | 'journal' | 'usage'> {
  /** How it ended. */
  readonly end: AttemptEnd;
  /** The agent's reply. */
  readonly reply: string;
  /** The envelope that was executed, or what was read in place of one. */
  readonly envelope: string;
  /**
   * Everything that is wrong with a rejected program. For one that ran, its error and what may have caused it; empty where nothing beyond the error is
   * known.
   */
  readonly problems: readonly Problem[];
  /** The first of the problems, or the error that ended the program. */
  readonly error: ErrorInfo;
  /** The limits of the attempt: those of the turn, less what earlier attempts used. */
  readonly limits: LimitValues;
  /** Every reading of the token clock, in Unix milliseconds. */
  readonly clock: readonly number[];
  /** Ids of the tokens that the attempt minted. They are void. */
  readonly jtis: readonly string[];
  /** Why the reply could not be read; null when it could. */
  readonly unreadable: Unreadable | null;
  /** The first denied tool of a rejected program; null without one. */
  readonly denied: Scene['denied'];
  /** As in {@link Scene}. */
  readonly names?: JudgedNames;
  /** The worker's input; null when no program ran. */
  readonly run: RecordedInput | null;
}

/** A call with effects of an earlier attempt whose answer the deciding attempt did not take. */
export interface LeftOver extends EarlierCall {
  /** Canonical name of the tool. */
  readonly tool: string;
}

/** The variable in which a program finds USERDATA. */
const USERDATA = 'userdata';

/** Removes from a worker's input what the record stores elsewhere. */
export function recordedInput({ limits: _, probe: __, sources, globals, ...rest }: RunInput): RecordedInput {
  return { ...rest, sources: sources.slice(0, -1), globals: { ...globals, [USERDATA]: null } };
}

/** Restores the worker's input from its recorded form. */
export function inputOf(run: RecordedInput, limits: LimitValues, actions: Source, userdata: TaggedJson): RunInput {
  // A file of sessions may come from others, and only the host measures a run.
  const { probe: _, ...recorded }: RecordedInput & Pick<RunInput, 'probe'> = run;
  return { ...recorded, limits, sources: [...run.sources, actions], globals: { ...run.globals, [USERDATA]: userdata } };
}

/**
 * Digests that reveal a change of a record and locate it. A seal is not a signature: anyone who can write to a store can
 * replace its whole history. Keep the last hash elsewhere to detect that.
 */
export interface Seal {
  /** Hash of the previous turn's record; null for the first. */
  readonly prev: string | null;
  /** SHA-256 over `prev` and the parts, in base64url. */
  readonly hash: string;
  /** SHA-256 of the JSON of every part, in base64url. Parts are the fields of the record and of its inputs, and each call. */
  readonly parts: Readonly<Record<string, string>>;
}

/** The public form of a turn: `turn --json` and the elements of `loop --json`. Its schema is `docs/schemas/turn.schema.json`. */
export interface TurnResult
  extends Pick<TurnRecord, 'sid' | 'turn' | 'decision' | 'reason' | 'kid' | 'jti' | 'output' | 'scratchpad' | 'lints' | 'agent'>,
    Pick<RunResult, 'error'> {
  /** The usage of the program. */
  readonly usage: Omit<Usage, 'queueMs'>;
  /** The lines of OUTPUT that have the form of a token, in order. */
  readonly candidates: readonly Pick<CandidateRecord, 'line' | 'ok' | 'code'>[];
}

/** The failure of a turn with its text; null for a turn without one. */
export function turnError({ error, inputs: { envelope, scene } }: Pick<TurnRecord, 'error' | 'inputs'>): RunError | null {
  if (error === null) return null;
  const actions = actionsOf(envelope);
  const program = actions === null ? [] : [{ name: 'ACTIONS', text: actions }];
  return new RunError(error, [...(scene?.run?.sources ?? []), ...program]);
}

/** ACTIONS of an envelope; null when it cannot be read. */
export function actionsOf(envelope: string): string | null {
  return envelopeOf(envelope)?.actions ?? null;
}

/** Selects the public part of a record. */
export function toPublicTurn(record: TurnRecord): TurnResult {
  return {
    sid: record.sid,
    turn: record.turn,
    decision: record.decision,
    reason: record.reason,
    kid: record.kid,
    jti: record.jti,
    output: record.output,
    scratchpad: record.scratchpad,
    lints: record.lints.map(({ code, line }) => ({ code, line })),
    candidates: record.candidates.map(({ line, ok, code }) => ({ line, ok, code })),
    agent: record.agent,
    usage: publicUsage(record.usage),
    error: turnError(record),
  };
}
