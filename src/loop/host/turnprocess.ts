import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { checkFunction, wholeNumber } from '../../wire/options.ts';
import type { TakeApart, TurnApart } from '../apart.ts';

/** Default for the number of processes at a time. It is low because each has its own runtime. */
const MOST = 2;

/**
 * Takes turns in processes of Node: the value of a controller's `takeApart`. `command` gives the arguments of Node, such as a script,
 * the session and the owner; the script makes a controller with this owner on the same store, calls `step`, and exits, with 130 after a
 * `SessionLeasedError`. At most `most` processes run at a time; further turns wait. The process reads nothing, its output is dropped, and its
 * errors go to standard error.
 */
export function turnProcess(command: (turn: TurnApart) => readonly string[], most: number = MOST): TakeApart {
  checkFunction('command', command);
  wholeNumber(1)('most', most);
  const waiting: (() => void)[] = [];
  let free = most;
  return async (turn) => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return turn.signal.aborted ? undefined : await ended(command(turn), turn.signal);
    } finally {
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    }
  };
}

/** The exit code of a process that has lost its session. */
const LOST = 130;

async function ended(args: readonly string[], signal: AbortSignal): Promise<'lost' | undefined> {
  // A process group of its own, so that Ctrl-C in a terminal reaches only this process, which waits for the turns under way.
  const child = spawn(process.execPath, [...process.execArgv, ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
    detached: true,
  });
  const kill = (): void => void child.kill('SIGKILL');
  signal.addEventListener('abort', kill, { once: true });
  try {
    const [code] = await once(child, 'exit');
    return code === LOST ? 'lost' : undefined;
  } finally {
    signal.removeEventListener('abort', kill);
  }
}
