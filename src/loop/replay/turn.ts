import { generateKeys, type KeyLookup, keyringFrom, parseStrict, ReplayCache, selectDecision } from '../../aeiou/index.ts';
import type { Runtime } from '../../runtime/index.ts';
import { type CallScript, type Known, RecordedCalls } from '../../tools/index.ts';
import { encode } from '../../wire/codec.ts';
import { type ErrorInfo, NeuroScriptError } from '../../wire/errors.ts';
import type { LimitValues } from '../../wire/limits.ts';
import type { RunInput } from '../../wire/protocol.ts';
import type { RunResult } from '../../wire/result.ts';
import { randomIds } from '../ports.ts';
import type { TurnExecutor } from '../turn/executor.ts';
import { readTurn, type TurnInput } from '../turn/input.ts';
import type { TurnRecord } from '../turn/record.ts';
import { runTurn, type TurnHost } from '../turn/turn.ts';
import { malformation } from './check.ts';
import { compareTurns, type Divergence, prefixDifference } from './compare.ts';
import { inputOf, type Scene } from './facts.ts';
import { recordedKeys, secretKeys } from './keys.ts';
import { type SealFault, sealFaults } from './seal.ts';

/**
 * What executing a recorded turn again showed.
 *
 * `same`: every byte is as it was. `differs`: `divergence` is the first that is not. `prefix`: the turn was ended from outside
 * at a moment that nobody could record, and what it said until then is the same. `incomplete`: the record cannot be executed
 * again; `why` says so. `verified`: it was redacted, so it was not executed, but its tokens lead to its decision. `changed`: the record is not what was sealed, in the parts that `faults` names.
 */
export interface TurnReplay {
  readonly sid: string;
  readonly turn: number;
  readonly verdict: 'same' | 'differs' | 'prefix' | 'verified' | 'incomplete' | 'changed';
  readonly why: string | null;
  readonly faults: readonly SealFault[];
  readonly divergence: Divergence | null;
  /** The turn as it is now; null when it was not executed. */
  readonly replayed: TurnRecord | null;
  /** Ids of keys whose tags could not be verified, because they are secrets. */
  readonly unverified: readonly string[];
}

/** How turns are executed again. */
export interface ReplayOptions {
  /** Keys that tokens must verify with, in place of those that the record names. */
  readonly keys?: KeyLookup;
  /** Hash of the record of the turn before; the record's own word for it when absent. */
  readonly prev?: string | null;
  /** Parts of the record that were changed by redaction: such a turn is not executed. */
  readonly redacted?: readonly string[];
  readonly signal?: AbortSignal;
}

/**
 * Executes a recorded turn again, in a fresh sandbox of `runtime`, from its recorded inputs alone: no tool is called, no clock
 * read, nothing minted. A record that is malformed is `incomplete`. Rejects with `RuntimeClosedError` and `BusyError`.
 */
export async function replayTurn(runtime: Runtime, record: TurnRecord, options: ReplayOptions = {}): Promise<TurnReplay> {
  const faults = sealFaults(record, options.prev === undefined ? (record.seal?.prev ?? null) : options.prev);
  const { sid, turn } = record;
  const common = { sid, turn, faults, unverified: options.keys === undefined ? secretKeys(record) : [] };
  const { scene } = record.inputs;
  const why = scene === null ? whyIncomplete(record) : null;
  const end = (verdict: TurnReplay['verdict'], more: Partial<TurnReplay> = {}): TurnReplay => ({
    ...common,
    verdict: faults.length > 0 ? 'changed' : verdict,
    why: null,
    divergence: null,
    replayed: null,
    ...more,
  });
  if (scene === null) return end('incomplete', { why });
  const malformed = malformation(record) ?? keyFault(record);
  if (malformed !== null) return end('incomplete', { why: malformed });
  if (options.redacted !== undefined && options.redacted.length > 0) {
    const redacted = `redacted: ${options.redacted.join(', ')}`;
    const decided = verifyDecision(record, scene, options);
    if (decided === null) return end('incomplete', { why: redacted });
    return end(decided.divergence === null ? 'verified' : 'differs', { ...decided, why: redacted });
  }
  const calls = new RecordedCalls(record.journal, stoppedAt(record) === null ? null : new Stopped(record));
  const replayed = await executeAgain(runtime, record, scene, calls, options);
  if (endedFromOutside(record)) {
    const divergence = prefixDifference(record, replayed);
    return end(divergence === null ? 'prefix' : 'differs', { divergence, replayed });
  }
  const divergence = compareTurns(record, replayed, calls);
  return end(divergence === null ? 'same' : 'differs', { divergence, replayed });
}

/** Why a public key of a record is none; null when they all are. */
function keyFault(record: TurnRecord): string | null {
  try {
    recordedKeys(record, { now: () => 0, monotonic: () => 0 });
    return null;
  } catch (error) {
    if (error instanceof NeuroScriptError) return error.message;
    throw error;
  }
}

function whyIncomplete({ version, reason }: TurnRecord): string {
  if (version === 1) return 'an older version recorded the turn, without all of its inputs';
  return reason === null ? 'its inputs are not in the record' : `the turn has no execution of its own (${reason})`;
}

/** Whether the tokens in OUTPUT lead to the decision (A3-1.1-2); null when no token decided. */
function verifyDecision(
  record: TurnRecord,
  { judged }: Scene,
  { keys }: ReplayOptions,
): { readonly divergence: Divergence | null } | null {
  if (record.candidates.length === 0 || record.error !== null || judged.mintFailed) return null;
  const decidedAt = record.inputs.clock.at(-1) ?? record.startedAt;
  const clock = { now: () => decidedAt, monotonic: () => 0 };
  const { decision, chosen } = selectDecision(record.output, {
    keys: keys ?? recordedKeys(record, clock),
    sessionId: record.sid,
    turnIndex: record.turn,
    turnNonce: record.inputs.nonce,
    now: decidedAt / 1000,
    clockSkew: judged.clockSkew,
    replay: new Remembered(judged.fresh, clock),
  });
  const was = [record.overridden ?? record.decision, record.kid, record.jti];
  const is = [decision, chosen?.payload.kid ?? null, chosen?.payload.jti ?? null];
  const same = JSON.stringify(was) === JSON.stringify(is);
  return { divergence: same ? null : { where: 'decision', recorded: JSON.stringify(was), replayed: JSON.stringify(is) } };
}

async function executeAgain(
  runtime: Runtime,
  record: TurnRecord,
  scene: Scene,
  calls: RecordedCalls,
  { keys, signal }: ReplayOptions,
): Promise<TurnRecord> {
  const { inputs, sid, turn, startedAt } = record;
  const { judged } = scene;
  const decidedAt = inputs.clock.at(-1) ?? startedAt;
  const clock = { now: () => decidedAt, monotonic: () => 0 };
  const input = inputAgain(record, scene);
  const host: TurnHost = {
    executor: executorOf(runtime, record, scene),
    keyring: keyringFrom(generateKeys('replay'), { clock }),
    keys: keys ?? recordedKeys(record, clock),
    clock,
    ids: randomIds,
    replay: new Remembered(judged.fresh, clock),
    lifetimes: { clockSkew: judged.clockSkew },
    noProgressN: judged.noProgressN,
    checks: [() => judged.stopped],
  };
  const again = scene.run === null || !input.ok ? null : { input: givenAgain(record, scene.run, input), calls };
  const { mintFailed } = judged;
  const earlier = { startedAt, nonce: inputs.nonce, again, clock: [], jtis: [], mints: 0, mintFailed, ranMs: 0 };
  const { record: replayed } = await runTurn(host, {
    sid,
    turn,
    input,
    progress: judged.progress,
    earlier,
    ...(signal === undefined ? {} : { signal }),
  });
  return replayed;
}

/** The envelope, read again; the remarks on the reply that it was made of cannot come from it. */
function inputAgain({ inputs: { envelope } }: TurnRecord, { unreadable, lints }: Scene): TurnInput {
  if (unreadable !== null) return { ok: false, text: envelope, failure: unreadable };
  const input = readTurn(new TextEncoder().encode(envelope));
  return input.ok ? { ...input, lints } : input;
}

function givenAgain(record: TurnRecord, run: NonNullable<Scene['run']>, input: TurnInput & { readonly ok: true }): RunInput {
  const { actions, userdata } = input.envelope;
  const source = { name: 'ACTIONS', text: actions };
  const given = inputOf(run, withTime(record), source, encode(parseStrict(userdata, { numbers: 'doubles', padding: true })));
  const stopAt = stoppedAt(record);
  return stopAt === null ? given : { ...given, stopAt };
}

/** How much more time a replay gets: a slower machine must not end what a faster one did not. */
const PATIENCE = 20;

/** The recorded limits, with more time; a turn that ran until it was killed is not waited for any longer than then. */
function withTime(record: TurnRecord): LimitValues {
  const { limits } = record.inputs;
  if (endedFromOutside(record)) return limits;
  const more = (ms: number): number => ms * PATIENCE + 10_000;
  return { ...limits, cpuMs: more(limits.cpuMs), wallMs: more(limits.wallMs), toolMs: more(limits.toolMs) };
}

/** Where a clock stopped the program while it computed; null when none did. */
function stoppedAt({ error, journal, usage }: TurnRecord): NonNullable<RunInput['stopAt']> | null {
  const last = journal.at(-1)?.outcome;
  if (error === null || (error.limit !== 'cpuMs' && error.limit !== 'wallMs')) return null;
  // Then it waited for a call, which is answered with the same.
  if (last !== undefined && !last.ok && 'halted' in last && last.halted.limit === error.limit) return null;
  return { fuel: usage.fuel, clock: error.limit === 'cpuMs' ? 1 : 2 };
}

/** The call that a program makes whose time is over: no tool saw it, and its journal does not have it. */
class Stopped implements CallScript {
  readonly #error: ErrorInfo | null;

  constructor({ error }: TurnRecord) {
    this.#error = error;
  }

  known(): Known | null {
    return this.#error === null ? null : { t: 'answer', reply: { t: 'halt', error: { ...this.#error, stack: [] } } };
  }
}

/** Whether the worker was killed, so that nobody knows how far the program was. */
function endedFromOutside({ outputComplete, error, usage, inputs }: TurnRecord): boolean {
  return !outputComplete || (error !== null && usage.fuel === 0 && inputs.scene?.run != null && error.kind !== 'syntax');
}

/** Turns from a record: what the policy said stands in it, and what the worker is given too. */
function executorOf(runtime: Runtime, record: TurnRecord, { denied, host }: Scene): TurnExecutor {
  const { inputs } = record;
  return {
    limits: inputs.limits,
    context: (init) => runtime.turn(init),
    inspect: (source) => runtime.check([source]),
    fork: ({ context, limits }) => ({
      denied: (tool) => (denied?.tool === tool ? denied.message : null),
      ...(host === null ? {} : { facts: () => host }),
      execute: async ({ again, onOut, onCall, onInput }) => {
        const result = await runtime
          .interpreter()
          .fork({ turn: context, limits })
          .runRequest({
            turn: true,
            onOut,
            onCall,
            signal: context.signal,
            ...(onInput === undefined ? {} : { onInput }),
            ...(again === undefined ? {} : { again }),
          });
        return timedOut(record, result);
      },
    }),
  };
}

/** A program whose time was over got that error, however it had ended by itself when the host told it. */
function timedOut(record: TurnRecord, result: RunResult): RunResult {
  if (stoppedAt(record) === null || record.error === null || result.usage.fuel !== record.usage.fuel) return result;
  return { ...result, ok: false, error: record.error };
}

/** Answers as the replay cache of the host did. */
class Remembered extends ReplayCache {
  readonly #fresh: readonly boolean[];
  #next = 0;

  constructor(fresh: readonly boolean[], clock: { now(): number }) {
    super({ clock });
    this.#fresh = fresh;
  }

  override add(): boolean {
    this.#next += 1;
    return this.#fresh[this.#next - 1] ?? true;
  }
}
