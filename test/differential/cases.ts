/** The cases of a differential run: a program of a seed, under wide limits and under limits just below, at and just above what it needs. */
import { type Program, program } from '../../conformance/language/generate/programs.ts';
import { Random } from '../../conformance/language/generate/random.ts';
import type { Limits } from '../../conformance/language/interpreter/meter.ts';
import type { Outcome } from '../../conformance/language/interpreter/run.ts';
import { LIMITS } from './both.ts';

export interface Case {
  readonly program: Program;
  readonly limits: Limits;
}

/** Of so many programs, one is large. The others have a few statements, so that many can be tried. */
const LARGE = 32;
/** And one compares long texts and leaves arguments out. */
const RARE = 29;

/** The program of a seed. The first programs of two seeds have nothing in common. */
export function programOf(seed: number, index: number, mayCallTools = true): Program {
  const edges = isPointed(index);
  const tools = mayCallTools && (index % 4 === 3 || index % 8 === 5 || index % (2 * LARGE) === 0);
  const options = { small: index % LARGE !== 0, tools, asks: false, rich: true, edges, rare: index % LARGE === RARE };
  return program(Math.imul(seed, 0x9e3779b1) + index, options);
}

/** Whether a program is made for what random ones seldom reach. */
function isPointed(index: number): boolean {
  return index % 4 === 1;
}

/** Sizes that the globals and the map of an error have, whose message may have about this length. */
const LEAST = { text: 300, list: 3, map: 6 } as const;

/** The limits under which the program runs once more, chosen by what it does under wide ones. */
export function tightLimits(seed: number, index: number, { source }: Program, { fuel, emits, whispers, calls }: Outcome): Limits {
  const random = new Random(Math.imul(seed, 0x85ebca6b) ^ index);
  const near = (amount: number): number => Math.max(1, amount + random.int(3) - 1);
  const bytes = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0);
  switch (random.int(isPointed(index) ? 17 : 12)) {
    case 0:
    case 1:
    case 2:
      return { ...LIMITS, fuel: near(fuel) };
    case 3:
    case 4:
    case 5:
      return { ...LIMITS, fuel: 1 + random.int(fuel + 1) };
    case 6:
      return { ...LIMITS, evalDepth: 1 + random.int(14) };
    case 7:
      return { ...LIMITS, callDepth: 1 + random.int(4) };
    case 8:
      return { ...LIMITS, emits: Math.max(0, emits.length + random.int(3) - 1) };
    case 9:
      return { ...LIMITS, outputBytes: near(bytes(emits)), scratchBytes: near(bytes(whispers.map(({ text }) => text))) };
    case 10:
      return { ...LIMITS, textLength: LEAST.text + random.int(300), lineBytes: 1 + random.int(200) };
    case 12:
      return { ...LIMITS, toolCalls: near(calls.length), toolCallsPerTool: near(calls.length) };
    case 13:
      return { ...LIMITS, toolCallsPerTool: 1 + random.int(2), togetherCalls: 1 + random.int(3) };
    case 14:
      return { ...LIMITS, eventCount: 1 + random.int(2), deliveries: 1 + random.int(3) };
    case 15:
      return { ...LIMITS, emits: 1 + random.int(2), mapLength: LEAST.map + random.int(3) };
    case 16:
      // A message of an error is a text of the program, but only in a handler.
      return { ...LIMITS, textLength: source.includes('on error') ? LEAST.text : 70 + random.int(200) };
    default:
      return { ...LIMITS, listLength: LEAST.list + random.int(8), mapLength: LEAST.map + random.int(2) };
  }
}
