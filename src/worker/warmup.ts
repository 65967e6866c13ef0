import type { HostFrame, LimitValues } from '../wire/protocol.ts';
import type { Frames } from './server.ts';

const SOURCE = 'func f(needs a) means\n  set b = [1, "x"]\n  if a > b[0] and not a\n    emit "y" + f(a)\n  endif\nendfunc\n';
const COMMANDS =
  'command\n  set n = len([1, 2]) + 1\n  emit ```{{n}} of ``` + n\n  call f(0)\n  emit tool.str.Length("x")\nendcommand\n';

/** Small limits: the program is our own. */
const LIMITS: Omit<LimitValues, 'memoryBytes'> = {
  fuel: 10_000,
  cpuMs: 1_000,
  wallMs: 1_000,
  outputBytes: 1_024,
  lineBytes: 1_024,
  scratchBytes: 1_024,
  toolCalls: 0,
  toolMs: 1,
  callDepth: 10,
  evalDepth: 100,
  sourceBytes: 1_024,
  toolBytes: 1_024,
  journalBytes: 1,
  eventCount: 0,
  deliveries: 0,
  emits: 10,
  toolCallsPerTool: 0,
  valueBytes: 1_048_576,
  valueDepth: 10,
  textLength: 1_024,
  listLength: 100,
  mapLength: 100,
};

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
      limits: { ...LIMITS, memoryBytes },
      forkId: 'rehearsal',
      turn: false,
      stdin: false,
    },
  };
  const frames = [run, { t: 'prepare' } satisfies HostFrame].map((frame) => JSON.stringify(frame));
  return { read: () => frames.shift() ?? null, write: () => {}, hold: () => {}, flush: () => {} };
}
