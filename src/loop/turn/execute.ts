import { hash } from 'node:crypto';
import type { MintLedger } from '../../aeiou/index.ts';
import type { TurnContext } from '../../context/index.ts';
import type { RunRequest, TurnTime } from '../../runtime/index.ts';
import { APPROVAL, type Grant, type ToolDefinition } from '../../tools/index.ts';
import { NS_CODES } from '../../wire/codes.ts';
import { defined } from '../../wire/defined.ts';
import { languageError } from '../../wire/errorinfo.ts';
import type { ErrorInfo } from '../../wire/errors.ts';
import type { JournalEntry } from '../../wire/journal.ts';
import type { SaidLabels } from '../../wire/labels.ts';
import type { RunInput, Source, TaggedJson, Usage, Whisper } from '../../wire/protocol.ts';
import { NO_USAGE, type RunResult } from '../../wire/result.ts';
import type { JudgedNames } from '../../wire/sourcereports.ts';
import type { LoopEventBody } from '../events.ts';
import { createMagicTool, MINT_LEDGER } from '../magic.ts';
import { calledBy, firstWithProgram, journalsOf } from '../record/attempt.ts';
import { type HaltReason, hostFailure, reasonOfRun } from '../record/decision.ts';
import { toldOf } from '../record/origins.ts';
import type { HostFacts, Problem, Scene } from '../record/record.ts';
import type { PromisedCall } from '../record/suspension.ts';
import { approved, planHash } from './approval.ts';
import { promiseFor } from './executor.ts';
import { ACTIONS, userdataOf } from './input.ts';
import type { TurnKeeper } from './keeper.ts';
import { problemsIn, safelyFixed } from './problems.ts';
import type { TokenRecorder } from './recorder.ts';
import type { TurnHost, TurnRequest, TurnStart } from './request.ts';
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

/** What a turn makes for its execution: the parts that are fixed before the program runs, and those that record it. */
export interface Means extends Pick<TurnStart, 'limits' | 'nonce'> {
  readonly recorder: TokenRecorder;
  readonly ledger: MintLedger;
  readonly emit: (event: LoopEventBody) => void;
  readonly mayWait: boolean;
  readonly time: TurnTime;
  /** Called when the executor begins with the program. */
  readonly onAsked: () => void;
  /** Null where calls are not kept. */
  readonly keeper: TurnKeeper | null;
}

/**
 * Executes ACTIONS if the envelope could be read, ACTIONS is exactly one command block, and the policy denies no tool that it
 * names. The worker that runs the program checks all of this on the one parse, before the first statement runs.
 *
 * The program has a context of its own that holds session, turn and nonce. It is closed before the decision, so a late callback of this
 * turn cannot mint a token for the next one.
 */
export async function execute(host: TurnHost, turn: TurnRequest, means: Means): Promise<Execution> {
  const { executor } = host;
  const { input, approval = {}, bound, strict = false, attempts = [], onChanged = 'ask' } = turn;
  const { limits, ledger, emit, mayWait, keeper, time, onAsked } = means;
  const { recorded = null, approved: before = null } = turn.earlier ?? {};
  if (!input.ok) return refused(input.failure.code, hostFailure(input.failure.code, input.failure.message));
  const source: Source = { name: ACTIONS, text: input.envelope.actions };
  const userdata = userdataOf(input);
  using context = contextOf(host, turn, means);
  const fork = executor.fork({ context, tools: [magicOf(host, means)], limits });
  const facts = fork.facts?.() ?? null;
  const deny = (message: string): Execution => {
    return { ...refused('ERR_POLICY', languageError(NS_CODES.Policy, message)), denied: { tool: ACTIONS, message }, host: facts };
  };
  const shown = turn.plans?.findLast((plan) => plan.attempt >= firstWithProgram(attempts))?.grant?.programs;
  const foreign = recorded === null ? null : foreignPart(recorded.input, source, userdata, shown);
  if (foreign !== null) return deny(`what is stored of the turn is not what began: ${foreign}`);
  if (turn.refused !== undefined) return deny(turn.refused);
  let given: RunInput | null = null;
  const request: RunRequest = {
    sources: [source],
    globals: { userdata },
    asTurn: true,
    checkFirst: true,
    // A stored run was admitted when it began.
    strict: strict && recorded === null,
    explain: strict,
    earlier: attempts.length === 0 ? undefined : { journals: journalsOf(attempts), onChanged },
    past:
      turn.called === undefined && attempts.length === 0 ? undefined : { session: turn.called ?? [], turn: calledBy(attempts) },
    origins: { read: [...(turn.origins?.read ?? []), ...toldOf(attempts)], userdata: turn.origins?.userdata },
    mayWait,
    onOut: (out) => emit({ type: 'output', out }),
    onCall: (entry) => emit({ type: 'called', entry }),
    onInput: (input) => {
      given = input;
      onAsked();
      keeper?.begins(input);
    },
    recorded: recorded ?? undefined,
    keeper: keeper ?? undefined,
    bound,
    plan: turn.plan,
    time,
  };
  // A run that continues another needs no new approval if the other was approved with the same ACTIONS.
  const plan = planHash({ actions: source.text });
  const needed = before === plan ? {} : approval;
  const begun = ({ ok, waiting }: RunResult): boolean => ok || waiting !== undefined;
  const start = (): Promise<RunResult> => fork.execute(request);
  const rejected = needed.requiresApproval ? ((await fork.rejection?.(request)) ?? null) : null;
  const answer =
    rejected === null && needed.requiresApproval
      ? await approved(needed, source.text, start, begun)
      : { result: rejected ?? (await start()) };
  if ('denied' in answer) return deny(answer.denied);
  const { result } = answer;
  const calls = result.waiting === undefined ? [] : [result.waiting, ...(result.alsoWaiting ?? [])];
  const waiting = calls.map((call) => ({ waiting: call, promise: promiseFor(executor, call) }));
  const covered = before === plan || (needed.requiresApproval === true && rejected === null) ? plan : null;
  const isOut = isRejected(result);
  const ran = { run: isOut ? null : given, denied: deniedIn(result), host: facts, waiting, approved: covered };
  const problems = problemsIn(result, source.text);
  const execution = { ...executed(result), ...ran, problems, ...(isOut ? rejectionOf(result, source.text) : {}) };
  // A failed mint always fails the turn, even if the program caught the error or minted a token later.
  const isMintFailure = ledger.failed && (execution.halt === null || execution.halt === 'ERR_EXEC');
  return isMintFailure ? { ...execution, halt: 'ERR_MAGIC_TOOL_INTERNAL' } : execution;
}

function magicOf({ keyring, lifetimes }: TurnHost, { recorder }: Means): ToolDefinition {
  return createMagicTool({ keyring, clock: recorder, ids: recorder, lifetimes });
}

function contextOf({ executor, clock }: TurnHost, turn: TurnRequest, { nonce, ledger }: Means): TurnContext {
  return executor.context({
    sessionId: turn.sid,
    turnIndex: turn.turn,
    nonce,
    // The recorder records only the times of tokens. Times that a tool reads are in its result.
    clock: () => clock.now(),
    values: { ...turn.values, [MINT_LEDGER]: ledger, [APPROVAL]: turn.approval?.approval },
    signal: turn.signal,
    mayAct: turn.mayAct,
    fence: turn.fence,
    origin: turn.origin,
    tenant: turn.tenant,
  });
}

/** Whether the program was rejected before it ran. */
function isRejected({ errors, findings }: RunResult): boolean {
  return errors !== undefined || findings !== undefined;
}

/** The first denied tool for which the program was rejected. */
function deniedIn({ findings }: RunResult): Scene['denied'] {
  const first = findings?.find(({ code }) => code === 'LINT_DENIED_TOOL');
  return first?.tool === undefined ? null : { tool: first.tool, message: first.message };
}

/**
 * The part of a recorded run that does not belong to this turn; null when there is none. Records and rows may come from others, so the
 * run must have no program but that of the envelope, no USERDATA but the host's, and the sources that a person was `shown` with the plan, if
 * one was approved. The worker refuses other sources with a command block.
 */
function foreignPart(
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

function executed(result: RunResult): Execution {
  return {
    halt: result.error === null ? null : reasonOfRun(result.error),
    output: stream(result.emits),
    scratchpad: stream(result.whispers.map(({ text }) => text)),
    outputComplete: result.outputComplete ?? true,
    ...defined({ labels: result.labels }),
    whispers: result.whispers,
    journal: result.journal,
    usage: result.usage,
    // A record has fields alone.
    error: result.error && { ...result.error },
    run: null,
    denied: null,
    host: null,
    waiting: [],
    approved: null,
    ...NOT_REJECTED,
  };
}

const NOT_REJECTED = { rejected: false, problems: [], names: null, fixed: null } as const;

function rejectionOf(result: RunResult, actions: string): Pick<Execution, 'rejected' | 'names' | 'fixed'> {
  return {
    rejected: true,
    names: result.names ?? null,
    fixed: safelyFixed(result, actions),
  };
}

/** Joins texts, each followed by a line feed. Replaces ill-formed characters before the text is measured. */
function stream(texts: readonly string[]): string {
  return texts
    .map((text) => `${text}\n`)
    .join('')
    .toWellFormed();
}

function refused(halt: HaltReason, error: ErrorInfo): Execution {
  const nothing = { output: '', scratchpad: '', outputComplete: true, whispers: [], journal: [], usage: NO_USAGE };
  return { halt, error, ...nothing, run: null, denied: null, host: null, waiting: [], approved: null, ...NOT_REJECTED };
}
