import { openSync, readdirSync, readFileSync } from 'node:fs';
import { devNull } from 'node:os';

/** `O_CLOEXEC`, as Linux writes it into `fdinfo`. */
const CLOSED_BY_EXEC = 0o2000000;
/** Standard input, output and error are always replaced. */
const FIRST_OTHER = 3;

/** For a child's descriptors: a number is a descriptor of this process to put there, `ignore` leaves the place alone. */
type Stdio = ('ignore' | 'pipe' | number)[];

let nowhere: number | undefined;

/**
 * Sees to it that a child gets none of the descriptors that this process has from its own parent. What Node opens is closed when
 * another program is started; what was open before Node is not, and Node closes it only up to the first gap. Each such number is
 * given a descriptor of the null device in the child. Linux tells which they are; elsewhere the system closes them by itself.
 */
export function withoutInherited(stdio: Stdio): Stdio {
  const all = [...stdio];
  for (const fd of inheritable()) {
    if (fd < stdio.length) continue;
    while (all.length < fd) all.push('ignore');
    nowhere ??= openSync(devNull, 'r');
    all[fd] = nowhere;
  }
  return all;
}

/** Numbers above standard error that a program started now would find open, in rising order. */
function inheritable(): number[] {
  if (process.platform !== 'linux') return [];
  return namesOf('/proc/self/fd')
    .map(Number)
    .filter((fd) => fd >= FIRST_OTHER && isInheritable(fd))
    .sort((a, b) => a - b);
}

function isInheritable(fd: number): boolean {
  const flags = /^flags:\s*([0-7]+)$/m.exec(textOf(`/proc/self/fdinfo/${fd}`))?.[1];
  return flags !== undefined && (Number.parseInt(flags, 8) & CLOSED_BY_EXEC) === 0;
}

function namesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // No /proc: nothing can be told.
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return ''; // Closed between the two looks.
  }
}
