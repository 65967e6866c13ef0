/**
 * V8's code caches, with which a worker starts in three quarters of the time. V8 checks of a cache only that the text has the same length, and
 * runs whatever is in it. So a host takes caches only from a worker that it has started itself and in which no program has run, and keeps
 * them in its memory. They apply to the build that they were made from, whose name stands in both files of a worker.
 */

/** The caches that a worker was told to make, in base64: of its own program, of the interpreter, of its parts. Comes before `hello`. */
export interface CompiledFrame {
  readonly t: 'compiled';
  readonly build: string;
  readonly caches: readonly string[];
}

/** Most caches of a worker: two, and one for each part of the interpreter. */
export const MOST_CACHES = 6;

/**
 * What a worker is told about caches: `none`; `make` them, before it says hello; or to take those that come as the first bytes on its
 * pipe. The last argument of its command line, as JSON.
 */
export type CacheOrder = 'none' | 'make' | { readonly build: string; readonly sizes: readonly number[] };

/** The one argument of a worker that is a thread of its host. It makes and takes no caches. */
export const THREAD = 'thread';

/** Stands before the worker's own program in its file, which is a comment there: Node gives no code cache to a module. */
export const PROGRAM_MARK = '\n/*# program\n';

/** Stands in that comment for what would end it. */
export const NO_END = '*~/';

/** Stands before the name of the build in a file of a worker; the name ends with the line. */
export const BUILD_MARK = '\n//# build ';

/** The name of the build that a file of a worker is of; empty for a file without one. */
export function buildOf(text: string): string {
  const at = text.lastIndexOf(BUILD_MARK);
  return at < 0 ? '' : text.slice(at + BUILD_MARK.length).trimEnd();
}
