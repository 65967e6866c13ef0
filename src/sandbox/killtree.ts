import { readFileSync } from 'node:fs';

/** Looks at a process that was told to stop; it does so within microseconds unless the machine is very busy. */
const MAX_LOOKS = 200;

/**
 * Ends a launcher together with all it has started (Linux). Killed alone while it sets up a namespace, it would leave a
 * child behind that waits for it for ever. It is stopped first, so that it cannot start another one meanwhile.
 */
export function killTree(pid: number): void {
  signal(pid, 'SIGSTOP');
  for (let look = 0; look < MAX_LOOKS && !isStopped(pid); look++);
  for (const child of childrenOf(pid)) killTree(child);
  signal(pid, 'SIGKILL');
}

function childrenOf(pid: number): number[] {
  return read(`/proc/${pid}/task/${pid}/children`).split(' ').map(Number).filter(Boolean);
}

/** Stopped, ended, or not there at all. */
function isStopped(pid: number): boolean {
  const stat = read(`/proc/${pid}/stat`);
  return stat === '' || /^[TtZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    // It has ended meanwhile, which is what we want.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
