import { ConfigError } from '../../wire/errors.ts';

/** Most entries of one store, so that a program cannot fill the host's memory by registering in a loop. */
const MAX_ENTRIES = 10_000;

/** Entries by name. Names ignore letter case. The owner freezes the entries. */
export class NamedEntries<T> {
  readonly #what: string;
  readonly #entries = new Map<string, T>();

  /** `what` names one entry in messages, for instance `account`. */
  constructor(what: string) {
    this.#what = what;
  }

  /** Undefined when no entry has the name. */
  get(name: string): T | undefined {
    return this.#entries.get(String(name).toLowerCase());
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  /** Throws {@link ConfigError} (`ERR_CONFIG`) for a name that is taken and for a full store. */
  add(name: string, entry: T): void {
    if (this.has(name)) throw new ConfigError(`there is ${article(this.#what)} '${name}' already`);
    if (this.#entries.size >= MAX_ENTRIES) throw new ConfigError(`there are ${MAX_ENTRIES} ${this.#what}s already`);
    this.#entries.set(name.toLowerCase(), entry);
  }

  /** Throws {@link ConfigError} (`ERR_CONFIG`) when no entry has the name. */
  replace(name: string, entry: T): void {
    if (!this.has(name)) throw new ConfigError(`there is no ${this.#what} '${name}'`);
    this.#entries.set(name.toLowerCase(), entry);
  }

  /** False when no entry had the name. */
  delete(name: string): boolean {
    return this.#entries.delete(String(name).toLowerCase());
  }

  /** Lower-case names, sorted. */
  keys(): readonly string[] {
    return [...this.#entries.keys()].sort();
  }

  /** Entries in the order of {@link keys}. */
  values(): readonly T[] {
    return this.keys().flatMap((key) => this.#entries.get(key) ?? []);
  }
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._/:-]{0,127}$/;

/** Gives a valid name back. Throws {@link ConfigError} (`ERR_CONFIG`) for every other value. */
export function checkName(what: string, name: unknown): string {
  if (typeof name === 'string' && NAME.test(name)) return name;
  throw new ConfigError(
    `the name of ${article(what)} must be 1 to 128 letters, digits and ._/:- and begin with a letter or digit, got '${String(name).slice(0, 100)}'`,
  );
}

function article(what: string): string {
  return `${/^[aeiou]/.test(what) ? 'an' : 'a'} ${what}`;
}
