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
