/** Whether a value of any origin is an object and no list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The message of a thrown value of any kind. Never throws. */
export function messageOf(thrown: unknown): string {
  return errorOf(thrown).message;
}

/**
 * The error that code of an application threw: itself, when it is an error whose message can be read, else an error in its place.
 * A thrown value may be anything: nothing, a symbol, a proxy that was revoked, an error whose message throws. Never throws.
 */
export function errorOf(thrown: unknown): Error {
  try {
    if (!(thrown instanceof Error)) return new Error(wordsOf(thrown));
    const { message, name } = thrown;
    if (typeof message === 'string' && message !== '') return thrown;
    return new Error(typeof name === 'string' && name !== '' ? name : 'an error without a message', { cause: thrown });
  } catch {
    return new Error('it threw a value that cannot be read');
  }
}

function wordsOf(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown;
  return `it threw a value of type ${thrown === null ? 'null' : typeof thrown}, which is not an Error`;
}

/** A value of any kind in a message. Never throws. */
export function shown(value: unknown): string {
  if (typeof value === 'function') return 'a function';
  if (typeof value !== 'object' || value === null) return String(value);
  try {
    return Array.isArray(value) ? 'a list' : 'an object';
  } catch {
    return 'an object that cannot be read';
  }
}
