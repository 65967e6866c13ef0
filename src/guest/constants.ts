import { share, type Value } from './values.ts';

/** What a name of a script may mean besides a variable. */
type Meaning = 'constant' | 'procedure' | 'event' | 'global';

/**
 * The global constants of a run: from the host before the program, and from trusted tools while it runs
 * (`def_global_const`, language.md 9.8). All forks see one at once, wherever they are; a variable of the name hides it.
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

  /** Takes a name that means nothing yet for something else, so that no constant can be confused with it. */
  reserve(name: string, meaning: Exclude<Meaning, 'constant'>): void {
    if (!this.#meanings.has(name)) this.#meanings.set(name, meaning);
  }

  /**
   * Defines a constant; gives the reason when its name means something already ("no override", language.md 9.8).
   * `redefine` allows a constant to get another value; a global, procedure or event keeps its name in any case.
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
