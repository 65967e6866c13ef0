import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { seccompFilter } from './seccomp.ts';
import { systemTool } from './systemtools.ts';

/** A file or folder of this machine, and its path for the worker. */
export interface Bind {
  readonly from: string;
  readonly to: string;
}

/** Bubblewrap on this machine, and what it needs for every worker. */
export interface Bubblewrap {
  readonly path: string;
  /** The libraries of Node, at the paths where its loader finds them. */
  readonly libraries: readonly string[];
  readonly filter: Uint8Array;
}

/** Bubblewrap reads the filter from this descriptor and closes it. */
const FILTER_FD = 4;

let found: Bubblewrap | string | undefined;

/** Finds what the launcher needs, once; a text says what is missing. The first worker shows whether the launcher works. */
export function findBubblewrap(): Bubblewrap | string {
  found ??= search();
  return found;
}

function search(): Bubblewrap | string {
  if (process.platform !== 'linux') return `the launcher is for Linux, this is ${process.platform}`;
  const filter = seccompFilter(process.arch);
  if (filter === null) return `the launcher knows the system calls of x64 and arm64, this is ${process.arch}`;
  const path = systemTool('bwrap');
  if (path === null) return "bubblewrap is not installed: install the package 'bubblewrap'";
  const libraries = librariesOf(process.execPath);
  return libraries.length === 0
    ? 'the libraries of Node cannot be found: its loader is not the GNU one'
    : { path, libraries, filter };
}

/** Asks the loader for the libraries, as `ldd` does, without running the program. */
function librariesOf(binary: string): string[] {
  const { stdout } = spawnSync(binary, ['--version'], {
    env: { LD_TRACE_LOADED_OBJECTS: '1' },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: 5_000,
  });
  return [...(stdout ?? '').matchAll(/(?:=> |^\s+)(\/\S+) \(0x/gm)].flatMap(([, path]) =>
    path !== undefined && existsSync(path) ? [path] : [],
  );
}

/**
 * Arguments for bubblewrap, up to the program: separate namespaces of every kind, the user nobody, no capabilities, and a read-only
 * root with `binds` and Node's libraries. The root has no `/proc`, `/dev` or `/tmp`.
 */
export function bubblewrapArguments({ libraries }: Bubblewrap, binds: readonly Bind[]): string[] {
  const readOnly = [...libraries.map((path) => ({ from: path, to: path })), ...binds];
  return [
    '--unshare-user',
    '--unshare-pid',
    '--unshare-net',
    '--unshare-ipc',
    '--unshare-uts',
    '--unshare-cgroup-try',
    ...['--uid', '65534', '--gid', '65534', '--hostname', 'worker'],
    ...['--cap-drop', 'ALL'],
    '--new-session',
    // The worker dies with bubblewrap, and bubblewrap with the host.
    '--die-with-parent',
    ...readOnly.flatMap(({ from, to }) => ['--ro-bind', from, to]),
    ...['--remount-ro', '/', '--chdir', '/'],
    ...['--seccomp', String(FILTER_FD)],
    '--',
  ];
}
