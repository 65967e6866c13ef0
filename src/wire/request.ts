import { decode } from './codec.ts';
import { usageError } from './errorinfo.ts';
import { type ErrorInfo, NeuroScriptError } from './errors.ts';
import { LIMITS, type LimitKey, type LimitValues } from './limits.ts';
import { variableProblem } from './options.ts';
import type { EventInput, TaggedJson } from './protocol.ts';
import type { RequestId } from './result.ts';
import { ValueError } from './values.ts';

/** One line of `run --jsonl` (`schemas/request.schema.json`), checked, with defaults for absent fields. */
export interface RequestLine {
  /** What the result line repeats. */
  readonly id: RequestId;
  /** Command blocks; or definitions, with `call`. */
  readonly src: string;
  /** Definitions, loaded first. A command block in them is `ERR_USAGE`, and nothing runs. */
  readonly lib: readonly string[];
  /** A procedure to call after loading, with its arguments; null for none. */
  readonly call: { readonly name: string; readonly args: readonly TaggedJson[] } | null;
  /** Values of globals by name, as tagged JSON. */
  readonly globals: Readonly<Record<string, TaggedJson>>;
  /** Events to deliver, in order. */
  readonly events: readonly EventInput[];
  /** The limits that the request tightens; those of the pool belong to the runtime. */
  readonly limits: Partial<LimitValues>;
}

/** A request, or the reason why the line is not one. The id is that of the line, if it has one. */
export type RequestOutcome =
  /** The request. */
  | { readonly ok: true; readonly request: RequestLine }
  /** Why the line is no request. */
  | { readonly ok: false; readonly id: RequestId; readonly error: ErrorInfo };

const KEYS = ['id', 'src', 'lib', 'call', 'args', 'globals', 'events', 'limits'];

class Refused extends NeuroScriptError {
  constructor(message: string) {
    super('ERR_USAGE', message);
  }
}

/**
 * Reads one request. An unknown key, a value of the wrong type, an unknown limit and a malformed tag are `usage` errors
 * (`ERR_USAGE`). The runtime checks the ranges of limits.
 */
export function requestFromJson(line: string): RequestOutcome {
  let id: RequestId = null;
  try {
    const value = record('the request', parse(line), null);
    id = idOf(value['id']);
    record('the request', value, KEYS);
    return { ok: true, request: read(id, value) };
  } catch (error) {
    if (error instanceof Refused || error instanceof ValueError) return { ok: false, id, error: usageError(error.message) };
    throw error;
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new Refused(`the line is not JSON: ${error instanceof Error ? error.message : 'unreadable'}`);
  }
}

function read(id: RequestId, value: Readonly<Record<string, unknown>>): RequestLine {
  const { lib, call, args } = value;
  if (args !== undefined && call === undefined) throw new Refused("'args' needs 'call', the procedure they are for");
  const given = args === undefined ? [] : list("'args'", args);
  return {
    id,
    src: text("'src'", value['src']),
    lib: lib === undefined ? [] : libraries(lib),
    call:
      call === undefined ? null : { name: text("'call'", call), args: given.map((arg, index) => tagged(`args[${index}]`, arg)) },
    globals: globals(value['globals'] ?? {}),
    events: list("'events'", value['events'] ?? []).map((event, index) => eventOf(`events[${index}]`, event)),
    limits: limits(value['limits'] ?? {}),
  };
}

function idOf(value: unknown): RequestId {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string') return value;
  // 1e400 is JSON but parses to infinity, which JSON cannot write: the answer would lack its id.
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw new Refused(`'id' must be a text or a number, got ${typeof value === 'number' ? value : kind(value)}`);
}

function libraries(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (!Array.isArray(value)) throw new Refused(`'lib' must be a text or a list of texts, got ${kind(value)}`);
  return value.map((item: unknown, index) => text(`lib[${index}]`, item));
}

function globals(value: unknown): Readonly<Record<string, TaggedJson>> {
  const found: Record<string, TaggedJson> = Object.create(null);
  for (const [name, item] of Object.entries(record("'globals'", value, null))) {
    const problem = variableProblem(name);
    if (problem !== null) throw new Refused(`'globals': ${problem}`);
    found[name] = tagged(`globals.${name}`, item);
  }
  return found;
}

function eventOf(place: string, value: unknown): EventInput {
  const event = record(place, value, ['name', 'source', 'payload', 'id', 'ts']);
  const { id, ts } = event;
  if (ts !== undefined && !(typeof ts === 'number' && ts >= 0))
    throw new Refused(`'${place}.ts' must be Unix nanoseconds, a number from 0, got ${kind(ts)}`);
  return {
    name: text(`${place}.name`, event['name']),
    source: event['source'] === undefined ? '' : text(`${place}.source`, event['source']),
    payload: tagged(`${place}.payload`, event['payload'] ?? null),
    id: id === undefined ? undefined : text(`${place}.id`, id),
    ts,
  };
}

function limits(value: unknown): RequestLine['limits'] {
  const given = record(
    "'limits'",
    value,
    LIMITS.map(({ key }) => key),
  );
  const found: { [Key in LimitKey]?: number } = {};
  for (const { key } of LIMITS) {
    const limit = given[key];
    if (limit === undefined) continue;
    if (typeof limit !== 'number') throw new Refused(`limits.${key} must be a number, got ${kind(limit)}`);
    found[key] = limit;
  }
  return found;
}

/** Checks the tags of a value, which is JSON already. */
function tagged(place: string, value: unknown): TaggedJson {
  const json = value as TaggedJson;
  try {
    decode(json);
    return json;
  } catch (error) {
    if (error instanceof ValueError) throw new Refused(`${place}: ${error.message}`);
    throw error;
  }
}

function record(place: string, value: unknown, keys: readonly string[] | null): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Refused(`${place} must be an object, got ${kind(value)}`);
  for (const key of Object.keys(value))
    if (keys !== null && !keys.includes(key)) throw new Refused(`unknown key '${key}' in ${place}; known are ${keys.join(', ')}`);
  return { ...value };
}

function list(place: string, value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new Refused(`${place} must be a list, got ${kind(value)}`);
}

function text(place: string, value: unknown): string {
  if (typeof value === 'string') return value;
  throw new Refused(value === undefined ? `${place} is missing` : `${place} must be a text, got ${kind(value)}`);
}

function kind(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
