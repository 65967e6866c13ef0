/** How to end each child of this process that is to end with it, however it exits. */
const children = new Set<() => void>();

/**
 * Sees to it that a child does not outlive this process. A child notices by itself that its pipe is closed, but not while it
 * is wedged in native code. `kill` ends it at once. Returns what to call when the child is gone.
 */
export function adopt(kill: () => void): () => void {
  if (children.size === 0) process.on('exit', killAll);
  children.add(kill);
  return () => {
    children.delete(kill);
    if (children.size === 0) process.off('exit', killAll);
  };
}

function killAll(): void {
  for (const kill of children) kill();
}
