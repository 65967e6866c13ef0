import { inspect } from 'node:util';
import { ConfigError } from '../../wire/errors.ts';

/** What a secret shows wherever somebody tries to print it. */
const HIDDEN = '[secret]';

/**
 * A key or a password that can be used and not seen: as text, as JSON, in a log, in an inspector, as a copy or as a value
 * for a script it is `[secret]`, nothing, or refused. {@link reveal} is the one way to it, easy to search for.
 */
export class Secret {
  readonly #text: string;

  /** Throws {@link ConfigError} (`ERR_CONFIG`), which does not show what was given, unless it is a text that is not empty. */
  constructor(text: string) {
    if (typeof text !== 'string' || text === '') throw new ConfigError('a secret must be a text that is not empty');
    this.#text = text;
    Object.freeze(this);
  }

  /** The secret itself, for the request that needs it. Never put it into an object that outlives that request. */
  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return HIDDEN;
  }

  toJSON(): string {
    return HIDDEN;
  }

  [Symbol.toPrimitive](): string {
    return HIDDEN;
  }

  [inspect.custom](): string {
    return HIDDEN;
  }
}
