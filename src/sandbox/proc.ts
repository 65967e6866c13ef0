import { readdirSync, readFileSync } from 'node:fs';

/** What Linux tells of processes below `/proc`. */

/** The text of a file; empty when the process is gone, or where there is no such file. */
export function textIn(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

/** The names in a folder; null when the system does not show it to this user. */
export function namesIn(folder: string): readonly string[] | null {
  try {
    return readdirSync(folder);
  } catch {
    return null;
  }
}

/** The children of a process, each of whose threads has those that it started; null when the system does not tell. */
export function childrenOf(pid: number): readonly number[] | null {
  const childrenOfThread = (thread: string) => textIn(`/proc/${pid}/task/${thread}/children`).match(/\d+/g) ?? [];
  return namesIn(`/proc/${pid}/task`)?.flatMap(childrenOfThread).map(Number) ?? null;
}

/** Fields of `stat` behind the name of the process, which may contain any characters; empty when the process is gone. */
export function statOf(pid: number): readonly string[] {
  const stat = textIn(`/proc/${pid}/stat`);
  return stat === '' ? [] : stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** Most milliseconds that a start may take while it has a core. */
export const START_MS = 10_000;
/** Most milliseconds of a start, however busy the machine is. */
export const MOST_START_MS = 60_000;

/**
 * Calls `late` with the milliseconds that a start has taken, once they are too many. Time that the process waited for a core does not count: on a
 * busy machine a worker that starts is no broken one. `waitedMs` is that time. Returns a function that ends the watch.
 */
export function watchStart(waitedMs: () => number, late: (ms: number) => void): () => void {
  const began = performance.now();
  let timer: NodeJS.Timeout;
  const look = (): void => {
    const elapsed = performance.now() - began;
    const left = Math.min(START_MS - (elapsed - waitedMs()), MOST_START_MS - elapsed);
    if (left <= 0) late(Math.round(elapsed));
    else timer = setTimeout(look, left).unref();
  };
  timer = setTimeout(look, START_MS).unref();
  return () => clearTimeout(timer);
}

/** Milliseconds that the main thread of a process was ready to run and had no core; 0 where the system does not tell. */
export function waitedForCore(pid: number | null): number {
  if (pid === null || process.platform !== 'linux') return 0;
  return Number(textIn(`/proc/${pid}/schedstat`).split(' ')[1]) / 1e6 || 0;
}
