/** The state of the translation of one program. */
import { lastAtMost } from '../syntax/position.ts';
import type { Kind } from './calls.ts';
import type { Word } from './lexer.ts';
import type { Renaming } from './reserved.ts';

/** Thrown where no reading is evident. The statement then stays as it is. */
export class Unclear extends Error {}

/** Facts about names and the current statement, as far as the text tells them. */
export class Scope {
  /** Known values of variables. A variable that is set to something unknown has an entry too. */
  readonly kinds = new Map<string, Kind>();
  /** What the items of a list are, where all are of one kind. */
  readonly items = new Map<string, Kind>();
  /** Gives words of a text the names that they can have here. */
  readonly renamed: Renaming;
  /** The tools of the host, by canonical name. */
  readonly tools: ReadonlySet<string>;
  /** Names of procedures that the text defines. */
  readonly procedures: ReadonlySet<string>;
  /** The keys of the maps that the text writes: of them, `size` is no length. */
  readonly keys: ReadonlySet<string>;
  /** The name of the caught error in a handler of another language. */
  caught: readonly string[] = [];
  /** Whether the current statement has several readings. */
  guessed = false;
  /** Whether the current statement calls a tool with arguments that it does not take. */
  miscalls = false;
  /** Whether `$name` in a string stands for a value. */
  dollars = false;
  /** Whether `{{name}}` in quotes stands for a value. */
  filled = false;
  /** Whether the current text is certainly shell. */
  shell = false;
  /** Whether a division has no fraction, as in the arithmetic of the shell. */
  whole = false;
  /** Whether the text declares variables as JavaScript does. */
  readonly script: boolean;
  /** Whether only the truth of the current value counts. */
  condition = false;
  /** Whether a range leaves its end out. */
  open = false;
  /** Whether the current statement is in a procedure. */
  inside = false;
  /**
   * Names that share a value with another name in other languages: parameters, items of loops, and copies. NeuroScript copies the value.
   */
  readonly shared = new Set<string>();
  /** Statements to insert before the current one; null where none can be inserted. */
  before: string[] | null = null;
  /** Statements to insert after the current one. */
  after: string[] = [];
  readonly #words: readonly Word[];
  readonly #starts: readonly number[];

  constructor(words: readonly Word[], script: boolean, renamed: Renaming, tools: ReadonlySet<string>) {
    this.#words = words;
    this.#starts = words.map(({ s }) => s);
    this.procedures = proceduresOf(words);
    this.keys = keysOf(words);
    this.renamed = renamed;
    this.tools = tools;
    this.script = script;
  }

  kindOf(name: string): Kind {
    return this.kinds.get(name) ?? 'unknown';
  }

  /** The words of the text from one place to another. */
  between(s: number, e: number): readonly Word[] {
    return this.#words.slice(lastAtMost(this.#starts, s - 1) + 1, lastAtMost(this.#starts, e - 1) + 1);
  }

  guess(): void {
    this.guessed = true;
  }
}

function proceduresOf(words: readonly Word[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [index, { text, kind }] of words.entries()) {
    const next = words[index + 1];
    if (kind === 'name' && /^(?:func|function|def|fn|fun|sub|proc)$/.test(text) && next?.kind === 'name') names.add(next.text);
    const head = words[index - 1]?.kind === 'end' || index === 0;
    if (head && kind === 'name' && next?.text === '(' && words[index + 2]?.text === ')' && words[index + 3]?.text === '{')
      names.add(text);
  }
  return names;
}

function keysOf(words: readonly Word[]): ReadonlySet<string> {
  const before = words.filter(({ kind }, index) => (kind === 'text' || kind === 'name') && words[index + 1]?.text === ':');
  return new Set(before.map(({ kind, text }) => (kind === 'text' ? text.slice(1, -1) : text)));
}
