import { defaultLimits } from '../wire/limits.ts';
import type { HostFrame } from '../wire/protocol.ts';
import type { Frames } from './server.ts';

const SOURCE = 'func f(needs a) means\n  set b = [1, "x"]\n  if a > b[0] and not a\n    emit "y" + f(a)\n  endif\nendfunc\n';
const COMMANDS =
  'command\n  set n = len([1, 2]) + 1\n  emit ```{{n}} of ``` + n\n  call f(0)\n  emit tool.str.Length("x")\nendcommand\n';

/** The number of the run that is a rehearsal; a host counts from 1. */
export const REHEARSAL = 0;

/**
 * The frames of a host that asks for one run, lets the next be prepared and goes away. A worker answers it before it says hello: the parser builds its
 * tables at its first use, and whatever else runs for the first time takes its time then and not from somebody's first run.
 */
export function rehearsal(memoryBytes: number): Frames {
  const run: HostFrame = {
    t: 'run',
    id: REHEARSAL,
    input: {
      sources: [
        { name: 'lib', text: SOURCE },
        { name: 'src', text: COMMANDS },
      ],
      globals: {},
      pure: ['tool.str.length'],
      call: null,
      events: [],
      limits: { ...defaultLimits('run'), memoryBytes },
      forkId: 'rehearsal',
      turn: false,
      stdin: false,
    },
  };
  const frames = [run, { t: 'prepare' } satisfies HostFrame].map((frame) => JSON.stringify(frame));
  return { read: () => frames.shift() ?? null, write: () => {}, hold: () => {}, flush: () => {} };
}
