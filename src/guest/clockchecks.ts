import type { Machine } from './machine.ts';

// Work that is paid for all at once, or not at all, and still takes long: it lets the clocks be looked at on its way.

/** Rounds of a loop after which the clocks come nearer; a power of two. */
const STRETCH = 1024;
/** Statements that take as long as so many rounds, of a loop over characters or items. */
const STATEMENTS = 256;

/** In every round of a long loop that is paid for already: `round` goes up or down by one. */
export function pace(machine: Machine, round: number): void {
  if ((round & (STRETCH - 1)) === 0) machine.hasten(STATEMENTS);
}

/** V8 works out no hash of a longer text: it takes its length for one, so that all texts as long collide. */
const HASHED = 16_383;
/** Keys up to so many units are found in no time. */
export const SHORT_KEY = 256;
/** Units that are hashed in the time of a statement. */
const HASHED_PER_STATEMENT = 32;
/** Units of two texts that V8 compares in the time of a statement, where it asks only whether they are the same. */
const COMPARED_PER_STATEMENT = 1024;
/** The same where it looks at one unit after the other: for the order of two texts, or whether one begins with the other. */
const ORDERED_PER_STATEMENT = 32;

/** Before a text is looked for among others as a key; `held` is how many units the others may have, in all. */
export function paceKey(machine: Machine, key: string, held: number): void {
  const { length } = key;
  if (length <= SHORT_KEY) return;
  machine.hasten(
    length <= HASHED ? Math.floor(length / HASHED_PER_STATEMENT) : Math.floor((length + held) / COMPARED_PER_STATEMENT),
  );
}

/** Before V8 asks whether two texts of so many units are the same, unpaid. */
export function paceCompared(machine: Machine, units: number): void {
  if (units >= COMPARED_PER_STATEMENT) machine.hasten(Math.floor(units / COMPARED_PER_STATEMENT));
}

/** Before V8 looks at so many units of two texts one after the other, unpaid. */
export function paceOrdered(machine: Machine, units: number): void {
  if (units >= ORDERED_PER_STATEMENT) machine.hasten(Math.floor(units / ORDERED_PER_STATEMENT));
}
