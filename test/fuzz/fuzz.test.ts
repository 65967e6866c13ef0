import { describe, expect, it } from 'vitest';
import { type Reached, tryInput } from './check.ts';
import { corpus, KINDS, type Kind, makeInput, seeds } from './inputs.ts';
import { Random } from './random.ts';

/** Inputs of each kind. `npm run fuzz` makes as many as fit its time. */
const EACH = 400;

describe('any text gives only typed errors, in bounded time, the same in every run', () => {
  const from = seeds();

  it.each(corpus())('corpus: $name', ({ text }) => {
    expect(() => tryInput(text)).not.toThrow();
  });

  it.each(KINDS)('%s', { timeout: 300_000 }, (kind) => {
    const reached = new Map<Reached, number>();
    for (let index = 0; index < EACH; index++) {
      const random = new Random(index);
      const input = makeInput(random, kind, from);
      const end = attempt(input, `${kind} ${index}`);
      reached.set(end, (reached.get(end) ?? 0) + 1);
    }
    for (const end of EXPECTED[kind]) expect(reached.get(end) ?? 0).toBeGreaterThan(0);
  });
});

/** How far some inputs of each kind must get. Otherwise the kind tests nothing. */
const EXPECTED: Readonly<Record<Kind, readonly Reached[]>> = {
  bytes: ['refused'],
  characters: ['refused'],
  soup: ['refused', 'ran'],
  mutant: ['refused', 'ran', 'failed'],
  program: ['ran', 'failed'],
};

function attempt(input: string | Uint8Array, name: string): Reached {
  try {
    return tryInput(input);
  } catch (error) {
    throw new Error(`${name}: ${JSON.stringify(typeof input === 'string' ? input : [...input])}`, { cause: error });
  }
}
