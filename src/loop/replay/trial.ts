import {
  carryForward,
  composeEnvelope,
  EnvelopeError,
  envelopeOf,
  generateKeys,
  keyringFrom,
  ReplayCache,
} from '../../aeiou/index.ts';
import type { Runtime } from '../../runtime/index.ts';
import { checkLimits, type LimitOptions } from '../../sandbox/index.ts';
import {
  type CallHistory,
  type CallScript,
  type Completion,
  callOf,
  canonicalName,
  decideCall,
  type Known,
  type MadeCall,
  Policy,
  PolicyGuard,
  untakenCalls,
} from '../../tools/index.ts';
import { NS_CODES } from '../../wire/codes.ts';
import { ConfigError } from '../../wire/errors.ts';
import { checkTagged } from '../../wire/foreign.ts';
import { knownOf } from '../../wire/foreseen.ts';
import type { JournalEntry } from '../../wire/journal.ts';
import type { GuestCall } from '../../wire/protocol.ts';
import { plainMaps } from '../../wire/tagged.ts';
import { seededIds } from '../ids.ts';
import { MAGIC_TOOL } from '../magic.ts';
import { calledBy, historyOf, journalsOf } from '../record/attempt.ts';
import type { PublicKeyRecord, Scene, TurnRecord } from '../record/record.ts';
import { visibleOutput } from '../result.ts';
import { type CallAnswer, completionOf } from '../suspend/complete.ts';
import type { TurnExecutor } from '../turn/executor.ts';
import { readTurn, type TurnInput } from '../turn/input.ts';
import type { TurnHost } from '../turn/request.ts';
import { runTurn } from '../turn/turn.ts';
import { malformation } from './check.ts';
import type { Divergence } from './compare.ts';
import { givenInput, machineLimits } from './execute.ts';
import type { RecordedSession } from './session.ts';

/** Changes to a recorded session for a trial. Everything else is as recorded. */
export interface Changes {
  /** The first turn to execute. Earlier turns stay as recorded. */
  readonly fromTurn: number;
  /** ACTIONS of that turn. */
  readonly program?: string | undefined;
  /** Replaces the recorded policies. */
  readonly policy?: Policy;
  /** Other limits for the changed turns. */
  readonly limits?: LimitOptions;
  /** Answers by id of a call, such as `2.1`, or by name of a tool for all of its calls. */
  readonly answers?: ReadonlyMap<string, CallAnswer>;
}

/** One turn of a trial, together with the recorded turn. */
export interface TriedTurn {
  /** Number of the turn, from 1. */
  readonly turn: number;
  /** The turn as it was. */
  readonly recorded: TurnRecord;
  /** The turn with the changes. */
  readonly tried: TurnRecord;
  /** All differences. For output, only the first differing line that is not a token line. */
  readonly differences: readonly Divergence[];
  /** Calls without an answer. They failed with code 21. */
  readonly unanswered: readonly string[];
}

/** The result of a trial. Nothing of it is stored. */
export interface TriedSession {
  /** Id of the session. */
  readonly sid: string;
  /** The turns from the first changed one on, in order. */
  readonly turns: readonly TriedTurn[];
  /** Why the trial ended: the session ended, or no program is recorded for the next turn. */
  readonly end: string;
}

/**
 * Executes a recorded session from one of its turns on, with changes. Calls are answered, in this order, by `answers`, by the
 * recorded answer to the same tool with the same arguments in the same turn or in an earlier attempt at it, by the tools of `runtime`, and otherwise by an
 * error. Later turns run their recorded programs on the output of the trial. Tokens are signed with temporary keys, and nothing
 * is stored. Throws {@link ConfigError} for a turn that is not recorded or cannot be executed.
 */
export async function tryOut(runtime: Runtime, session: RecordedSession, changes: Changes): Promise<TriedSession> {
  const { sid, turns } = session;
  const first = turns.find(({ turn }) => turn === changes.fromTurn);
  if (first === undefined) throw new ConfigError(`session ${JSON.stringify(sid)} has no turn ${changes.fromTurn}`);
  const tried: TriedTurn[] = [];
  let { progress } = sceneOf(first).judged;
  let carried = carriedInto(first);
  const called = new Set(
    calledBy(turns.filter(({ turn }) => turn < changes.fromTurn).flatMap((each) => [...(each.attempts ?? []), each])),
  );
  for (let turn = changes.fromTurn; ; turn += 1) {
    const recorded = turns.find((each) => each.turn === turn);
    if (recorded === undefined) return { sid, turns: tried, end: `nothing is recorded of turn ${turn}` };
    sceneOf(recorded);
    const program = turn === changes.fromTurn ? changes.program : undefined;
    const calls = new TriedCalls(runtime, recorded, changes, historyOf(recorded, called));
    const host = hostOf(runtime, recorded, calls, changes);
    const { record, progress: after } = await runTurn(host, { sid, turn, input: inputFor(recorded, carried, program), progress });
    tried.push({ turn, recorded, tried: record, differences: differencesOf(recorded, record), unanswered: calls.unanswered });
    if (record.decision !== 'CONTINUE') return { sid, turns: tried, end: `turn ${turn} ended with ${record.decision}` };
    progress = after;
    carried = { output: carryForward(record.output), scratchpad: carryForward(record.scratchpad) };
  }
}

/** The recorded inputs of a turn. Throws {@link ConfigError} for a record that cannot be executed; it may come from any source. */
function sceneOf(record: TurnRecord): Scene {
  const { turn, inputs } = record;
  if (inputs.scene === null) throw new ConfigError(`the record of turn ${turn} lacks the inputs to execute it`);
  const malformed = malformation(record);
  if (malformed !== null) throw new ConfigError(`the record of turn ${turn} cannot be executed: ${malformed}`);
  return inputs.scene;
}

interface Carried {
  readonly output: string | null;
  readonly scratchpad: string | null;
}

function carriedInto({ inputs }: TurnRecord): Carried {
  const envelope = envelopeOf(inputs.envelope);
  return { output: envelope?.output ?? null, scratchpad: envelope?.scratchpad ?? null };
}

/** The envelope of a turn with another program, or with the output of other turns. */
function inputFor(recorded: TurnRecord, carried: Carried, program: string | undefined): TurnInput {
  const { envelope: text, scene } = recorded.inputs;
  const envelope = envelopeOf(text);
  if (envelope === null)
    return {
      ok: false,
      text,
      failure: scene?.unreadable ?? { code: 'ERR_ENV_MARKERS_INVALID', message: 'it is not an envelope' },
    };
  const { userdata, actions } = envelope;
  try {
    return readTurn(composeEnvelope({ userdata, ...carried, actions: program ?? actions }));
  } catch (error) {
    if (error instanceof EnvelopeError) return { ok: false, text, failure: error };
    throw error;
  }
}

function hostOf(runtime: Runtime, recorded: TurnRecord, calls: TriedCalls, changes: Changes): TurnHost {
  const { inputs, startedAt } = recorded;
  const judged = inputs.scene?.judged;
  const clock = { now: () => inputs.clock.at(-1) ?? startedAt, monotonic: () => performance.now() };
  return {
    executor: executorOf(runtime, recorded, calls, changes),
    keyring: keyringFrom(generateKeys(nameOf(judged?.keys ?? [])), { clock }),
    clock,
    ids: seededIds(`tried ${inputs.nonce}`),
    replay: new ReplayCache({ clock }),
    lifetimes: judged && { clockSkew: judged.clockSkew },
    noProgressN: judged?.noProgressN,
  };
}

/** The recorded name of the host's keys. Tokens with equal key names have equal lengths and cost the same fuel. */
function nameOf(keys: readonly PublicKeyRecord[]): string {
  const primary = keys.find(({ kid }) => kid.endsWith(PRIMARY));
  return primary === undefined ? 'tried' : primary.kid.slice(0, -PRIMARY.length);
}

const PRIMARY = '-primary';

function executorOf(runtime: Runtime, recorded: TurnRecord, calls: TriedCalls, { limits: changed = {} }: Changes): TurnExecutor {
  const { inputs } = recorded;
  return {
    // A change may be looser than the recorded limits.
    limits: { ...machineLimits(inputs.limits, runtime.limits), ...checkLimits(changed) },
    context: (init) => runtime.turn(init),
    fork: ({ context, tools, limits }) => ({
      // A trial needs no approval of ACTIONS as a whole.
      execute: (request) => {
        const input = { ...givenInput(inputs.scene?.run ?? null, limits, request), turn: true };
        const recorded = { input, calls, denied: calls.denials() };
        return runtime
          .interpreter()
          .fork({ turn: context, tools })
          .runRequest({ ...request, recorded, signal: context.signal });
      },
    }),
  };
}

/** Answers the calls of a turn in a trial. */
class TriedCalls implements CallScript {
  readonly unanswered: string[] = [];
  readonly #runtime: Runtime;
  readonly #turn: number;
  readonly #left: JournalEntry[];
  readonly #answers: ReadonlyMap<string, Completion>;
  readonly #guards: readonly PolicyGuard[];
  readonly #history: CallHistory;

  constructor(runtime: Runtime, record: TurnRecord, { policy, answers = new Map() }: Changes, history: CallHistory) {
    const { turn, journal, inputs } = record;
    this.#runtime = runtime;
    this.#turn = turn;
    this.#history = history;
    this.#left = [...journal, ...untakenAnswers(record)];
    this.#answers = new Map(
      [...answers].map(([key, answer]) => [/^\d/.test(key) ? key : canonicalName(key), fixedAnswer(key, answer)]),
    );
    const recorded = (inputs.scene?.host?.policies ?? []).map((options) => (options === null ? null : new Policy(options)));
    this.#guards = (policy === undefined ? recorded : [policy]).map((each) => new PolicyGuard(each));
  }

  /** The denied tools among those that are known. Any other tool is denied when it is called. */
  denials(): ReadonlyMap<string, string> {
    const recorded = this.#left.flatMap((entry) => (entry.kind === 'tool' ? [canonicalName(entry.name)] : []));
    const denied = new Map<string, string>();
    for (const name of [MAGIC_TOOL, ...this.#runtime.interpreter().fork().tools.names(), ...recorded]) {
      const reason = this.denied(name);
      if (reason !== null) denied.set(name, reason);
    }
    return denied;
  }

  /** Checks only the name of a tool, because a record does not have its other requirements. */
  denied(tool: string): string | null {
    const own = canonicalName(tool) === MAGIC_TOOL;
    const known = { canonicalName: canonicalName(tool), requiresTrust: false, capabilities: [] };
    for (const guard of this.#guards) {
      const denial = guard.denial(known, own);
      if (denial !== null) return denial.reason;
    }
    return null;
  }

  /** Why a rule about arguments or order refuses a call, or a person would be asked; null when it may be made. */
  #refused(name: string, { seq, args, labels }: GuestCall & { readonly t: 'tool' }): string | null {
    const tools = this.#runtime.interpreter().fork().tools;
    const tool = tools.lookup(name);
    if (tool === undefined) return null;
    const question = {
      tool,
      args: args.map(knownOf),
      before: this.#history.at(seq),
      labels: labels ?? null,
      isTool: (other: string) => tools.lookup(other) !== undefined,
    };
    for (const { policy } of this.#guards) {
      const [breach] = policy === null ? [] : decideCall(policy, question);
      if (breach !== undefined) return breach.reason;
    }
    return null;
  }

  known(call: GuestCall): Known | null {
    const known = this.#answerTo(call);
    const failed = known?.t === 'answer' ? known.reply.t !== 'ok' : known?.t === 'recorded' && !known.entry.outcome.ok;
    if (call.t === 'tool') this.#history.end(this.#history.begin(call.seq, call.name), !failed);
    if (known?.t === 'recorded') for (const tool of known.entry.called ?? []) this.#history.add(call.seq, tool);
    return known;
  }

  #answerTo(call: GuestCall): Known | null {
    if (call.t !== 'tool') return this.#recorded(call) ?? this.#unanswered(call, call.t);
    const name = canonicalName(call.name);
    const denied = this.denied(name) ?? this.#refused(name, call);
    if (denied !== null) return failed(NS_CODES.Policy, denied);
    const set = this.#answers.get(`${this.#turn}.${call.seq}`) ?? this.#answers.get(name);
    if (set !== undefined) return set.ok ? { t: 'answer', reply: { t: 'ok', value: set.value } } : failed(set.code, set.message);
    if (name === MAGIC_TOOL) return null;
    return (
      this.#recorded(call) ??
      (this.#runtime.interpreter().fork().tools.lookup(name) === undefined ? this.#unanswered(call, name) : null)
    );
  }

  /** The first unused recorded answer to an equal call. */
  #recorded(call: GuestCall): Known | null {
    const wanted = callKey(call);
    const index = this.#left.findIndex((entry) => callKey(callOf(entry)) === wanted);
    const [entry] = index < 0 ? [] : this.#left.splice(index, 1);
    return entry === undefined ? null : { t: 'recorded', entry: { ...entry, seq: call.seq, at: call.at } };
  }

  #unanswered({ seq }: GuestCall, what: string): Known {
    this.unanswered.push(`${this.#turn}.${seq} ${what}`);
    return failed(NS_CODES.ToolExecutionFailed, `nothing answers call ${this.#turn}.${seq} of ${what} in this trial`);
  }
}

/** An answer that a trial sets. Throws {@link ConfigError} for one of another form, and for a result that is not tagged JSON. */
function fixedAnswer(key: string, answer: CallAnswer): Completion {
  const completion = completionOf(answer);
  return completion.ok ? { ...completion, value: checkTagged(`the answer to ${key}`, completion.value) } : completion;
}

/** The answers of earlier attempts at a turn that the deciding one did not take. */
function untakenAnswers({ journal, attempts = [] }: TurnRecord): readonly JournalEntry[] {
  const journals = journalsOf(attempts);
  return untakenCalls(journals, journal).flatMap(
    ({ attempt, seq }) => journals[attempt - 1]?.find((entry) => entry.seq === seq) ?? [],
  );
}

function failed(code: number, message: string): Known {
  return { t: 'answer', reply: { t: 'error', code, message } };
}

function callKey(call: MadeCall): string {
  if (call.t === 'tool') return JSON.stringify([call.t, canonicalName(call.name), call.args.map(plainMaps)]);
  if (call.t === 'prompt') return JSON.stringify([call.t, call.text]);
  return JSON.stringify([call.t, call.model, plainMaps(call.prompt), plainMaps(call.options)]);
}

function differencesOf(recorded: TurnRecord, tried: TurnRecord): readonly Divergence[] {
  const [was, is] = [recorded, tried].map(shownOf);
  return Object.keys(was ?? {}).flatMap((where) => {
    const [before, now] = [was?.[where] ?? [], is?.[where] ?? []];
    const line = Array.from({ length: Math.max(before.length, now.length) }).findIndex(
      (_, index) => before[index] !== now[index],
    );
    if (line < 0) return [];
    const place = where === 'OUTPUT' || where === 'SCRATCHPAD' ? `line ${line + 1} of ${where}` : where;
    return [{ where: place, recorded: before[line] ?? 'nothing', replayed: now[line] ?? 'nothing' }];
  });
}

function shownOf(record: TurnRecord): Readonly<Record<string, readonly string[]>> {
  const { decision, reason, error, scratchpad, journal, usage } = record;
  return {
    decision: [reason === null ? decision : `${decision} ${reason}`],
    error: [error === null ? 'none' : `${error.code}: ${error.message}`],
    calls: [journal.map((entry) => (entry.kind === 'tool' ? entry.name : entry.kind)).join(', ')],
    OUTPUT: (visibleOutput(record) ?? '').split('\n'),
    SCRATCHPAD: scratchpad.split('\n'),
    fuel: [String(usage.fuel)],
  };
}
