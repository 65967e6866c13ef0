import type { HostFrame } from '../wire/hostframes.ts';
import { defaultLimits } from '../wire/limits.ts';
import type { RunInput } from '../wire/protocol.ts';
import type { GuestPorts, Prepared } from './image.ts';
import type { Tree } from './parser.ts';
import type { FramePort } from './pipe.ts';
import { guestInput, partOf } from './run.ts';

const LIBRARY = `func f(needs a returns r) means
  set b = {"x": [1, a]}
  set t = 0
  for each x in b["x"]
    if x > t and not a
      set t = t + x * 2
    else
      emit "y"
    endif
  endfor
  return t
endfunc
`;
const COMMANDS = `command
  set n = len([1, 2]) + f(1)
  emit \`\`\`{{n}} of \`\`\` + n
  call f(0)
  emit tool.host.Call("x")
endcommand
`;

/** The number of the warm-up run; the runs of a host count from 1. */
export const WARMUP_ID = 0;

/**
 * The frames of a host that requests one run, answers its tool call and lets the worker make and warm up the isolate of the next. The
 * worker answers them before its `hello`, so that first uses, such as the parser's tables, do not slow down the first real run.
 */
export function warmupFrames(memoryBytes: number): FramePort {
  const run: HostFrame = {
    t: 'run',
    id: WARMUP_ID,
    input: {
      sources: [
        { name: 'lib', text: LIBRARY },
        { name: 'src', text: COMMANDS },
      ],
      globals: {},
      call: null,
      events: [],
      limits: { ...defaultLimits('run'), memoryBytes },
      forkId: 'warmup',
      turn: false,
      stdin: false,
    },
  };
  const answer: HostFrame = { t: 'ok', value: 1 };
  const prepare: HostFrame = { t: 'prepare' };
  const frames = [run, answer, prepare, prepare].map((frame) => JSON.stringify(frame));
  return { read: () => frames.shift() ?? null, write: () => {}, hold: () => {}, flush: () => {} };
}

/**
 * Runs the warm-up program in an isolate that no program has used yet. V8 then compiles and links what every program needs;
 * without it a small program takes twice as long. Output and calls are discarded. The program ends at its call of a tool, which
 * gets no answer.
 */
export class Warmup implements GuestPorts {
  readonly #input: string;
  readonly #trees: readonly Tree[];

  constructor(input: RunInput, trees: readonly Tree[]) {
    this.#input = guestInput(input, trees, []);
    this.#trees = trees;
  }

  clock(): number {
    return 0;
  }

  host(): string {
    return '';
  }

  tree(file: unknown, part: unknown): string {
    return partOf(this.#trees, file, part);
  }

  /** The caller has connected the ports of the isolate to this object. */
  run(prepared: Prepared): void {
    prepared.run(this.#input);
  }
}
