import { isTurnNonce, type Lint, MintLedger, ProgressGuard, type ProgressState, resolveLifetimes } from '../../aeiou/index.ts';
import type { TurnContext } from '../../context/index.ts';
import type { RunRequest } from '../../runtime/index.ts';
import { tighten } from '../../sandbox/index.ts';
import { APPROVAL } from '../../tools/index.ts';
import { NS_CODES } from '../../wire/codes.ts';
import { languageError } from '../../wire/errorinfo.ts';
import { ConfigError } from '../../wire/errors.ts';
import { STORED_VERSION } from '../../wire/forms.ts';
import type { RunInput, Source } from '../../wire/protocol.ts';
import type { RunResult } from '../../wire/result.ts';
import { type LoopEventBody, Watcher } from '../events.ts';
import { checkSid } from '../ids.ts';
import { createMagicTool, MINT_LEDGER } from '../magic.ts';
import { calledBy, firstWithProgram, journalsOf, voidTokens } from '../record/attempt.ts';
import { hostFailure } from '../record/decision.ts';
import { toldOf } from '../record/origins.ts';
import {
  type FailedAttempt,
  type HostFacts,
  recordedInput,
  type Scene,
  type TurnRecord,
  type UnsealedRecord,
} from '../record/record.ts';
import { sealRecord } from '../record/seal.ts';
import type { EarlierTurn, SuspendedTurn } from '../record/suspension.ts';
import { approved, planHash } from './approval.ts';
import { type Execution, executionOf, foreignPart, recordedAttempts, refused, repetitions, withRepeats } from './execution.ts';
import { promiseFor } from './executor.ts';
import { endOf, failedAttempt } from './failure.ts';
import { ACTIONS, type TurnInput, userdataOf } from './input.ts';
import { TurnKeeper } from './keeper.ts';
import { Lifecycle } from './lifecycle.ts';
import { PhaseTimer } from './phases.ts';
import { DecisionRecorder, publicPart, TokenRecorder } from './recorder.ts';
import type { EarlierRun, TurnHost, TurnRequest, TurnStart } from './request.ts';
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

/** One attempt at a turn. It decides the turn, unless a tool suspends it or another attempt may follow. */
export class Attempt {
  readonly #host: TurnHost;
  readonly #turn: TurnRequest;
  readonly #mayWait: boolean;
  readonly #guard: ProgressGuard;
  readonly #clockSkew: number;
  readonly #watcher: Watcher;
  readonly #lifecycle: Lifecycle;
  readonly #recorder: TokenRecorder;
  readonly #ledger: MintLedger;
  readonly #timer: PhaseTimer;
  readonly #start: TurnStart;

  /** `mayWait`: whether a tool may suspend the turn. Throws {@link ConfigError}. */
  constructor(host: TurnHost, turn: TurnRequest, mayWait: boolean) {
    const { sid, earlier } = turn;
    checkSid(sid);
    this.#host = host;
    this.#turn = turn;
    this.#mayWait = mayWait;
    this.#guard = new ProgressGuard(host.noProgressN, 'noProgressN');
    this.#clockSkew = resolveLifetimes(host.lifetimes).clockSkew;
    this.#watcher = new Watcher(turn.onEvent);
    this.#lifecycle = new Lifecycle((from, to) => this.#emit({ type: 'state', from, to }));
    this.#recorder = new TokenRecorder(host.clock, host.ids, earlier);
    this.#ledger = new MintLedger(earlier?.mints);
    if (earlier?.mintFailed) this.#ledger.markFailed();
    const startedAt = earlier?.startedAt ?? host.clock.now();
    this.#timer = new PhaseTimer(host.clock, timeBefore(earlier));
    const nonce = earlier?.nonce ?? host.ids.nonce(sid, turn.turn);
    if (!isTurnNonce(nonce)) throw new ConfigError('the nonce of a turn must be 16 bytes in base64url (22 characters)');
    this.#start = { startedAt, nonce, limits: tighten(host.executor.limits, turn.limits ?? {}) };
  }

  /** Makes the attempt, once. Rejects as `runTurn` does. */
  async run(): Promise<TurnOutcome | UndecidedAttempt> {
    const { onStart, earlier } = this.#turn;
    this.#lifecycle.to('EXECUTING');
    await onStart?.(this.#start);
    this.#timer.end('store');
    const execution = withRepeats(await this.#execute(), earlier?.repeats ?? null);
    this.#watcher.check();
    if (this.#timer.has('prepare')) this.#timer.endRun(execution.usage);
    else this.#timer.end('prepare');
    return this.#suspended(execution) ?? this.#undecided(execution) ?? this.#decided(execution);
  }

  #emit(body: LoopEventBody): void {
    const { sid, turn } = this.#turn;
    this.#watcher.emit({ sid, turn, ...body });
  }

  /** The state from which the turn would continue at this moment. */
  #soFar(): EarlierTurn {
    const { startedAt, nonce } = this.#start;
    const { readings: clock, jtis } = this.#recorder;
    const { mints, failed: mintFailed } = this.#ledger;
    return { startedAt, nonce, clock, jtis, mints, mintFailed, ranMs: this.#timer.elapsed };
  }

  /**
   * Executes ACTIONS if the envelope could be read, ACTIONS is exactly one command block, and the policy denies no tool that it
   * names. The worker that runs the program checks all of this on the one parse, before the first statement runs.
   *
   * The program has a context of its own that holds session, turn and nonce. It is closed before the decision, so a late callback of this
   * turn cannot mint a token for the next one.
   */
  async #execute(): Promise<Execution> {
    const { input, earlier, plans, attempts = [] } = this.#turn;
    if (!input.ok) return refused(input.failure.code, hostFailure(input.failure.code, input.failure.message));
    const { executor, keyring, lifetimes } = this.#host;
    const recorded = earlier?.recorded ?? null;
    const source: Source = { name: ACTIONS, text: input.envelope.actions };
    const userdata = userdataOf(input);
    using context = this.#context();
    const magic = createMagicTool({ keyring, clock: this.#recorder, ids: this.#recorder, lifetimes });
    const fork = executor.fork({ context, tools: [magic], limits: this.#start.limits });
    const host = fork.facts?.() ?? null;
    const shown = plans?.findLast((plan) => plan.attempt >= firstWithProgram(attempts))?.grant?.programs;
    const foreign = recorded === null ? null : foreignPart(recorded.input, source, userdata, shown);
    if (foreign !== null) return denied(`what is stored of the turn is not what began: ${foreign}`, host);
    if (this.#turn.refused !== undefined) return denied(this.#turn.refused, host);
    let run: RunInput | null = null;
    const request = this.#request(source, { userdata }, (input) => {
      run = input;
    });
    const { approval = {} } = this.#turn;
    const before = earlier?.approved ?? null;
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
    if ('denied' in answer) return denied(answer.denied, host);
    const { result } = answer;
    const calls = result.waiting === undefined ? [] : [result.waiting, ...(result.alsoWaiting ?? [])];
    const waiting = calls.map((call) => ({ waiting: call, promise: promiseFor(executor, call) }));
    const covered = before === plan || (needed.requiresApproval === true && rejected === null) ? plan : null;
    const execution = executionOf(result, source.text, { run, host, waiting, approved: covered });
    // A failed mint always fails the turn, even if the program caught the error or minted a token later.
    const isMintFailure = this.#ledger.failed && (execution.halt === null || execution.halt === 'ERR_EXEC');
    return isMintFailure ? { ...execution, halt: 'ERR_MAGIC_TOOL_INTERNAL' } : execution;
  }

  /** The run of ACTIONS. */
  #request(source: Source, globals: NonNullable<RunRequest['globals']>, begins: (input: RunInput) => void): RunRequest {
    const { earlier, attempts = [], strict = false, onChanged = 'ask', called, origins, bound, plan, keep } = this.#turn;
    const recorded = earlier?.recorded ?? undefined;
    const soFar = () => this.#soFar();
    const keeper = keep && new TurnKeeper({ keep, soFar, continues: recorded !== undefined });
    return {
      sources: [source],
      globals,
      asTurn: true,
      checkFirst: true,
      // A stored run was admitted when it began.
      strict: strict && recorded === undefined,
      explain: strict,
      earlier: attempts.length === 0 ? undefined : { journals: journalsOf(attempts), onChanged },
      past: called === undefined && attempts.length === 0 ? undefined : { session: called ?? [], turn: calledBy(attempts) },
      origins: { read: [...(origins?.read ?? []), ...toldOf(attempts)], userdata: origins?.userdata },
      mayWait: this.#mayWait,
      onOut: (out) => this.#emit({ type: 'output', out }),
      onCall: (entry) => this.#emit({ type: 'called', entry }),
      onInput: (input) => {
        begins(input);
        this.#timer.end('prepare');
        keeper?.begins(input);
      },
      recorded,
      keeper,
      bound,
      plan,
      time: this.#timer,
    };
  }

  #context(): TurnContext {
    const { executor, clock } = this.#host;
    const { sid, turn, values, approval, signal, mayAct, fence, origin, tenant } = this.#turn;
    return executor.context({
      sessionId: sid,
      turnIndex: turn,
      nonce: this.#start.nonce,
      // The recorder records only the times of tokens. Times that a tool reads are in its result.
      clock: () => clock.now(),
      values: { ...values, [MINT_LEDGER]: this.#ledger, [APPROVAL]: approval?.approval },
      ...{ signal, mayAct, fence, origin, tenant },
    });
  }

  /** The turn as it waits; null when no tool has suspended it. */
  #suspended({ waiting: [waiting, ...also], run, journal, approved }: Execution): TurnOutcome | null {
    if (waiting === undefined || run === null) return null;
    const alsoWaiting = also.length === 0 ? {} : { alsoWaiting: also };
    return { kind: 'suspended', ...waiting, ...alsoWaiting, approved, earlier: { ...this.#soFar(), run, journal } };
  }

  /** The attempt as one that another may follow; null when it decides the turn. */
  #undecided(execution: Execution): UndecidedAttempt | null {
    const { earlier, mayFollow } = this.#turn;
    const { error, rejected, fixed, run, approved } = execution;
    // A stored run that is refused is not the agent's fault, and no other program may take its place.
    const mayEnd = !rejected || (earlier?.recorded ?? null) === null;
    const end = mayEnd ? endOf(execution, this.#turn.input) : null;
    if (end === null || error === null || this.#ledger.failed) return null;
    const until = this.#soFar();
    const attempt = failedAttempt({ ...execution, error }, end, this.#turn, this.#start, until);
    return mayFollow?.(attempt, fixed) === true ? { kind: 'failed', attempt, fixed, run, approved, earlier: until } : null;
  }

  #decided(executed: Execution): DecidedTurn {
    const { waiting: _, approved: __, rejected: ___, problems: ____, fixed: _____, ...rest } = executed;
    const { run, denied, host: facts, names, ...execution } = rest;
    const [host, turn, recorder] = [this.#host, this.#turn, this.#recorder];
    const { startedAt, nonce, limits } = this.#start;
    const { sid, input, attempts = [], plans = [] } = turn;
    this.#lifecycle.to('VERIFYING');
    const answers = new DecisionRecorder(host, voidTokens(attempts));
    const { verdict, progress } = decide(execution, {
      ...{ sid, turn: turn.turn, nonce, guard: this.#guard, clock: recorder, clockSkew: this.#clockSkew },
      checks: [answers.stopped],
      keys: host.keys ?? host.keyring,
      replay: answers.replay,
      progress: turn.progress,
      userdata: input.ok ? input.envelope.userdata : '{}',
    });
    this.#lifecycle.to('DECIDED');
    this.#lifecycle.finish(verdict.decision);
    this.#watcher.close();

    const { halt: ______, ...outcome } = execution;
    const scene: Scene = {
      lints: envelopeLints(input),
      unreadable: input.ok ? null : { code: input.failure.code, message: input.failure.message },
      denied,
      // On the last reply, what may fail is not rejected: then a denied tool says it all.
      ...(names === null || turn.strict !== true ? {} : { names }),
      run: run === null ? null : recordedInput(run),
      host: facts,
      judged: {
        progress: turn.progress,
        noProgressN: this.#guard.n,
        clockSkew: this.#clockSkew,
        stopped: answers.didStop,
        mintFailed: this.#ledger.failed,
        fresh: answers.fresh,
        keys: host.keyring.list().map(publicPart),
      },
    };
    const unsealed: UnsealedRecord = {
      version: STORED_VERSION,
      sid,
      turn: turn.turn,
      startedAt,
      latencyMs: this.#timer.end('verify'),
      phases: this.#timer.phases,
      agent: turn.agent ?? null,
      inputs: { envelope: input.text, limits, nonce, clock: recorder.readings, jtis: recorder.jtis, scene },
      ...outcome,
      ...verdict,
      ...repetitions(host.executor, turn, execution.journal),
      ...recordedAttempts(host.executor, attempts, execution.journal),
      ...(plans.length === 0 ? {} : { plans }),
      lints: [...envelopeLints(input), ...verdict.lints],
      outputBytes: Buffer.byteLength(execution.output),
      scratchBytes: Buffer.byteLength(execution.scratchpad),
    };
    return { kind: 'decided', record: sealRecord(unsealed, turn.prev ?? null), progress };
  }
}

/** Milliseconds that a turn took before this execution. What a worker or process did until it died is known by its calls alone. */
function timeBefore({ ranMs, repeats }: Partial<EarlierRun> = {}): number {
  return (repeats?.journal ?? []).reduce((last, { begin, ms }) => Math.max(last, begin + ms), ranMs ?? 0);
}

/** The end of ACTIONS that must not run. */
function denied(message: string, host: HostFacts | null): Execution {
  return { ...refused('ERR_POLICY', languageError(NS_CODES.Policy, message)), denied: { tool: ACTIONS, message }, host };
}

function envelopeLints(input: TurnInput): readonly Lint[] {
  return input.ok ? input.lints.map(({ code, line }) => ({ code, line })) : [];
}
