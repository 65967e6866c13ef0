import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { systemTool } from './systemtools.ts';

/**
 * Limits of a worker after its start: no core dump, no byte written to a file, and no descriptor beyond the open ones. There is no limit
 * on processes, because it would count threads, too: isolated-vm starts a thread for a timer that is due before those it has, and aborts
 * when there is none. New processes are refused by the filter of system calls (`seccomp.ts`).
 */
const RESOURCES: readonly string[] = ['--core=0:0', '--fsize=0:0', '--nofile=0:0'];

/**
 * Lowers the resource limits of a process that has loaded, through `prlimit` of util-linux. Afterwards it cannot open a file or a socket,
 * whatever code runs in it. Does nothing without `prlimit`; {@link confinementOf} then reports the lack.
 */
export async function limitResources(pid: number): Promise<void> {
  const prlimit = process.platform === 'linux' ? systemTool('prlimit') : null;
  if (prlimit === null) return;
  try {
    const child = spawn(prlimit, ['--pid', String(pid), ...RESOURCES], { env: {}, cwd: '/', stdio: 'ignore' });
    await once(child, 'exit');
  } catch {
    // The system could not start it.
  }
}
