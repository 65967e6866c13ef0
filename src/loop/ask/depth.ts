import type { TurnContext } from '../../context/index.ts';

/** The value of a turn context that says how many loops it is nested in. */
export const ASK_DEPTH = 'loop.askDepth';

/** How many loops a turn is nested in; 0 for one that nobody asked for. */
export function depthOf(turn: TurnContext): number {
  const depth = turn.value(ASK_DEPTH);
  return typeof depth === 'number' ? depth : 0;
}
