import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { childrenOf, statOf } from './proc.ts';

const endings = new Set<() => void>();

/**
 * Calls `kill` when this process exits, however it exits. A child process notices by itself that its pipe is closed, but not
 * while it runs native code. Call the returned function when the child is gone.
 */
export function killOnExit(kill: () => void): () => void {
  if (endings.size === 0) process.on('exit', killAll);
  endings.add(kill);
  return () => {
    endings.delete(kill);
    if (endings.size === 0) process.off('exit', killAll);
  };
}

function killAll(): void {
  for (const kill of endings) kill();
}

/** Reads of the state of a process that was told to stop. It stops within microseconds unless the machine is very busy. */
const MAX_READS = 200;

/**
 * Kills a launcher and all processes that it has started (Linux). If only the launcher were killed while it sets up a namespace, its
 * child would wait for it forever. The launcher is stopped first, so that it cannot start another process meanwhile.
 */
export function killTree(pid: number): void {
  sendSignal(pid, 'SIGSTOP');
  for (let reads = 0; reads < MAX_READS && !isStopped(pid); reads++);
  for (const child of childrenOf(pid) ?? []) killTree(child);
  sendSignal(pid, 'SIGKILL');
}

/** Signals a process that was started in a group of its own, with all processes of the group. False when there is no such group. */
export function killGroup(pid: number, signal: NodeJS.Signals = 'SIGKILL'): boolean {
  try {
    return process.kill(-pid, signal);
  } catch {
    return false;
  }
}

/** Signals a child with all processes of its group; the child alone where the system has no groups. Does nothing when all have ended. */
export function signalChild(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): void {
  if (child.pid !== undefined && !killGroup(child.pid, signal)) child.kill(signal);
}

/** Whether a process has stopped, has ended, or does not exist. */
function isStopped(pid: number): boolean {
  const [state] = statOf(pid);
  return state === undefined || /^[TtZX]/.test(state);
}

/** Sends a signal to a process, which may have ended. */
export function sendSignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    // ESRCH: the process has ended already.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Describes how a process ended. The exit code of a launcher is 128 plus the number of the signal that ended the launched process. */
export function endingOf(code: number | null, signal: string | null): string {
  const name = signal ?? Object.entries(constants.signals).find(([, number]) => 128 + number === code)?.[0];
  return name === undefined ? `exit code ${code}` : `signal ${name}`;
}
