import { generateKeys, type KeyLookup, keyringFrom, parseStrict } from '../../aeiou/index.ts';
import type { RunRequest, Runtime } from '../../runtime/index.ts';
import { type CallScript, type Known, RecordedCalls } from '../../tools/index.ts';
import { encode } from '../../wire/codec.ts';
import { NS_CODES } from '../../wire/codes.ts';
import { languageError } from '../../wire/errorinfo.ts';
import type { ErrorInfo } from '../../wire/errors.ts';
import type { Probe, RunProfile } from '../../wire/heat.ts';
import type { LimitValues } from '../../wire/limits.ts';
import { EMPTY_RUN, type RunInput, type Source } from '../../wire/protocol.ts';
import { type RunResult, refusedResult } from '../../wire/result.ts';
import type { JudgedNames } from '../../wire/sourcereports.ts';
import { RunError } from '../../wire/text/runerror.ts';
import { randomIds } from '../ids.ts';
import { inputOf, type Scene, type TurnRecord } from '../record/record.ts';
import type { TurnExecutor } from '../turn/executor.ts';
import { readTurn, type TurnInput } from '../turn/input.ts';
import type { TurnHost } from '../turn/request.ts';
import { runTurn } from '../turn/turn.ts';
import { type Compare, type Divergence, prefixDifference } from './compare.ts';
import { RecordedReplayCache, recordedKeys } from './verify.ts';

/** Options of a recorded execution. */
export interface ExecutionOptions {
  /** Keys with which tokens must verify, in place of those that the record names. */
  readonly keys?: KeyLookup | undefined;
  /** Ends the replay. */
  readonly signal?: AbortSignal | undefined;
  /** Measures the execution. */
  readonly probe?: Probe | undefined;
  /** Receives the profile of a measured execution, and its sources in the order of the run. */
  readonly onProfile?: ((profile: RunProfile, sources: readonly Source[]) => unknown) | undefined;
}

/** What executing a record again has shown. */
export interface Repetition {
  /** `prefix`: the program was killed at an unknown moment, and both outputs agree as far as both go. */
  readonly verdict: 'same' | 'differs' | 'prefix' | 'incomplete';
  /** Why the record cannot be executed here; null when it can. */
  readonly why: string | null;
  /** The first difference; null without one. */
  readonly divergence: Divergence | null;
  readonly replayed: TurnRecord;
}

/** Executes a record again, from its inputs and its journal alone, and compares the two executions. */
export async function repeat(
  runtime: Runtime,
  record: TurnRecord,
  scene: Scene,
  compare: Compare,
  options: ExecutionOptions,
): Promise<Repetition> {
  const calls = new RecordedCalls(record.journal, stoppedAt(record) === null ? null : new StoppedCall(record));
  const replayed = await executeRecorded(runtime, record, scene, calls, options);
  const none = { why: null, divergence: null, replayed };
  if (wasKilled(record)) {
    const divergence = prefixDifference(record, replayed);
    return { ...none, verdict: divergence === null ? 'prefix' : 'differs', divergence };
  }
  const divergence = compare(record, replayed, calls);
  if (divergence === null) return { ...none, verdict: 'same' };
  const short = shortfall(record, replayed, runtime.limits);
  return short === null ? { ...none, verdict: 'differs', divergence } : { ...none, verdict: 'incomplete', why: short };
}

async function executeRecorded(
  runtime: Runtime,
  record: TurnRecord,
  scene: Scene,
  calls: RecordedCalls,
  options: ExecutionOptions,
): Promise<TurnRecord> {
  const { keys, signal } = options;
  const { inputs, sid, turn, startedAt } = record;
  const { judged } = scene;
  const decidedAt = inputs.clock.at(-1) ?? startedAt;
  const clock = { now: () => decidedAt, monotonic: () => 0 };
  const input = recordedTurnInput(record, scene);
  const host: TurnHost = {
    executor: executorOf(runtime, record, scene, options),
    keyring: keyringFrom(generateKeys('replay'), { clock }),
    keys: keys ?? recordedKeys(record, clock),
    clock,
    ids: randomIds,
    replay: new RecordedReplayCache(judged.fresh, clock),
    lifetimes: { clockSkew: judged.clockSkew },
    noProgressN: judged.noProgressN,
    checks: [() => judged.stopped],
  };
  const recorded =
    scene.run === null || !input.ok ? null : { input: recordedInputOf(record, scene.run, input, runtime.limits), calls };
  const { mintFailed } = judged;
  const earlier = { startedAt, nonce: inputs.nonce, recorded, clock: [], jtis: [], mints: 0, mintFailed, ranMs: 0 };
  const { record: replayed } = await runTurn(host, {
    sid,
    turn,
    input,
    progress: judged.progress,
    earlier,
    strict: scene.names !== undefined,
    signal,
  });
  return replayed;
}

/** Reads the envelope again. The remarks on the reply are taken from the record, because the envelope does not have them. */
function recordedTurnInput({ inputs: { envelope } }: TurnRecord, { unreadable, lints }: Scene): TurnInput {
  if (unreadable !== null) return { ok: false, text: envelope, failure: unreadable };
  const input = readTurn(new TextEncoder().encode(envelope));
  return input.ok ? { ...input, lints } : input;
}

function recordedInputOf(
  record: TurnRecord,
  run: NonNullable<Scene['run']>,
  input: TurnInput & { readonly ok: true },
  limits: LimitValues,
): RunInput {
  const { actions, userdata } = input.envelope;
  const source = { name: 'ACTIONS', text: actions };
  const given = inputOf(
    run,
    limitsOf(record, limits),
    source,
    encode(parseStrict(userdata, { numbers: 'doubles', padding: true })),
  );
  const stopAt = stoppedAt(record);
  return stopAt === null ? given : { ...given, stopAt };
}

/** Factor for time limits in a replay, so that a slower machine does not end a turn that a faster one completed. */
const TIME_FACTOR = 20;

/** Milliseconds that every replay may take, even on a host with a shorter time limit, so that a slower machine can finish. */
const LEAST_MS = 10_000;

/** The limits of time. A replay calls no tool, so `toolMs` costs nothing. */
const TIME_LIMITS = ['cpuMs', 'wallMs'] as const satisfies readonly (keyof LimitValues)[];

/**
 * The limits that protect the machine of the replay: time, memory of the worker, and the data that the host keeps of a run. A record may
 * come from others, so the host's own limits apply to these.
 */
const MACHINE_LIMITS = [
  ...TIME_LIMITS,
  'memoryBytes',
  'outputBytes',
  'lineBytes',
  'scratchBytes',
  'emits',
  'toolCalls',
  'toolCallsPerTool',
  'togetherCalls',
  'toolBytes',
  'journalBytes',
  'deliveries',
] as const satisfies readonly (keyof LimitValues)[];

/** The recorded limits, with those of {@link MACHINE_LIMITS} tightened by the host's. */
export function machineLimits(limits: LimitValues, host: LimitValues): LimitValues {
  return {
    ...limits,
    ...Object.fromEntries(MACHINE_LIMITS.map((key) => [key, Math.min(limits[key], host[key])])),
    // Bounds the measurement of this execution, which the record does not contain.
    traceEvents: host.traceEvents,
  };
}

/**
 * Why the host's limits were too tight for the turn; null when they were not. A time limit counts as too tight below `TIME_FACTOR` times
 * the recorded one, because this machine may be slower.
 */
function shortfall(record: TurnRecord, { error }: TurnRecord, host: LimitValues): string | null {
  const key = MACHINE_LIMITS.find((each) => each === error?.limit);
  if (key === undefined) return null;
  const recorded = record.inputs.limits[key];
  const allowed = limitsOf(record, host)[key];
  const enough = key === 'cpuMs' || key === 'wallMs' ? TIME_FACTOR * recorded : recorded;
  if (allowed >= enough) return null;
  return `it needs more than the limit ${key} of this host allows: ${allowed}, and it was recorded with ${recorded}`;
}

/** The limits of a replay: those of {@link machineLimits}, with more time for a slower machine, up to the host's own limit. */
export function replayLimits(recorded: LimitValues, host: LimitValues): LimitValues {
  const limits = machineLimits(recorded, host);
  const more = (ms: number): number => ms * TIME_FACTOR + LEAST_MS;
  const time = (key: (typeof TIME_LIMITS)[number]): number => Math.min(more(limits[key]), Math.max(host[key], LEAST_MS));
  return { ...limits, cpuMs: time('cpuMs'), wallMs: time('wallMs'), toolMs: more(limits.toolMs) };
}

/** The limits by which a record is executed. A turn that ran until it was killed gets no more time than before. */
function limitsOf(record: TurnRecord, host: LimitValues): LimitValues {
  return (wasKilled(record) ? machineLimits : replayLimits)(record.inputs.limits, host);
}

/** Where a time limit stopped the program while it computed; null when none did. */
function stoppedAt({ error, journal, usage }: TurnRecord): NonNullable<RunInput['stopAt']> | null {
  const last = journal.at(-1)?.outcome;
  if (error === null || (error.limit !== 'cpuMs' && error.limit !== 'wallMs')) return null;
  // The limit was reached during a call, whose recorded answer stops the program again.
  if (last !== undefined && !last.ok && 'halted' in last && last.halted.limit === error.limit) return null;
  return { fuel: usage.fuel, clock: error.limit === 'cpuMs' ? 1 : 2 };
}

/** Answers a call after the time limit with the recorded error. The journal does not contain such a call. */
class StoppedCall implements CallScript {
  readonly #error: ErrorInfo | null;

  constructor({ error }: TurnRecord) {
    this.#error = error;
  }

  known(): Known | null {
    return this.#error === null ? null : { t: 'answer', reply: { t: 'halt', error: { ...this.#error, stack: [] } } };
  }
}

/** Whether the worker was killed, so that the progress of the program is unknown. */
function wasKilled({ outputComplete, error, usage, inputs }: TurnRecord): boolean {
  return (
    !outputComplete ||
    error?.code === 'ERR_WORKER' ||
    (error !== null && usage.fuel === 0 && inputs.scene?.run != null && error.kind !== 'syntax')
  );
}

/** An executor that takes the policy's answers and the worker's input from the record. */
function executorOf(
  runtime: Runtime,
  record: TurnRecord,
  { denied, host, names }: Scene,
  options: ExecutionOptions,
): TurnExecutor {
  const { inputs } = record;
  const { probe, onProfile } = options;
  return {
    limits: inputs.limits,
    context: (init) => runtime.turn(init),
    fork: ({ context, limits }) => ({
      ...(host === null ? {} : { facts: () => host }),
      execute: async (request) => {
        // No human had approved ACTIONS, or what was stored of it was not what had begun.
        if (denied?.tool === 'ACTIONS') return refusedResult(languageError(NS_CODES.Policy, denied.message));
        // The program was not begun, because of what it costs at least. A record has no prices of tools.
        if (inputs.scene?.run === null && record.error?.limit === 'cost') return refusedResult(record.error);
        const refused = names ?? { ...NO_NAMES, denied: denied === null ? [] : [{ name: denied.tool, reason: denied.message }] };
        const recorded = { ...judgedBy(refused, limits, request), ...request.recorded };
        const result = await runtime
          .interpreter()
          .fork({ turn: context, limits })
          .runRequest({ ...request, recorded, signal: context.signal, probe });
        if (result.profile !== undefined) await onProfile?.(result.profile, recorded.input.sources);
        return timedOut(record, result);
      },
    }),
  };
}

const NO_CALLS: CallScript = { known: () => null };

/** Names of a program that was judged by the tools of its policy alone. */
export const NO_NAMES: Partial<JudgedNames> & Pick<JudgedNames, 'definitions' | 'denied'> = { definitions: [], denied: [] };

/** A request that judges a program again, by the names that are recorded. */
export function judgedBy(
  { definitions, tools, denied, broken, globals = [] }: typeof NO_NAMES,
  limits: LimitValues,
  request: RunRequest,
): NonNullable<RunRequest['recorded']> {
  const input = givenInput(null, limits, request);
  const reasons = new Map(denied.map(({ name, reason }) => [name, reason]));
  const named = { ...input, globals: { ...Object.fromEntries(globals.map((name) => [name, null])), ...input.globals } };
  return { input: { ...named, sources: [...definitions, ...input.sources] }, calls: NO_CALLS, denied: reasons, tools, broken };
}

/** The input of a turn whose program was rejected, or that another program takes: as recorded, with the program of the request. */
export function givenInput(
  run: Scene['run'],
  limits: LimitValues,
  { sources: [actions = { name: 'ACTIONS', text: '' }] = [], globals = {} }: RunRequest,
): RunInput {
  const empty = { ...EMPTY_RUN, forkId: 'tried', turn: true };
  return inputOf(run ?? empty, limits, actions, globals['userdata'] ?? {});
}

/** A program that reached its time limit gets the recorded error, whatever its end in this execution. */
function timedOut(record: TurnRecord, result: RunResult): RunResult {
  if (stoppedAt(record) === null || record.error === null || result.usage.fuel !== record.usage.fuel) return result;
  return { ...result, ok: false, error: new RunError(record.error, []) };
}
