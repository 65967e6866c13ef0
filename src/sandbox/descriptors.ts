import { openSync } from 'node:fs';
import { devNull } from 'node:os';
import { namesIn, textIn } from './proc.ts';

/** `O_CLOEXEC` in the octal flags of `fdinfo` (Linux). */
const CLOSED_BY_EXEC = 0o2000000;
/** Standard input, output and error are always replaced. */
const FIRST_OTHER = 3;

/** The descriptors of a child: a number is a descriptor of this process, `ignore` sets nothing up. */
type Stdio = ('ignore' | 'pipe' | number)[];

let nowhere: number | undefined;

/**
 * Keeps a child from inheriting the descriptors that this process inherited from its own parent. Descriptors that Node opens are closed
 * in a child; those that were open before Node started are not, and Node closes them only up to the first gap. The child gets the null
 * device under each of these numbers. Only Linux needs this; other systems close them.
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

/** The descriptors above standard error that a child would inherit now, in ascending order. */
function inheritable(): number[] {
  if (process.platform !== 'linux') return [];
  return (namesIn('/proc/self/fd') ?? [])
    .map(Number)
    .filter((fd) => fd >= FIRST_OTHER && isInheritable(fd))
    .sort((a, b) => a - b);
}

function isInheritable(fd: number): boolean {
  const flags = /^flags:\s*([0-7]+)$/m.exec(textIn(`/proc/self/fdinfo/${fd}`))?.[1];
  return flags !== undefined && (Number.parseInt(flags, 8) & CLOSED_BY_EXEC) === 0;
}
