import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Bind, type Cage, librariesOf } from './cage.ts';
import { systemTool } from './systemtools.ts';

/** Programs of util-linux, coreutils and the shell that set the sandbox up. */
interface Tools {
  readonly setpriv: string;
  readonly unshare: string;
  readonly mount: string;
  readonly mkdir: string;
  readonly sh: string;
}

let found: Cage | string | undefined;

/**
 * Finds `unshare` of util-linux and its requirements, once. Returns a text that says what is missing. The first worker shows whether it
 * works.
 */
export function findUnshare(): Cage | string {
  found ??= search();
  return found;
}

function search(): Cage | string {
  if (process.platform !== 'linux') return `unshare is for Linux, this is ${process.platform}`;
  const [setpriv, unshare, mount, mkdir, sh] = ['setpriv', 'unshare', 'mount', 'mkdir', 'sh'].map((name) => systemTool(name));
  if (!setpriv || !unshare || !mount || !mkdir || !sh)
    return "'setpriv', 'unshare' and 'mount' are not all installed: install the packages 'util-linux' and 'mount'";
  const libraries = librariesOf(process.execPath);
  if (libraries.length === 0) return 'the libraries of Node cannot be found: its loader is not the GNU one';
  return unshareOf({ setpriv, unshare, mount, mkdir, sh }, libraries);
}

/** The folder where the script builds the root. Every Linux has it, and it holds no file that a worker needs. */
const BASE = '/sys';
const ROOT = `${BASE}/root`;

/**
 * Builds the root in a file system of its own, then starts the worker in it, as nobody. It runs as the first process of the
 * namespaces. A table of mounts needs one process for all of them, and must be a regular file.
 *
 * The second user namespace removes the worker's rights over the first, which owns the mounts. The kernel lets no process in a changed
 * root make a user namespace, so the worker cannot get new rights to leave the root.
 */
const SCRIPT = `set -euf
mount=$1 mkdir=$2 unshare=$3 table=$4 folders=$5 files=$6
shift 6
"$mount" -t tmpfs -o mode=755,nosuid,nodev tmpfs ${BASE}
IFS='
'
"$mkdir" -p $folders
for file in $files; do : > "$file"; done
printf %s "$table" > ${BASE}/table
"$mount" -a -T ${BASE}/table
"$mount" -o remount,bind,ro ${BASE}
ulimit -c 0
ulimit -f 0
ulimit -n 64
exec "$unshare" --user --map-user=65534 --map-group=65534 --root=${ROOT} --wd=/ -- "$@"
`;

function unshareOf({ setpriv, unshare, mount, mkdir, sh }: Tools, libraries: readonly Bind[]): Cage {
  return {
    name: 'unshare',
    holds: ['namespaces', 'rights'],
    generations: 1,
    command: (binds, program) => {
      const all = [...libraries, ...binds];
      const table = all.map(({ from, to }) => `${escaped(from)} ${ROOT}${escaped(to)} none bind,ro,nosuid,nodev 0 0\n`);
      const [folders, files]: [string[], string[]] = [[], []];
      for (const { from, to } of all) {
        if (statSync(from).isDirectory()) folders.push(ROOT + to);
        else {
          folders.push(ROOT + dirname(to));
          files.push(ROOT + to);
        }
      }
      return {
        path: setpriv,
        args: [
          '--no-new-privs',
          // Ends the worker with unshare, and unshare with the host.
          ...['--pdeathsig', 'SIGKILL'],
          unshare,
          ...['--user', '--map-root-user', '--pid', '--net', '--ipc', '--uts', '--cgroup', '--mount', '--kill-child', '--'],
          ...[sh, '-c', SCRIPT, 'sh', mount, mkdir, unshare],
          ...[table.join(''), folders.join('\n'), files.join('\n')],
          ...program,
        ],
        input: null,
      };
    },
  };
}

/** A path, escaped for a table of mounts. */
function escaped(path: string): string {
  return path.replace(/[\s\\#]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`);
}
