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
  /** Whether the text at hand is one of the shell for sure. */
  shell = false;
  /** Whether a division has no fraction, as in the arithmetic of the shell. */
  whole = false;
  /** Whether the text declares variables as JavaScript does. */
  readonly script: boolean;
  /** Whether only the truth of the value at hand counts. */
  condition = false;
  /** Whether a range leaves its end out. */
  open = false;
  /** Whether the statement at hand stands in a procedure. */
  inside = false;
  /** Names that other languages let share a value with another name: parameters, items of loops, and copies. NeuroScript copies it. */
  readonly shared = new Set<string>();
  /** Statements that precede the one at hand; null where none can. */
  before: string[] | null = null;
  /** Statements that follow the one at hand. */
  after: string[] = [];

  constructor(procedures: ReadonlySet<string>, script: boolean) {
    this.procedures = procedures;
    this.script = script;
  }

  kindOf(name: string): Kind {
    return this.kinds.get(name) ?? 'unknown';
  }

  guess(): void {
    this.guessed = true;
  }
}
