import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { systemTool } from './systemtools.ts';

/**
 * Limits of a worker after its start: no core dump, no byte written to a file, no descriptor beyond the open ones, and no further process
 * or thread. The kernel does not apply the last one to root.
 */
const RESOURCES: readonly string[] = ['--core=0:0', '--fsize=0:0', '--nofile=0:0', '--nproc=0:0'];

/**
 * Lowers the resource limits of a process that has loaded, through `prlimit` of util-linux. Afterwards it cannot open a file or a socket,
 * nor start a process, whatever code runs in it. Does nothing without `prlimit`; {@link confinementOf} then reports the lack.
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
