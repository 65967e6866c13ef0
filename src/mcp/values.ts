import { MAX_MAP_KEYS } from '../wire/frames.ts';

/**
 * Maximum numbers of values in one message: the library that parses it takes some hundred bytes for each. A map with more keys could not
 * become a value of a program.
 */
export const MOST_VALUES = { containers: 100_000, items: 500_000, keys: MAX_MAP_KEYS };

/** What is called for a message with too many bytes, or too many values. */
export interface Excess {
  readonly bytes: () => void;
  readonly values: () => void;
}
