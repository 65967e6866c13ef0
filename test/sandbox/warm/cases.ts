/** Runs of random programs, and of such as fail, halt, exceed limits or are cancelled, for one worker after another. */
import type { Program } from '../../../conformance/language/generate/programs.ts';
import { Random } from '../../../conformance/language/generate/random.ts';
import type { FinalReply, LimitOptions } from '../../../src/sandbox/index.ts';
import { quotaError } from '../../../src/wire/errorinfo.ts';
import { defaultLimits } from '../../../src/wire/limits.ts';
import type { RunInput } from '../../../src/wire/protocol.ts';
import { PURE_TOOLS } from '../../../src/wire/pure/tools.ts';
import { LIMITS, NAME } from '../../differential/both.ts';
import { programOf } from '../../differential/cases.ts';
import { answering } from '../../differential/guest.ts';

/** What the host does to a run. */
export type Treatment = 'answers' | 'halts' | 'cancels';

export interface Case {
  readonly input: RunInput;
  readonly treatment: Treatment;
  /** The answer to each call, in their order. */
  readonly answer: () => FinalReply;
}

const PURE = Object.values(PURE_TOOLS).flatMap((group) => Object.entries(group));
const PURE_NAMES = PURE.map(([name]) => name.toLowerCase());
const EXAMPLES = PURE.map(([, { example }]) => example[0]);

const MB = 1024 * 1024;
/** The same of all runs but a few, so that one isolate serves many. */
const MEMORY = { memoryBytes: 2 * MB, valueBytes: MB };

/** Programs that end as few random ones do. */
const ENDS: readonly (readonly [source: string, treatment: Treatment])[] = [
  ["command\n  set l = ['x']\n  while true\n    set l = l + l\n  endwhile\nendcommand\n", 'answers'],
  ["command\n  set t = 'ab'\n  while true\n    set t = t + t\n  endwhile\nendcommand\n", 'answers'],
  [
    'command\n  set m = {}\n  set n = 0\n  while true\n    set n = n + 1\n    set m[n] = [n]\n  endwhile\nendcommand\n',
    'answers',
  ],
  ['func f(needs n) means\n  return f(n + 1) + 1\nendfunc\ncommand\n  emit f(0)\nendcommand\n', 'answers'],
  ['command\n  while true\n    set x = 1\n  endwhile\nendcommand\n', 'answers'],
  ["command\n  on error do\n    fail 'again'\n  endon\n  fail 'once'\nendcommand\n", 'answers'],
  [
    'command\n  set l = [1]\n  for each x in [1, 2, 3]\n    set l[0] = tool.a.Get(x)\n    emit l\n    break\n  endfor\nendcommand\n',
    'halts',
  ],
  ['command\n  for each x in [1, 2, 3]\n    emit x\n    call tool.b.Send(x)\n  endfor\nendcommand\n', 'cancels'],
];

export function caseOf(seed: number, index: number): Case {
  const random = new Random(Math.imul(seed, 0x85ebca6b) ^ index);
  const kind = index % 10;
  if (kind === 3) return ending(random, seed, index);
  if (kind === 6) return ofPureTools(random);
  const program = programOf(seed, index);
  // The rest of a budget ends some runs early; another limit takes another isolate.
  const limits = kind === 7 ? { fuel: 1 + random.int(2000) } : index % 331 === 0 ? { callDepth: 30 } : {};
  const plain = made(program, 'answers', limits);
  return index % 4 === 1 ? labelled(plain) : plain;
}

/** A run under rules about origin: a global has a label, and each answer brings one. */
function labelled({ input, answer, ...rest }: Case): Case {
  const [name = 'g'] = Object.keys(input.globals);
  const flow = { program: [], globals: [{ name, path: [], labels: ['given'] }], events: input.events.map(() => ['sent']) };
  const labels = { adds: ['tool'], drops: [] };
  const said = (reply: FinalReply): FinalReply => (reply.t === 'halt' ? reply : { ...reply, labels });
  return { ...rest, input: { ...input, flow }, answer: () => said(answer()) };
}

function ending(random: Random, seed: number, index: number): Case {
  const [source, treatment] = random.pick(ENDS);
  // What ends a worker takes half a second.
  const rare = treatment === 'cancels' && index % 100 !== 3;
  return made({ ...programOf(seed, 1), source, call: null, events: [] }, rare ? 'halts' : treatment, { fuel: 2_000_000 });
}

function ofPureTools(random: Random): Case {
  const said = random.several(1, 8, () => random.pick(EXAMPLES));
  const source = `command\n${said.map((example) => `  emit ${example}\n`).join('')}endcommand\n`;
  return made({ ...programOf(1, 1), source, call: null, events: [] }, 'answers', {});
}

function made(program: Program, treatment: Treatment, limits: LimitOptions): Case {
  const { source, globals, constants, call, events, stdin } = program;
  const answer = answering(program);
  return {
    treatment,
    answer: () => {
      const given = answer();
      return 'code' in given ? { t: 'error', ...given } : { t: 'ok', value: given.value };
    },
    input: {
      sources: [{ name: NAME, text: source }],
      globals,
      constants,
      call: call === null ? null : { name: call, args: [] },
      events,
      limits: { ...defaultLimits('run'), ...LIMITS, ...MEMORY, ...limits },
      forkId: 'fork',
      turn: false,
      stdin: stdin !== null,
      variables: [],
      pure: PURE_NAMES,
    },
  };
}

/** How a host ends a run. */
export const HALT: FinalReply = { t: 'halt', error: quotaError({ limit: 'toolCalls', allowed: 1 }, 'no more') };
