import { readFileSync, readlinkSync } from 'node:fs';
import { messageOf } from '../wire/unknown.ts';

/**
 * A restriction by the operating system: `namespaces` of the worker's own, no `rights` of root and no way to get them, a filter of system
 * `calls`, and limits on the `resources` that a worker needs only to load.
 */
export type Hold = 'namespaces' | 'rights' | 'calls' | 'resources';

/** Everything that `launcher: 'required'` demands. */
export const ALL_HOLDS: readonly Hold[] = ['namespaces', 'rights', 'calls', 'resources'];

/** The restrictions that a worker lacks according to the kernel, each with a reason. */
export type Confinement = ReadonlyMap<Hold, string>;

const NAMESPACES = ['pid', 'net', 'user', 'mnt', 'ipc', 'uts'] as const;

/** Lines of `/proc/PID/status` of a process without rights. */
const RIGHTLESS: readonly RegExp[] = [/^NoNewPrivs:\t1$/m, /^CapEff:\t0+$/m, /^CapPrm:\t0+$/m];

/** Lines of `/proc/PID/limits` of a process that cannot open anything, fill a file or dump core. */
const LIMITED: readonly RegExp[] = [/^Max open files +0 +0 /m, /^Max file size +0 +0 /m, /^Max core file size +0 +0 /m];

/**
 * Asks the kernel how a process is confined. Launcher and worker are not trusted: a launcher may be another program of the same name, or
 * ignore its arguments.
 */
export function confinementOf(pid: number | null): Confinement {
  if (pid === null) return without('the kernel does not show the worker below its launcher');
  try {
    const file = (name: string): string => readFileSync(`/proc/${pid}/${name}`, 'latin1');
    const status = file('status');
    const limits = file('limits');
    const lacks = new Map<Hold, string>();
    const shared = NAMESPACES.filter((name) => readlinkSync(`/proc/${pid}/ns/${name}`) === readlinkSync(`/proc/self/ns/${name}`));
    if (shared.length > 0) lacks.set('namespaces', `it is in the host's namespaces: ${shared.join(', ')}`);
    const rights = RIGHTLESS.filter((line) => !line.test(status)).map(({ source }) => source.slice(1, source.indexOf(':')));
    if (rights.length > 0) lacks.set('rights', `the kernel does not report that it has no rights: ${rights.join(', ')}`);
    if (filtersOf(status) <= filtersOf(readFileSync('/proc/self/status', 'latin1')))
      lacks.set('calls', 'it has no filter of system calls of its own');
    if (!LIMITED.every((line) => line.test(limits))) lacks.set('resources', 'it can open files');
    return lacks;
  } catch (error) {
    return without(`the kernel does not tell how it is confined: ${messageOf(error)}`);
  }
}

function without(reason: string): Confinement {
  return new Map(ALL_HOLDS.map((hold) => [hold, reason]));
}

/**
 * The number of system call filters of a process. A container's filter applies to the host, too. Kernels before 5.9 tell only whether
 * there is one.
 */
function filtersOf(status: string): number {
  const count = /^Seccomp_filters:\t(\d+)$/m.exec(status)?.[1];
  return count === undefined ? Number(/^Seccomp:\t2$/m.test(status)) : Number(count);
}
