import { closeSync, openSync, readSync } from 'node:fs';
import type { Cgroup } from './cgroup.ts';
import { childrenOf, namesIn, statOf, textIn } from './proc.ts';

/** Memory and CPU time of a process, as the system counts them. */
export interface ProcessStats {
  /** Bytes of resident memory; null when the process is gone. */
  rssBytes(): number | null;
  /** CPU time of the main thread, which runs the scripts, in milliseconds; null when the process is gone. */
  cpuMs(): number | null;
  /** What all threads of the process use; null when the process is gone. Reading takes some 50 µs. */
  load(): Load | null;
  /** The same with children and descriptors. Reading takes some hundred microseconds. */
  holdings(): Holdings | null;
  close(): void;
}

/** Memory, threads and CPU time of a process. */
export interface Load {
  readonly rssBytes: number;
  /** Memory of the kernel for the addresses of the process, which is no part of its resident memory. 0 where the system does not tell. */
  readonly pageTableBytes: number;
  readonly threads: number;
  /** CPU time of all threads in milliseconds, in steps of 10; exact and since it entered its cgroup where it has one. */
  readonly cpuMs: number;
  /** CPU time of the main thread in milliseconds. */
  readonly mainCpuMs: number;
}

/** The system resources of a process. Null where the system does not tell. */
export interface Holdings extends Load {
  /** Child processes. */
  readonly children: number | null;
  /** Open descriptors. */
  readonly descriptors: number | null;
}

/** The statistics of a process at one moment; null where the system does not tell. */
export interface StatsReading {
  readonly rssBytes: number | null;
  readonly cpuMs: number | null;
}

/** Reads memory and CPU time. */
export function readStats(stats: ProcessStats | null): StatsReading {
  return { rssBytes: stats?.rssBytes() ?? null, cpuMs: stats?.cpuMs() ?? null };
}

/**
 * Opens the statistics of a process in `/proc`. The files stay open: a further read costs some 3 µs, and another process that gets
 * the same number later is not mistaken for this one. Null where the system has no such files. `cgroup` counts the CPU time of all
 * threads exactly.
 */
export function openStats(pid: number, cgroup: Pick<Cgroup, 'cpuMs'> | null = null): ProcessStats | null {
  if (PAGE_BYTES === null) return null;
  const fds: number[] = [];
  try {
    const statm = openSync(`/proc/${pid}/statm`, 'r');
    fds.push(statm);
    const schedstat = openSync(`/proc/${pid}/schedstat`, 'r');
    fds.push(schedstat);
    return statsOf(pid, fds, statm, schedstat, PAGE_BYTES, cgroup);
  } catch {
    for (const fd of fds) closeSync(fd);
    return null;
  }
}

/** Whether the system tells what a process uses. */
export function tellsStats(): boolean {
  const stats = openStats(process.pid);
  stats?.close();
  return stats !== null;
}

/** The process that is `generations` below `pid`, if each process between has one child. Null when the system does not tell. */
export function descendant(pid: number, generations: number): number | null {
  let last = pid;
  for (let left = generations; left > 0; left--) {
    last = Number.parseInt(textIn(`/proc/${last}/task/${last}/children`), 10);
    if (Number.isNaN(last)) return null;
  }
  return last;
}

function statsOf(
  pid: number,
  fds: number[],
  statm: number,
  schedstat: number,
  pageBytes: number,
  cgroup: Pick<Cgroup, 'cpuMs'> | null,
): ProcessStats {
  const rssBytes = (): number | null => {
    const pages = fieldOf(statm, 1);
    return pages === null || pages === 0 ? null : pages * pageBytes;
  };
  const cpuMs = (): number | null => {
    const ns = fieldOf(schedstat, 0);
    return ns === null ? null : ns / 1e6;
  };
  const load = (): Load | null => {
    const [rss, mainCpuMs] = [rssBytes(), cpuMs()];
    const [user, system, threads] = numbersOf(pid, USER_TIME, SYSTEM_TIME, THREADS);
    if (rss === null || mainCpuMs === null || user === undefined || system === undefined || threads === undefined) return null;
    const all = cgroup?.cpuMs() ?? (user + system) * TICK_MS;
    return { rssBytes: rss, pageTableBytes: pageTablesOf(pid), threads, cpuMs: all, mainCpuMs };
  };
  return {
    rssBytes,
    cpuMs,
    load,
    holdings() {
      const all = load();
      return (
        all && { ...all, children: childrenOf(pid)?.length ?? null, descriptors: namesIn(`/proc/${pid}/fd`)?.length ?? null }
      );
    },
    close() {
      for (const fd of fds.splice(0)) closeSync(fd);
    },
  };
}

/**
 * The number of orphaned processes, by their session. Their parent is now this process or an ancestor, so no worker lists them as its
 * children. The first process of a session is not counted. Takes some 20 µs for each child of an ancestor.
 */
export function orphans(): ReadonlyMap<number, number> {
  const sessions = new Map<number, number>();
  for (let pid: number | null = process.pid; pid !== null && pid > 0; pid = numbersOf(pid, PARENT)[0] ?? null)
    for (const child of childrenOf(pid) ?? []) {
      const [session = child] = numbersOf(child, SESSION);
      if (session !== child) sessions.set(session, (sessions.get(session) ?? 0) + 1);
    }
  return sessions;
}

/** Milliseconds in the unit of `stat`, which is the same for every Linux. */
const TICK_MS = 10;
/** Places of the fields of `stat`. */
const [PARENT, SESSION, USER_TIME, SYSTEM_TIME, THREADS] = [1, 3, 11, 12, 17] as const;

/** Fields of `stat`; none when the process is gone. */
function numbersOf(pid: number, ...wanted: readonly number[]): readonly number[] {
  const fields = statOf(pid);
  return fields.length === 0 ? [] : wanted.map((field) => Number(fields[field]));
}

/** The line of `status` that has kilobytes of page tables. */
const PAGE_TABLES = '\nVmPTE:';

function pageTablesOf(pid: number): number {
  const status = textIn(`/proc/${pid}/status`);
  // The name of the process, which it chooses, has no line break here.
  const at = status.indexOf(PAGE_TABLES);
  return at < 0 ? 0 : Number.parseInt(status.slice(at + PAGE_TABLES.length), 10) * 1024;
}

const buffer = Buffer.alloc(256);

/** The number at an index of a one-line file; null when the process is gone. */
function fieldOf(fd: number, index: number): number | null {
  try {
    const text = buffer.toString('latin1', 0, readSync(fd, buffer, 0, buffer.length, 0));
    const field = Number(text.split(' ')[index]);
    return text === '' || Number.isNaN(field) ? null : field;
  } catch {
    return null;
  }
}

/**
 * The size of a page: the unit of `statm`. Node does not tell it, so it is derived from this process, whose resident memory is known
 * in bytes and in pages. It is a power of two.
 */
const PAGE_BYTES = pageBytes();

function pageBytes(): number | null {
  try {
    const fd = openSync('/proc/self/statm', 'r');
    const pages = fieldOf(fd, 1);
    closeSync(fd);
    return pages === null ? null : 2 ** Math.round(Math.log2(process.memoryUsage.rss() / pages));
  } catch {
    return null;
  }
}
