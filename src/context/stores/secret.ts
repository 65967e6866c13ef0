import { inspect } from 'node:util';
import { ConfigError } from '../../wire/errors.ts';

const HIDDEN = '[secret]';

/**
 * A key or a password that cannot be printed by accident. Text, JSON, logs and inspectors show `[secret]`; copies do not
 * contain it, and it is not a value for scripts. Only {@link reveal} gives the text.
 */
export class Secret {
  readonly #text: string;

  /** Throws {@link ConfigError} (`ERR_CONFIG`) for an empty text and for a value that is not a text. The message does not show it. */
  constructor(text: string) {
    if (typeof text !== 'string' || text === '') throw new ConfigError('a secret must be a text that is not empty');
    this.#text = text;
    Object.freeze(this);
  }

  /** The secret text, for the request that needs it. Do not store it in an object that outlives the request. */
  reveal(): string {
    return this.#text;
  }

  /** `[secret]`. */
  toString(): string {
    return HIDDEN;
  }

  /** `[secret]`. */
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
