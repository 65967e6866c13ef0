/**
 * Explores every state that a session can reach within a number of moves from its beginnings, breadth first. A state is reached by
 * repeating its moves from a new session.
 */
import { createHash } from 'node:crypto';
import type { Bound, Exploration } from '../../states/explorer.ts';
import { ACTIONS, STEPS, type Step } from './program.ts';
import { Session } from './session.ts';
import { type Move, World } from './world.ts';

/** Programs of the moves that lead on from states which others have reached. */
const FEW: readonly (readonly Step[])[] = [
  ['continue'],
  ['text', 'continue'],
  ['count', 'continue'],
  ['text', 'done'],
  ['old', 'continue'],
  ['old'],
  ['text'],
  ['abort', 'continue'],
  ['ask', 'continue'],
  ['continue', 'ask', 'again'],
  ['strict', 'ask', 'done'],
  ['whisper', 'continue'],
  ['signers fail', 'continue', 'signers work', 'continue'],
  ['primary fails', 'continue'],
  ['continue', 'later', 'done'],
  ['continue', 'rotate', 'done'],
  ['endless', 'rotate', 'much later'],
  ['endless', 'rotate', 'later'],
  ['marker', 'continue'],
  ['marker', 'done'],
];

/** Steps of which all pairs are programs of a first move. */
const PAIRED: readonly Step[] = [...ACTIONS, 'forged', 'other turn', 'expired', 'padded', 'again', 'text', 'blank'];
const PAIRS: readonly (readonly Step[])[] = PAIRED.flatMap((one) => PAIRED.map((other) => [one, other]));

const DRIVEN: readonly (readonly Step[])[] = [
  ['continue'],
  ['count', 'continue'],
  ['text', 'done', 'continue'],
  ['count'],
  ['count', 'continue', 'padded'],
  ['count', 'endless', 'continue'],
];

const turn = (...steps: readonly Step[]): Move => ({ do: 'turn', steps });

const BEGINNINGS: readonly (readonly Move[])[] = [
  [],
  [turn('text', 'continue')],
  [turn('text', 'continue'), turn('text', 'continue', 'padded'), turn('text', 'continue')],
  [turn('text', 'continue'), turn('text', 'continue')],
  [turn('count', 'primary fails'), turn('text')],
  [turn('signers fail', 'text', 'signers work', 'primary fails', 'ask')],
  [turn('strict', 'continue', 'ask', 'again'), { do: 'refuse' }],
  [turn('continue', 'ask', 'done'), { do: 'expire' }],
  [turn('signers fail', 'continue', 'signers work', 'ask', 'done'), { do: 'answer' }],
  [{ do: 'drive', steps: ['count', 'continue'], most: 'turns' }],
];

/** `moves`: most of them after a beginning; `steps`: most of them in a program of the first move. */
export async function explore({ moves = 0, steps = 0 }: Bound): Promise<Exploration> {
  const exploration = new Explorer(steps);
  for (const path of BEGINNINGS) await exploration.visit(path);
  for (let level = 0; level < moves && exploration.wrong === null; level++) await exploration.advance(level === 0);
  return exploration;
}

class Explorer implements Exploration {
  states = 0;
  transitions = 0;
  wrong: string | null = null;
  readonly #steps: number;
  readonly #seen = new Set<string>();
  #frontier: (readonly Move[])[] = [];

  constructor(steps: number) {
    this.#steps = steps;
  }

  /** Makes every move that is possible in the states of the frontier. The new states are the next frontier. */
  async advance(isFirst: boolean): Promise<void> {
    const frontier = this.#frontier;
    this.#frontier = [];
    for (const path of frontier) {
      const { session, world } = await reach(path);
      world.leave();
      for (const move of movesIn(session, this.#programs(path, isFirst))) {
        await this.visit([...path, move]);
        if (this.wrong !== null) return;
      }
    }
  }

  #programs(path: readonly Move[], isFirst: boolean): readonly (readonly Step[])[] {
    if (!isFirst || path.length > 1) return FEW;
    return path.length > 0 ? [...programsOf(this.#steps), ...FEW] : [...programsOf(this.#steps), ...PAIRS, ...FEW];
  }

  /** Makes the moves of a path, judges the last of them, and notes the state to which it leads. */
  async visit(path: readonly Move[]): Promise<void> {
    const { world, session, wrong } = await reach(path);
    world.leave();
    if (path.length > 0) this.transitions += 1;
    if (wrong[0] !== undefined) this.wrong ??= [wrong[0], ...path.map((move) => `  ${JSON.stringify(move)}`)].join('\n');
    const key = createHash('sha256').update(session.state(world)).digest('base64');
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    this.states += 1;
    this.#frontier.push(path);
  }
}

interface Reached {
  readonly world: World;
  readonly session: Session;
  /** What is wrong with the last move. */
  readonly wrong: readonly string[];
}

async function reach(path: readonly Move[]): Promise<Reached> {
  const [world, session] = [new World(), new Session()];
  await world.open();
  let wrong: readonly string[] = [];
  for (const move of path) wrong = await session.take(world, move, await world.apply(move));
  return { world, session, wrong };
}

function programsOf(most: number): readonly (readonly Step[])[] {
  const shorter = most === 0 ? [] : programsOf(most - 1);
  const longest = shorter.filter(({ length }) => length === most - 1);
  return most === 0 ? [[]] : [...shorter, ...longest.flatMap((steps) => STEPS.map((step) => [...steps, step]))];
}

const ANY: readonly Move[] = [{ do: 'restart' }, { do: 'cancel' }];

function movesIn({ status, waiting }: Session, programs: readonly (readonly Step[])[]): readonly Move[] {
  if (status !== 'open') return [{ do: 'cancel' }, turn('done'), { do: 'drive', steps: ['done'], most: 'turns' }];
  if (waiting !== null)
    return [
      ...ANY,
      ...(['resume', 'answer', 'refuse', 'expire', 'later', 'rotate'] as const).map((what): Move => ({ do: what })),
    ];
  const driven = DRIVEN.flatMap((steps) => (['turns', 'tokens'] as const).map((most): Move => ({ do: 'drive', steps, most })));
  const others = (['mute', 'prose', 'later', 'rotate'] as const).map((what): Move => ({ do: what }));
  return [...ANY, ...others, ...driven, ...programs.map((steps) => turn(...steps))];
}
