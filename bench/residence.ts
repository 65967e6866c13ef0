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
  const children = (task: string): readonly string[] =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').match(/\d+/g) ?? [];
  return ofProcess(() => readdirSync(`/proc/${pid}/task`).flatMap(children).map(Number), []);
}

/** Open descriptors of a process. Works on Linux only. */
export function descriptorsOf(pid: number): number {
  return ofProcess(() => readdirSync(`/proc/${pid}/fd`).length, 0);
}

/** What a read tells of a process, or `ended` when the process has ended meanwhile. */
function ofProcess<T>(read: () => T, ended: T): T {
  try {
    return read();
  } catch {
    return ended;
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
  const stat =
    ofProcess(() => readFileSync(`/proc/${pid}/stat`, 'latin1'), '')
      .split(') ')
      .at(-1)
      ?.split(' ') ?? [];
  return fields.reduce((sum, field) => sum + Number(stat[field] ?? 0), 0) * TICK_MS;
}

/** Nanoseconds that the main thread of a process has computed so far; exact while it sleeps. Works on Linux only. */
export function threadNs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]);
}
