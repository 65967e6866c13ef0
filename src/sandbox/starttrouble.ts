import { readFileSync } from 'node:fs';
import { messageOf } from '../wire/unknown.ts';

/** Files that a host and its first workers need open at a time, with room. */
const ENOUGH = 256;

/** Why a worker could not be started, in words. Where a process may open too few files, the system only says that a value is invalid. */
export function startTrouble(error: unknown): string {
  const message = messageOf(error);
  const most = mostOpenFiles();
  if (most === null || most >= ENOUGH || !['EINVAL', 'EMFILE', 'ENFILE'].some((code) => message.includes(code))) return message;
  return `a worker cannot be started (${message}): this process may have ${most} files open; let it have ${ENOUGH} (ulimit -n ${ENOUGH})`;
}

/** Null where the system does not tell. */
function mostOpenFiles(): number | null {
  try {
    const line = readFileSync('/proc/self/limits', 'latin1')
      .split('\n')
      .find((each) => each.startsWith('Max open files'));
    const [soft] = (line ?? '').slice('Max open files'.length).trim().split(' ');
    return soft === undefined || soft === '' ? null : Number(soft);
  } catch {
    return null;
  }
}
