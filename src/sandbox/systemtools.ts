import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Folders of programs that belong to the system. `PATH` is not read: `npx` puts the folder of the project's packages into it. */
const FOLDERS: readonly string[] = ['/usr/bin', '/bin', '/usr/local/bin', '/run/current-system/sw/bin'];

/** Write permission of the group and of everyone else. */
const WRITABLE_BY_OTHERS = 0o022;

/** The path of a program of the system that only root can change; null when there is none. */
export function systemTool(name: string, folders = FOLDERS): string | null {
  for (const folder of folders) {
    const path = trustedFile(join(folder, name));
    if (path !== null) return path;
  }
  return null;
}

function trustedFile(path: string): string | null {
  try {
    const file = realpathSync(path);
    accessSync(file, constants.X_OK);
    return statSync(file).isFile() && onlyRootChanges(file) ? file : null;
  } catch {
    return null; // There is no such file, or it cannot be executed.
  }
}

/** Whether root owns a file and every folder above it, and nobody else may write to them. */
function onlyRootChanges(path: string): boolean {
  const { uid, mode } = statSync(path);
  if (uid !== 0 || (mode & WRITABLE_BY_OTHERS) !== 0) return false;
  const parent = dirname(path);
  return parent === path || onlyRootChanges(parent);
}

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
