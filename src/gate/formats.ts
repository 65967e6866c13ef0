/** A UUID of any version, in either letter case. */
const UUID = /^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$/;

const HASH = /^[0-9A-Fa-f]{64}$/;

/** Digits and a few punctuation marks only, so that a crafted record cannot send control sequences to a terminal. */
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})?$/;

export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && UUID.test(value);
}

export function isHash(value: unknown): value is string {
  return typeof value === 'string' && HASH.test(value);
}

/** Whether a text is an ISO 8601 timestamp, which is safe to show. */
export function isTimestamp(text: string): boolean {
  return TIMESTAMP.test(text);
}

/** Compares two UUIDs. Letter case is ignored, because otherwise it would allow a replay. */
export function sameUuid(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
