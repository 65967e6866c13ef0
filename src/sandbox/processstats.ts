import { closeSync, openSync, readFileSync, readSync } from 'node:fs';

/** What a process uses, as the system sees it. */
export interface ProcessMeter {
  /** Bytes of resident memory; null once the process is gone. */
  rssBytes(): number | null;
  /** Milliseconds of CPU time of its main thread, which is the one that runs scripts; null once it is gone. */
  cpuMs(): number | null;
  close(): void;
}

/** What a process used at one moment; null where the system does not tell. */
export interface Reading {
  readonly rssBytes: number | null;
  readonly cpuMs: number | null;
}

/** Both at once. */
export function readingOf(meter: ProcessMeter | null): Reading {
  return { rssBytes: meter?.rssBytes() ?? null, cpuMs: meter?.cpuMs() ?? null };
}

/**
 * Looks at a process through `/proc`. The files stay open: reading again costs some 3 µs, and a number given to another
 * process later cannot be mistaken for this one. Null where the system has no such files.
 */
export function openMeter(pid: number): ProcessMeter | null {
  if (PAGE_BYTES === null) return null;
  const fds: number[] = [];
  try {
    const statm = openSync(`/proc/${pid}/statm`, 'r');
    fds.push(statm);
    const schedstat = openSync(`/proc/${pid}/schedstat`, 'r');
    fds.push(schedstat);
    return meterOn(fds, statm, schedstat, PAGE_BYTES);
  } catch {
    for (const fd of fds) closeSync(fd);
    return null;
  }
}

/** The process so many generations below `pid`, each the only child of its parent; null when the system does not tell. */
export function descendant(pid: number, generations: number): number | null {
  let last = pid;
  try {
    for (let left = generations; left > 0; left--) {
      const child = Number.parseInt(readFileSync(`/proc/${last}/task/${last}/children`, 'latin1'), 10);
      if (Number.isNaN(child)) return null;
      last = child;
    }
    return last;
  } catch {
    return null;
  }
}

function meterOn(fds: number[], statm: number, schedstat: number, pageBytes: number): ProcessMeter {
  return {
    rssBytes() {
      const pages = fieldOf(statm, 1);
      return pages === null || pages === 0 ? null : pages * pageBytes;
    },
    cpuMs() {
      const ns = fieldOf(schedstat, 0);
      return ns === null ? null : ns / 1e6;
    },
    close() {
      for (const fd of fds.splice(0)) closeSync(fd);
    },
  };
}

const buffer = Buffer.alloc(256);

/** The n-th number of a one-line file; null when the process is gone. */
function fieldOf(fd: number, index: number): number | null {
  try {
    const text = buffer.toString('latin1', 0, readSync(fd, buffer, 0, buffer.length, 0));
    const field = Number(text.split(' ')[index]);
    return text === '' || Number.isNaN(field) ? null : field;
  } catch {
    return null;
  }
}

/** `statm` counts pages, whose size Node does not tell: it is what makes our own two figures agree, a power of two. */
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
