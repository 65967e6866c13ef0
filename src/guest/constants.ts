import { share, type Value } from './values.ts';

/** What else than a variable a name may mean. */
type Meaning = 'constant' | 'procedure' | 'event' | 'global';

/**
 * The global constants of a run. The host defines them before the program, trusted tools while it runs (`def_global_const`). All forks
 * see a constant at once. A variable of the same name hides it.
 */
export class Constants {
  readonly #values = new Map<string, Value>();
  readonly #meanings = new Map<string, Meaning>();

  get(name: string): Value | undefined {
    return this.#values.get(name);
  }

  values(): Iterable<Value> {
    return this.#values.values();
  }

  /** Reserves a name that has no meaning yet, so that no constant can take it. */
  reserve(name: string, meaning: Exclude<Meaning, 'constant'>): void {
    if (!this.#meanings.has(name)) this.#meanings.set(name, meaning);
  }

  /**
   * Defines a constant. Returns the reason if the name has a meaning already, else null. With `redefine` a constant may get another
   * value; a global, procedure or event keeps its name in any case.
   */
  define(name: string, value: Value, redefine: boolean): string | null {
    const meaning = this.#meanings.get(name);
    if (meaning !== undefined && !(redefine && meaning === 'constant')) return `'${name}' is ${ARTICLE[meaning]} already`;
    this.#meanings.set(name, 'constant');
    this.#values.set(name, share(value));
    return null;
  }
}

const ARTICLE: Readonly<Record<Meaning, string>> = {
  constant: 'a global constant',
  procedure: 'a procedure',
  event: 'the name of an event',
  global: 'a global',
};
