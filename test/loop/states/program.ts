/** Programs of turns as lists of steps: their text, and what each means to somebody who only reads the specification. */
import type { Action } from './model.ts';

/** A token that the program emits: one that the magic tool gives it, or what somebody makes of that. */
export const FORGERIES = [
  'other session',
  'other turn',
  'other nonce',
  'forged',
  'nobody',
  'halt',
  'kind',
  'version',
  'no kid',
  'endless',
  'extra',
  'expired',
  'future',
  'spaced',
  'float',
  'confused',
  'padded',
  'quoted',
  'carriage',
  'next version',
  'long',
] as const;
export type Forgery = (typeof FORGERIES)[number];

export const ACTIONS: readonly Action[] = ['continue', 'done', 'abort'];

/** What emits or whispers a line, or none when no token can be made. */
export const LINES = [
  ...ACTIONS,
  ...FORGERIES,
  'again',
  'old',
  'text',
  'count',
  'blank',
  'marker',
  'whisper',
  'whisper token',
] as const;

/** What changes the world around the program. */
export const CHANGES = ['later', 'much later', 'rotate', 'primary fails', 'signers fail', 'signers work'] as const;

/** What ends the program, each with the reason by the specification. */
export const ENDS = {
  fail: 'ERR_EXEC',
  loop: 'ERR_QUOTA',
  late: 'ERR_TIMEOUT',
  large: 'ERR_ENV_SIZE',
  cancel: 'ERR_CANCELLED',
  denied: 'ERR_POLICY',
} as const;

/** `strict`: from here on an error ends the program; before, it goes on after the statement. `ask`: waits for a person. */
export type Step = (typeof LINES)[number] | (typeof CHANGES)[number] | keyof typeof ENDS | 'strict' | 'ask';

export const STEPS: readonly Step[] = [
  ...LINES,
  ...CHANGES,
  ...(Object.keys(ENDS) as (keyof typeof ENDS)[]),
  ...(['strict', 'ask'] as const),
];

const MARKER = '<<<NSENV:V3:END>>>';
const within = (list: readonly string[], step: string): boolean => list.includes(step);

/** Whether a step needs a token of the magic tool. */
export const mints = (step: Step): boolean => within(ACTIONS, step) || within(FORGERIES, step) || step === 'whisper token';

/** The action for which a step asks. A forgery that is believed aborts, so that it shows. */
export const actionOf = (step: Step): Action => (step === 'continue' || step === 'done' ? step : 'abort');

export const whispers = (step: Step): boolean => step === 'whisper' || step === 'whisper token';

/** The line of a step that does not depend on a token; null for one that does. */
export function plainLine(step: Step, turn: number): string | null {
  if (step === 'text') return 'x';
  if (step === 'count') return `turn ${turn}`;
  if (step === 'blank') return '';
  if (step === 'marker') return MARKER;
  return step === 'whisper' ? 'note' : null;
}

const LONG = 8193;

function statementOf(step: Step, turn: number): string {
  if (mints(step)) {
    const said = `tool.world.Say("${step}", tool.aeiou.magic("LOOP", {"action": "${actionOf(step)}"}))`;
    return whispers(step) ? `whisper self, ${said}` : `emit ${said}`;
  }
  if (step === 'again' || step === 'old') return `emit tool.world.Say("${step}", "")`;
  const line = plainLine(step, turn);
  if (line !== null) return whispers(step) ? `whisper self, "${line}"` : `emit "${line}"`;
  if (step === 'strict') return 'set careful = false';
  if (step === 'fail') return 'set careful = false\n  fail "on purpose"';
  if (step === 'loop') return 'while true\n    set x = 1\n  endwhile';
  if (step === 'large') return `emit "${'y'.repeat(LONG)}"`;
  if (step === 'denied') return 'set x = tool.denied.Tool()';
  if (step === 'ask') return 'set answer = tool.world.Ask()';
  return `set x = tool.world.Change("${step}")`;
}

export function programOf(steps: readonly Step[], turn: number): string {
  return [
    'command',
    '  set careful = true',
    '  on error do',
    '    if careful',
    '      clear_error',
    '    endif',
    '  endon',
    ...steps.map((step) => `  ${statementOf(step, turn)}`),
    'endcommand',
  ].join('\n');
}

/** Which signers work. */
export type Signers = 'both' | 'fallback' | 'none';

export interface Ran {
  /** The steps that emitted or whispered a line, in order. */
  readonly spoke: readonly Step[];
  /** Why the program did not come to its end; null when it did. `ERR_SUSPENDED`: it waits. */
  readonly end: string | null;
  readonly mintFailed: boolean;
  /** The steps after the one at which it waits. */
  readonly rest: readonly Step[];
  readonly careful: boolean;
}

const NOT_RUN: Ran = { spoke: [], end: null, mintFailed: false, rest: [], careful: true };

/** What a program does, from its beginning or after `earlier`. */
export function ran(steps: readonly Step[], signers: Signers, earlier: Ran = NOT_RUN): Ran {
  let { careful, mintFailed } = earlier;
  let able = signers;
  const spoke = [...earlier.spoke];
  const ended = (end: string | null, rest: readonly Step[] = []): Ran => ({ spoke, end, mintFailed, rest, careful });
  // 000, 4: the policy denies a tool before anything runs.
  if (within(steps, 'denied')) return { ...NOT_RUN, end: ENDS.denied };
  for (const [index, step] of steps.entries()) {
    if (step === 'ask') return ended('ERR_SUSPENDED', steps.slice(index + 1));
    if (step === 'strict') careful = false;
    else if (step === 'primary fails') able = 'fallback';
    else if (step === 'signers fail') able = 'none';
    else if (step === 'signers work') able = 'both';
    else if (within(Object.keys(ENDS), step)) return ended(ENDS[step as keyof typeof ENDS]);
    else if (mints(step) && able === 'none') {
      mintFailed = true;
      if (!careful) return ended('ERR_EXEC');
    } else if (within(LINES, step)) spoke.push(step);
  }
  return ended(null);
}
