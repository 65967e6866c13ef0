import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { systemTool } from './systemtools.ts';

/** What the kernel allows a worker after its start: no core dump, no byte in a file, and no descriptor beyond those that are open. */
const RESOURCES: readonly string[] = ['--core=0:0', '--fsize=0:0', '--nofile=0:0'];

/**
 * Takes from a process what it needs only to load, through `prlimit` of util-linux. Afterwards it cannot open a file or a socket,
 * whatever code runs in it. Resolves with false where the system has no `prlimit` or the process does not exist any more.
 */
export async function limitResources(pid: number): Promise<boolean> {
  const prlimit = process.platform === 'linux' ? systemTool('prlimit') : null;
  if (prlimit === null) return false;
  try {
    const child = spawn(prlimit, ['--pid', String(pid), ...RESOURCES], { env: {}, cwd: '/', stdio: 'ignore' });
    const [code] = await once(child, 'exit');
    return code === 0;
  } catch {
    return false; // The system could not start it.
  }
}
