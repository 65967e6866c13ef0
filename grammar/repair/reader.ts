/** A place in the words of an expression, and what the parts of its reading ask of each other. */

import type { Word } from './lexer.ts';
import { type Scope, Unclear } from './scope.ts';
import type { Value } from './values.ts';

/** Reads an expression word by word. Operators, brackets, members and values of the shell are read by functions that take one. */
export abstract class Reader {
  readonly source: string;
  readonly words: readonly Word[];
  readonly scope: Scope;
  /** Index of the next word. */
  at = 0;

  constructor(source: string, words: readonly Word[], scope: Scope) {
    this.source = source;
    this.words = words.filter(({ kind }) => kind !== 'end' && kind !== 'comment');
    this.scope = scope;
  }

  /** An expression, with what NeuroScript has statements for. */
  abstract read(): Value;
  /** Operands joined by operators that bind at least as tightly as `level`, from 1 on. */
  abstract operand(level: number): Value;
  /** A value with the signs and words before it. */
  abstract prefix(): Value;
  /** A value with the members, indexes and arguments behind it. */
  abstract postfix(): Value;
  /** The expression that other words of the same text begin with. */
  abstract part(words: readonly Word[]): Value;

  get done(): boolean {
    return this.at >= this.words.length;
  }

  /** The text of a coming word; undefined for a string, and behind the last word. */
  peek(ahead = 0): string | undefined {
    const word = this.words[this.at + ahead];
    return word?.kind === 'text' ? undefined : word?.text;
  }

  /** Whether the next word is this one; goes past it then. */
  take(text: string): boolean {
    if (this.peek() !== text) return false;
    this.at++;
    return true;
  }

  /** Goes past a word that must be this one. Throws `Unclear`. */
  expect(text: string): Word {
    const word = this.words[this.at];
    if (word === undefined || !this.take(text)) throw new Unclear();
    return word;
  }
}
