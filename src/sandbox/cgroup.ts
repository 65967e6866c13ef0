import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf } from '../wire/unknown.ts';
import { textIn } from './proc.ts';

/** The cgroup of one worker: what the kernel counts of all its threads, and bounds. */
export interface Cgroup {
  /** Sets the most memory of the worker, page tables and other memory of the kernel included. */
  limit(bytes: number): void;
  /** CPU time of all threads since the worker entered, milliseconds; null when the kernel does not tell. */
  cpuMs(): number | null;
  /** Whether the kernel has ended the worker because it exceeded {@link limit}. */
  outOfMemory(): boolean;
  /** Removes the cgroup of a worker that has ended. */
  close(): void;
}

/** A folder in which this process may make cgroups. */
export interface Cgroups {
  /** Puts a worker into a cgroup of its own; null when the kernel refuses. */
  enter(pid: number): Cgroup | null;
}

/** Threads of a worker. The watch ends one at fewer; isolated-vm aborts where it gets none. */
const MAX_THREADS = 64;
/** The beginning of a cgroup's name; the id of its host and a number follow. */
const PREFIX = 'neuroscript';
/** What is before the path in the line of `/proc/self/cgroup` for version 2. */
const VERSION_2 = '0::';
const CONTROLLERS = ['memory', 'pids'];
/** Milliseconds between attempts to remove the cgroup of a process that the kernel has not quite ended. */
const AGAIN_MS = 100;
const ATTEMPTS = 5;

/**
 * The cgroups (version 2) that the system has delegated to this process, or the reason why there are none. The process stands in a
 * group of the delegated folder, so that the folder itself holds no processes: systemd does that with `DelegateSubgroup=`. Nothing is
 * moved but workers. `root` is where cgroups are mounted, and `own` the content of `/proc/self/cgroup`.
 */
export function findCgroups(root = '/sys/fs/cgroup', own?: string): Cgroups | string {
  if (process.platform !== 'linux') return 'cgroups are for Linux';
  try {
    const lines = (own ?? readFileSync('/proc/self/cgroup', 'latin1')).split('\n');
    const path = lines.find((line) => line.startsWith(VERSION_2))?.slice(VERSION_2.length) ?? '/';
    if (path === '/') return 'no folder of cgroups (version 2) is delegated to this process';
    const folder = join(root, dirname(path));
    const offered = readFileSync(join(folder, 'cgroup.controllers'), 'latin1').trim().split(' ');
    const lacks = CONTROLLERS.filter((name) => !offered.includes(name));
    if (lacks.length > 0) return `the cgroups of this process (version 2) cannot control ${lacks.join(', ')}`;
    writeFileSync(join(folder, 'cgroup.subtree_control'), CONTROLLERS.map((name) => `+${name}`).join(' '));
    sweep(folder);
    return new Folder(folder);
  } catch (error) {
    return `cgroups are not delegated to this process: ${messageOf(error)}`;
  }
}

class Folder implements Cgroups {
  readonly #path: string;
  #made = 0;

  constructor(path: string) {
    this.#path = path;
  }

  enter(pid: number): Cgroup | null {
    const path = join(this.#path, `${PREFIX}-${process.pid}-${++this.#made}`);
    try {
      mkdirSync(path);
    } catch {
      return null;
    }
    try {
      writeFileSync(join(path, 'pids.max'), String(MAX_THREADS));
      writeFileSync(join(path, 'memory.swap.max'), '0');
      writeFileSync(join(path, 'cgroup.procs'), String(pid));
      return new Entered(path);
    } catch {
      remove(path);
      return null;
    }
  }
}

class Entered implements Cgroup {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  limit(bytes: number): void {
    try {
      writeFileSync(join(this.#path, 'memory.max'), String(Math.ceil(bytes)));
    } catch {
      // The worker is gone, and its cgroup with it.
    }
  }

  cpuMs(): number | null {
    const us = this.#count('cpu.stat', 'usage_usec');
    return us === null ? null : us / 1000;
  }

  outOfMemory(): boolean {
    return (this.#count('memory.events', 'oom_kill') ?? 0) > 0;
  }

  close(): void {
    remove(this.#path, ATTEMPTS);
  }

  /** A number of a file with lines of a name and a number. */
  #count(file: string, name: string): number | null {
    const text = `\n${textIn(join(this.#path, file))}`;
    const at = text.indexOf(`\n${name} `);
    return at < 0 ? null : Number.parseInt(text.slice(at + name.length + 2), 10);
  }
}

/** Removes the cgroups of hosts that were killed. One that still has processes stays. */
function sweep(folder: string): void {
  const hosts = new Set(readdirSync('/proc'));
  for (const name of readdirSync(folder)) {
    const [prefix, host = ''] = name.split('-');
    if (prefix === PREFIX && !hosts.has(host)) remove(join(folder, name));
  }
}

function remove(path: string, attempts = 1): void {
  try {
    rmdirSync(path);
  } catch {
    if (attempts > 1) setTimeout(() => remove(path, attempts - 1), AGAIN_MS).unref();
  }
}
