/**
 * The one door to Node's own modules. They are asked for at run time, not imported, so that everything in this folder
 * loads where there is no Node (browsers, other runtimes) and simply finds the door closed.
 */
export function nodeCrypto(): typeof import('node:crypto') | null {
  return typeof process === 'undefined' ? null : (process.getBuiltinModule?.('node:crypto') ?? null);
}

/** Node's file system, or null. */
export function nodeFs(): typeof import('node:fs') | null {
  return typeof process === 'undefined' ? null : (process.getBuiltinModule?.('node:fs') ?? null);
}
