/** What the translation of one program has learnt so far. */
import type { Kind } from './calls.ts';

/** Thrown where no reading is evident. The statement then stays as it is. */
export class Unclear extends Error {}

/** Names and their values, as far as the text tells them. */
export class Scope {
  /** What variables hold; a variable that is set to something unknown is in it too. */
  readonly kinds = new Map<string, Kind>();
  /** Names of procedures that the text defines. */
  readonly procedures: ReadonlySet<string>;
  /** The name of the caught error where a handler of another language is read. */
  caught: readonly string[] = [];
  /** Whether the statement at hand was read in one of several ways. */
  guessed = false;
  /** Whether `$name` in a string stands for a value. */
  dollars = false;
  /** Statements that follow the one at hand. */
  after: string[] = [];

  constructor(procedures: ReadonlySet<string>) {
    this.procedures = procedures;
  }

  kindOf(name: string): Kind {
    return this.kinds.get(name) ?? 'unknown';
  }

  guess(): void {
    this.guessed = true;
  }
}
