/** 36 characters: hexadecimal digits and hyphens where a UUID has them; any version, either letter case (AMB-53d). */
const UUID = /^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$/;

const HASH = /^[0-9A-Fa-f]{64}$/;

/** Nothing but digits and a few signs, so that a time out of a crafted record cannot paint on the human's terminal. */
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})?$/;

/** Whether a value is a UUID as text (ARGO-2-1). */
export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && UUID.test(value);
}

/** Whether a value is a SHA-256 in hexadecimal (ARGO-2-2). */
export function isHash(value: unknown): value is string {
  return typeof value === 'string' && HASH.test(value);
}

/** Whether a text is a point in time of ISO 8601 and may be shown as it is. */
export function isTimestamp(text: string): boolean {
  return TIMESTAMP.test(text);
}

/** Whether two UUIDs are the same one: letter case is no difference, or a replay could hide behind it (AMB-53d). */
export function sameUuid(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
