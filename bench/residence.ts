import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** The process that runs scripts: the youngest descendant of this one. Works on Linux only. */
export function workerPid(): number {
  const descend = (pid: number): number => {
    const youngest = childrenOf(pid).at(-1);
    return youngest === undefined ? pid : descend(youngest);
  };
  return descend(process.pid);
}

/** Every process below this one, parents before children. Works on Linux only. */
export function descendants(pid: number = process.pid): readonly number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendants(child)]);
}

function childrenOf(pid: number): readonly number[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
      .flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' '))
      .filter((child) => child !== '')
      .map(Number);
  } catch {
    // It has ended meanwhile.
    return [];
  }
}

/** Resident bytes of a process now, and the peak since {@link forgetPeak}. */
export function residence(pid: number): { readonly now: number; readonly peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024;
  return { now: field('VmRSS'), peak: field('VmHWM') };
}

/** Resets the system's record of a process's peak. */
export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

/** Linux counts CPU time in hundredths of a second, whatever its clock. */
const TICK_MS = 10;

/** Fields of `stat` behind the name of a program, which stands in brackets: user and system time of a process, and of its children that have ended. */
const [OWN, ENDED] = [
  [11, 12],
  [13, 14],
];

/** CPU milliseconds that processes and all below them have used so far, with `ended` those that have ended too; null where the system does not tell. */
export function usedCpuMs(pids: readonly number[] = [process.pid], ended = false): number | null {
  if (process.platform !== 'linux') return null;
  const fields = ended ? [...OWN, ...ENDED] : OWN;
  return pids.flatMap((pid) => [pid, ...descendants(pid)]).reduce((sum, pid) => sum + cpuMsOf(pid, fields), 0);
}

function cpuMsOf(pid: number, fields: readonly number[]): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? [];
    return fields.reduce((sum, field) => sum + Number(stat[field]), 0) * TICK_MS;
  } catch {
    // It has ended meanwhile.
    return 0;
  }
}

/** Nanoseconds that the main thread of a process has computed so far; exact while it sleeps. Works on Linux only. */
export function threadNs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]);
}
