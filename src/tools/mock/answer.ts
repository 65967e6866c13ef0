import { utf8Length } from '../../wire/bytes.ts';
import { encode } from '../../wire/codec.ts';
import { NS_CODES } from '../../wire/codes.ts';
import { MAX_DEPTH } from '../../wire/decoder.ts';
import { isList } from '../../wire/tagged.ts';
import { isOrderedMap, type OrderedMap, type OrderedValue, ValueError } from '../../wire/values.ts';
import { typeName } from '../define/argtypes.ts';
import type { ToolRuntime } from '../define/definition.ts';
import { ToolError } from '../errors.ts';
import type { PendingOptions } from '../pending.ts';
import { type Difference, describeCall, differences, nearestCase, type Wants } from './match.ts';
import { type Scope, scopeOf, type Template } from './template.ts';

/** The answer of a mock when a case applies. */
export interface Answer {
  readonly outcome:
    | { readonly returns: Template }
    | { readonly throws: { readonly code: number; readonly message: Template } }
    /** The answer comes later. */
    | { readonly pending: PendingOptions };
  /** Changes of the state, in order, computed from the state before the call. */
  readonly set: readonly Assignment[];
  /** Milliseconds; Infinity for a mock that never answers. */
  readonly delayMs: number;
}

/** A change of the state at a path of keys. */
export interface Assignment {
  readonly at: readonly Template[];
  readonly to: Template;
}

/** A case of a tools file: the calls that it answers, and its answers in order. The last answer repeats. */
export interface MockCase {
  /** By the name of an argument. An argument that is not named may be anything. */
  readonly when: Wants;
  /** By key of the state. */
  readonly inState: Wants;
  readonly answers: readonly [Answer, ...Answer[]];
  /** The number of calls that the case answers. Afterwards it is ignored. */
  readonly times: number;
}

/** The state of the mocks of one file, for one root interpreter and session. */
export interface World {
  state: OrderedMap;
  readonly used: Map<MockCase, number>;
}

export interface MockCases {
  /** The name as it is in the file. */
  readonly name: string;
  readonly cases: readonly MockCase[];
  /** The answer to calls that no case expects; null makes them an error. */
  readonly otherwise: Answer | null;
}

/** Answers one call. Throws {@link ToolError}: the error of a case, or 21 for a call that no case expects. */
export async function answerCall(
  { name, cases, otherwise }: MockCases,
  args: OrderedMap,
  world: World,
  runtime: ToolRuntime,
): Promise<OrderedValue> {
  const scope = scopeOf(args, world.state);
  const exhausted = cases.map((each) => (world.used.get(each) ?? 0) >= each.times);
  const found = cases.map((each) => differencesOf(each, scope));
  const hit = cases.find((each, index) => exhausted[index] === false && differencesOf(each, scope).next().done === true);
  if (hit === undefined && otherwise === null)
    throw new ToolError(
      NS_CODES.ToolExecutionFailed,
      `the mock ${name} expects no call with ${describeCall(args)}; ${nearestCase(found, exhausted)}`,
    );
  // The answer is chosen before the mock waits: overlapping calls each take their own.
  const answer = hit === undefined ? otherwise : take(hit, world);
  return answer === null ? null : give(answer, scope, world, runtime);
}

/** The places where a call does not meet a case. */
function* differencesOf({ when, inState }: MockCase, scope: Scope): Generator<Difference> {
  yield* differences(when, scope.args, scope);
  for (const each of differences(inState, scope.state, scope)) yield { ...each, place: `state.${each.place}` };
}

function take(hit: MockCase, { used }: World): Answer {
  const count = used.get(hit) ?? 0;
  used.set(hit, count + 1);
  return hit.answers[Math.min(count, hit.answers.length - 1)] ?? hit.answers[0];
}

async function give({ outcome, set, delayMs }: Answer, scope: Scope, world: World, runtime: ToolRuntime): Promise<OrderedValue> {
  const returns = 'returns' in outcome ? outcome.returns(scope) : null;
  const message = 'throws' in outcome ? outcome.throws.message(scope) : null;
  const changes = set.map(({ at, to }) => ({ at: at.map((step) => step(scope)), to: to(scope) }));
  if (changes.length > 0) {
    const state = changes.reduce((before, { at, to }) => changed(before, at, to), world.state);
    mustBeHeld(state);
    world.state = state;
  }
  if (delayMs > 0) await pause(delayMs, runtime.signal);
  if ('returns' in outcome) return returns;
  if ('pending' in outcome) return runtime.pending(outcome.pending);
  throw new ToolError(outcome.throws.code, typeof message === 'string' ? message : JSON.stringify(message));
}

/** Most bytes of a file's state as JSON. Without a bound, a script could grow the state with every call. */
const STATE_BYTES = 4 * 1024 * 1024;

function mustBeHeld(state: OrderedMap): void {
  const { bytes, levels } = extentOf(state);
  if (bytes <= STATE_BYTES && levels <= MAX_DEPTH) return;
  try {
    encode(state, STATE_BYTES);
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    throw new ToolError(NS_CODES.ResourceExhaustion, `the state of the mocks cannot be set: ${error.message}`);
  }
}

/** A copy of the state with another value at a path. Values that were read before do not change. */
function changed(map: OrderedMap, [key = null, ...rest]: readonly OrderedValue[], to: OrderedValue): OrderedMap {
  if (typeof key !== 'string' && typeof key !== 'number')
    throw new ToolError(NS_CODES.ToolExecutionFailed, `the mock sets a key of its state that is a ${typeName(key)}`);
  const inner = map.get(String(key)) ?? null;
  const next = rest.length === 0 ? to : changed(isOrderedMap(inner) ? inner : new Map(), rest, to);
  return new Map(map).set(String(key), next);
}

/** Resolves after the time, rejects with the signal's reason when that is aborted first. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const timer = ms === Number.POSITIVE_INFINITY ? undefined : setTimeout(done, ms);
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    function done(): void {
      signal.removeEventListener('abort', abort);
      resolve();
    }
    signal.addEventListener('abort', abort, { once: true });
  });
}

/** How large a value is at most. */
interface Extent {
  /** Bytes of JSON. */
  readonly bytes: number;
  /** Lists and maps within each other. */
  readonly levels: number;
}

/** Values do not change, so a part that a value shares with earlier ones, or has several times, is measured once. */
const known = new WeakMap<object, Extent>();

/** Measures a value without writing its parts again that were measured before. */
function extentOf(value: OrderedValue): Extent {
  if (!isList(value) && !isOrderedMap(value)) return { bytes: utf8Length(JSON.stringify(encode(value))), levels: 0 };
  const found = known.get(value);
  if (found !== undefined) return found;
  let [bytes, levels] = [2, 0];
  const add = (item: OrderedValue, own: number): void => {
    const inner = extentOf(item);
    bytes += inner.bytes + own;
    levels = Math.max(levels, inner.levels);
  };
  if (isList(value)) for (const item of value) add(item, 1);
  // A colon, a comma, and a `$` that may come before the key.
  else for (const [key, item] of value) add(item, utf8Length(JSON.stringify(key)) + 3);
  const extent = { bytes, levels: levels + 1 };
  known.set(value, extent);
  return extent;
}
