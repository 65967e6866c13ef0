import type { ChildProcess } from 'node:child_process';

/** Children of this process that are to end with it, however it exits. */
const children = new Set<ChildProcess>();

/**
 * Sees to it that a child does not outlive this process. A child notices by itself that its pipe is closed, but not while it
 * is wedged in native code. Returns what to call when the child is gone.
 */
export function adopt(child: ChildProcess): () => void {
  if (children.size === 0) process.on('exit', killAll);
  children.add(child);
  return () => {
    children.delete(child);
    if (children.size === 0) process.off('exit', killAll);
  };
}

function killAll(): void {
  for (const child of children) child.kill('SIGKILL');
}
