import { inspect } from 'node:util';
import { plainWords } from '../serverschema.ts';

/** Shorter values are words, not secrets. */
const MIN_SECRET = 8;
/** Most secrets that are remembered; the oldest are forgotten. */
const MAX_SECRETS = 256;

/** Values that messages about one server must not contain. A server may repeat the secrets that it was sent. */
export class Secrets {
  readonly #values = new Set<string>();

  constructor(values: Iterable<string> = []) {
    for (const value of values) this.add(value);
  }

  /** Remembers a value, and the words in it: a server may repeat the token of `Bearer TOKEN` alone. */
  add(value: string): void {
    for (const secret of [value, ...value.split(' ')]) {
      if (secret.length < MIN_SECRET) continue;
      this.#values.delete(secret);
      this.#values.add(secret);
    }
    for (const oldest of this.#values) {
      if (this.#values.size <= MAX_SECRETS) return;
      this.#values.delete(oldest);
    }
  }

  /** A text without these values, as {@link plainWords} cleans it. */
  clean(text: string): string {
    const longestFirst = [...this.#values].sort((a, b) => b.length - a.length);
    return plainWords(longestFirst.reduce((left, secret) => left.replaceAll(secret, '[secret]'), text));
  }

  /** Whether an error shows one of these values where it is printed with all its parts. */
  isIn(error: unknown): boolean {
    const shown = inspect(error, { depth: 10, maxStringLength: null });
    return [...this.#values].some((secret) => shown.includes(secret));
  }
}
