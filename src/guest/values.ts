import { VALUE_BYTES } from '../wire/costs.ts';
import type { Held } from './flow/origins.ts';

/**
 * A value of a script. Strings, numbers, booleans and nil are JavaScript's own; all others are one of the classes below.
 *
 * Lists and maps have value semantics, but are copied late. A container that was ever held by two places has `shared` set for good
 * and is copied before a write; any other is written in place. Storing a container in a second place requires {@link share}.
 */
export type Value = null | boolean | number | string | List | Dict | Bytes | Time | Fuzzy | Fault | Handle;

export type Container = List | Dict;

/** The names that `typeof` returns. */
export type TypeName =
  | 'string'
  | 'number'
  | 'boolean'
  | 'nil'
  | 'list'
  | 'map'
  | 'bytes'
  | 'timedate'
  | 'fuzzy'
  | 'error'
  | 'handle';

/** A list. `items` is dense. */
export class List {
  shared = false;
  /** Number of the latest census that visited this list. Each counts once, however many places hold it. */
  census = 0;
  /** In a census: the container to be visited after this one. It is kept here, so that a census allocates nothing. */
  later: Container | null = null;
  /** Bytes with all that is in it. `measure.ts` keeps it and `depth` up to date. */
  bytes: number = VALUE_BYTES.list.amount;
  depth = 1;
  /** The labels of the items; only in a run under flow rules, and only where there are any. */
  declare held?: Held;
  items: Value[];
  constructor(items: Value[]) {
    this.items = items;
  }
}

/** A map: text keys in insertion order. */
export class Dict {
  shared = false;
  census = 0;
  later: Container | null = null;
  bytes: number = VALUE_BYTES.map.amount;
  depth = 1;
  /** As for a list. */
  declare held?: Held;
  entries: Map<string, Value>;
  constructor(entries: Map<string, Value>) {
    this.entries = entries;
  }
}

// V8 takes a field that was never written again for a constant, and throws the code that relies on it away at the first write.
for (const each of [new List([]), new Dict(new Map())] satisfies Container[]) {
  each.census = 1;
  each.later = each;
  each.shared = true;
  each.depth = 2;
}

/** Raw bytes, kept as the canonical base64 in which they came: scripts can only pass them on and compare them. */
export class Bytes {
  shared = true;
  readonly base64: string;
  readonly length: number;
  constructor(base64: string) {
    this.base64 = base64;
    const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
    this.length = (base64.length / 4) * 3 - padding;
  }
}

/** A point in time: its RFC 3339 text, and seconds and nanoseconds since 1970 for comparing. */
export class Time {
  shared = true;
  readonly text: string;
  readonly seconds: number;
  readonly nanos: number;
  constructor(text: string, seconds: number, nanos: number) {
    this.text = text;
    this.seconds = seconds;
    this.nanos = nanos;
  }
}

/** A degree of truth, 0…1. */
export class Fuzzy {
  shared = true;
  readonly degree: number;
  constructor(degree: number) {
    this.degree = Math.min(1, Math.max(0, degree));
  }
}

/** An error as a value, made by tools. It is never truthy and usually has `code`, `message` and `details`. */
export class Fault {
  shared = true;
  readonly fields: Dict;
  constructor(fields: Dict) {
    this.fields = fields;
    fields.shared = true;
  }
}

/** An opaque reference made by a tool. Scripts never see its id. */
export class Handle {
  shared = true;
  readonly kind: string;
  readonly id: string;
  constructor(kind: string, id: string) {
    this.kind = kind;
    this.id = id;
  }
}

export function typeName(value: Value): TypeName {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    default:
      if (value === null) return 'nil';
      if (value instanceof List) return 'list';
      if (value instanceof Dict) return 'map';
      if (value instanceof Bytes) return 'bytes';
      if (value instanceof Time) return 'timedate';
      if (value instanceof Fuzzy) return 'fuzzy';
      if (value instanceof Fault) return 'error';
      return 'handle';
  }
}

/** Seconds of 0001-01-01T00:00:00Z, the zero time, which is not truthy. */
export const ZERO_TIME_SECONDS = -62_135_596_800;

export function truthy(value: Value): boolean {
  switch (typeof value) {
    case 'boolean':
      return value;
    case 'string':
      return value !== '';
    case 'number':
      return value !== 0;
    default:
      if (value === null) return false;
      if (value instanceof List) return value.items.length > 0;
      if (value instanceof Dict) return value.entries.size > 0;
      if (value instanceof Bytes) return value.length > 0;
      if (value instanceof Time) return value.seconds !== ZERO_TIME_SECONDS || value.nanos !== 0;
      if (value instanceof Fuzzy) return value.degree > 0.5;
      if (value instanceof Fault) return false;
      return true;
  }
}

/** Whether a value has elements that can be read and written. */
export function isContainer(value: Value | undefined): value is Container {
  return value instanceof List || value instanceof Dict;
}

/** Marks a value that is stored in a second place: from now on it is copied before a write. */
export function share(value: Value): Value {
  if (typeof value === 'object' && value !== null) value.shared = true;
  return value;
}
