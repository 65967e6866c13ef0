import { type Bind, type Cage, librariesOf } from './cage.ts';
import { seccompFilter } from './seccomp.ts';
import { systemTool } from './systemtools.ts';

/** Bubblewrap reads the filter from this descriptor and closes it. */
const FILTER_FD = 4;

let found: Cage | string | undefined;

/** Finds bubblewrap and its requirements, once. Returns a text that says what is missing. The first worker shows whether it works. */
export function findBubblewrap(): Cage | string {
  found ??= search();
  return found;
}

function search(): Cage | string {
  if (process.platform !== 'linux') return `bubblewrap is for Linux, this is ${process.platform}`;
  const filter = seccompFilter(process.arch, true);
  if (filter === null) return `the filter of system calls is for x64 and arm64, this is ${process.arch}`;
  const path = systemTool('bwrap');
  if (path === null) return "bubblewrap is not installed: install the package 'bubblewrap'";
  const libraries = librariesOf(process.execPath);
  if (libraries.length === 0) return 'the libraries of Node cannot be found: its loader is not the GNU one';
  return bubblewrap(path, libraries, filter);
}

/**
 * Bubblewrap at a path. It gives the worker separate namespaces of every kind, the user nobody, no capabilities, and the filter. The
 * root has no `/proc`, `/dev` or `/tmp`.
 */
export function bubblewrap(path: string, libraries: readonly Bind[], filter: Uint8Array): Cage {
  return {
    name: 'bubblewrap',
    holds: ['namespaces', 'rights', 'calls'],
    // Between the host and the worker: bubblewrap, and the first process of the namespace.
    generations: 2,
    command: (binds, program) => ({
      path,
      args: [
        '--unshare-user',
        '--unshare-pid',
        '--unshare-net',
        '--unshare-ipc',
        '--unshare-uts',
        '--unshare-cgroup-try',
        ...['--uid', '65534', '--gid', '65534', '--hostname', 'worker'],
        ...['--cap-drop', 'ALL'],
        '--new-session',
        // Ends the worker with bubblewrap, and bubblewrap with the host.
        '--die-with-parent',
        ...[...libraries, ...binds].flatMap(({ from, to }) => ['--ro-bind', from, to]),
        ...['--remount-ro', '/', '--chdir', '/'],
        ...['--seccomp', String(FILTER_FD)],
        '--',
        ...program,
      ],
      input: filter,
    }),
  };
}
