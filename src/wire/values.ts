import { NeuroScriptError } from './errors.ts';
import { mapEntries, mapFrom } from './maporder.ts';

/**
 * Script values as the host sees them. What JavaScript has is used as it is; the rest are the four classes below.
 * Maps are objects without a prototype, so that no key of a script is ever mistaken for a member of `Object`.
 */
export type Value =
  | null
  | boolean
  | number
  | string
  | Uint8Array
  | TimeDate
  | Fuzzy
  | Handle
  | ErrorValue
  | readonly Value[]
  | ValueMap;

/**
 * A script's map. JavaScript puts keys that are whole numbers first; `mapEntries` gives all in the order in which they were set.
 */
export interface ValueMap {
  readonly [key: string]: Value;
}

/** A JavaScript value that cannot become a script's: it has no counterpart there, or does not fit. */
export class ValueError extends NeuroScriptError {
  static readonly code = 'ERR_VALUE';
  constructor(message: string, options?: ErrorOptions) {
    super(ValueError.code, message, options);
  }
}

/** A value that is larger than what may cross the boundary at once. */
export class TooLargeError extends ValueError {}

const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.\d{1,9})?([Zz]|[+-](\d\d):(\d\d))$/;
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** A point in time with up to nanoseconds, kept as the RFC 3339 text that a script sees. */
export class TimeDate {
  /** RFC 3339, for instance `2025-10-15T08:00:00.25Z`. */
  readonly text: string;

  /** Throws {@link ValueError} (`ERR_VALUE`) when the text is not RFC 3339. */
  constructor(text: string) {
    if (!isRfc3339(text)) throw new ValueError(`'${text.slice(0, 40)}' is not an RFC 3339 time such as 2025-10-15T08:00:00Z`);
    this.text = text;
    Object.freeze(this);
  }

  /** Throws {@link ValueError} (`ERR_VALUE`) for an invalid date and for years outside 0–9999. */
  static from(date: Date): TimeDate {
    const millis = date.getTime();
    if (Number.isNaN(millis)) throw new ValueError('an invalid Date has no time');
    return new TimeDate(date.toISOString().replace(/\.?0*Z$/, 'Z'));
  }

  /** To the millisecond; what is finer is cut off. */
  toDate(): Date {
    return new Date(this.text.toUpperCase().replace(/(\.\d{3})\d+/, '$1'));
  }

  toString(): string {
    return this.text;
  }
}

function isRfc3339(text: string): boolean {
  const parts = RFC3339.exec(text);
  if (parts === null) return false;
  const part = (index: number): number => Number(parts[index] ?? 0);
  const year = part(1);
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = part(2) === 2 && leap ? 29 : (DAYS[part(2) - 1] ?? 0);
  const offset = part(8) <= 23 && part(9) <= 59;
  return part(3) >= 1 && part(3) <= days && part(4) <= 23 && part(5) <= 59 && part(6) <= 59 && offset;
}

/** A degree of truth. Only tools make one; a number outside 0…1 is put to the nearer end (language.md 3.1). */
export class Fuzzy {
  readonly degree: number;

  /** Throws {@link ValueError} (`ERR_VALUE`) for NaN. */
  constructor(degree: number) {
    if (Number.isNaN(degree)) throw new ValueError('NaN is no degree of truth');
    this.degree = Math.min(1, Math.max(0, degree));
    Object.freeze(this);
  }
}

/** An opaque reference of a tool to something of the host's. Scripts can pass it on and compare it, nothing else. */
export class Handle {
  readonly kind: string;
  /** Tells handles of one kind apart; empty when the tool needs but one. A script never sees it. */
  readonly id: string;

  /** Throws {@link ValueError} (`ERR_VALUE`) when the kind is empty. */
  constructor(kind: string, id = '') {
    if (kind === '') throw new ValueError('a handle needs a kind');
    this.kind = kind;
    this.id = id;
    Object.freeze(this);
  }
}

/** An error as a value, to be returned and looked at; raising one is what {@link NeuroScriptError} and its family do. */
export class ErrorValue {
  /** Usually `code`, `message` and `details`. */
  readonly fields: ValueMap;

  constructor(fields: ValueMap) {
    this.fields = Object.freeze(mapFrom(mapEntries(fields)));
    Object.freeze(this);
  }

  /** The message, or empty text. */
  get message(): string {
    const message = this.fields['message'];
    return typeof message === 'string' ? message : '';
  }
}
