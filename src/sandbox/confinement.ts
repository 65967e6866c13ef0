import { readFileSync, readlinkSync } from 'node:fs';

/** The namespaces that a confined process does not share with the host. */
const NAMESPACES = ['pid', 'net', 'user', 'mnt', 'ipc', 'uts'] as const;

/** Lines of `/proc/PID/status` of a confined process: no new rights, no capabilities. */
const STATUS: readonly RegExp[] = [/^NoNewPrivs:\t1$/m, /^CapEff:\t0+$/m, /^CapPrm:\t0+$/m];
/** Its line with a filter of system calls. */
const FILTERED = /^Seccomp:\t2$/m;

/**
 * What the operating system does not confine of a process, as the kernel reports it; null when it confines everything. With
 * `filtered`, that includes the system calls. A launcher is not believed: it may be another program of the same name, or ignore its
 * arguments.
 */
export function confinementLack(pid: number | null, filtered: boolean): string | null {
  if (pid === null) return 'the kernel does not show the worker below its launcher';
  try {
    const shared = NAMESPACES.filter((name) => readlinkSync(`/proc/${pid}/ns/${name}`) === readlinkSync(`/proc/self/ns/${name}`));
    if (shared.length > 0) return `the launcher left the worker in the host's namespaces: ${shared.join(', ')}`;
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    const open = [...STATUS, ...(filtered ? [FILTERED] : [])]
      .filter((line) => !line.test(status))
      .map(({ source }) => source.slice(1, source.indexOf(':')));
    return open.length > 0 ? `the launcher left the worker unconfined by ${open.join(', ')}` : null;
  } catch (error) {
    return `the kernel does not tell how the worker is confined: ${error instanceof Error ? error.message : String(error)}`;
  }
}
