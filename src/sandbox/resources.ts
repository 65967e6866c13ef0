import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { systemTool } from './systemtools.ts';

/**
 * What the kernel allows a worker after its start: no core dump, no byte in a file, no descriptor beyond those that are open, and no
 * further process or thread. The kernel does not apply the last one to root.
 */
const RESOURCES: readonly string[] = ['--core=0:0', '--fsize=0:0', '--nofile=0:0', '--nproc=0:0'];

/**
 * Takes from a process what it needs only to load, through `prlimit` of util-linux. Afterwards it cannot open a file or a socket, nor start a
 * process, whatever code runs in it. Does nothing where the system has no `prlimit`; the kernel tells afterwards what holds.
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
