/** A cursor in the words of an expression, with the functions that read its parts. */

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

  /** Reads an expression, including forms that become statements in NeuroScript. */
  abstract read(): Value;
  /** Reads operands joined by operators that bind at least as tightly as `level`, from 1 on. */
  abstract operand(level: number): Value;
  /** Reads a value with its prefix operators. */
  abstract prefix(): Value;
  /** Reads a value with its members, indexes and arguments. */
  abstract postfix(): Value;
  /** The expression that other words of the same text begin with. */
  abstract part(words: readonly Word[]): Value;

  get done(): boolean {
    return this.at >= this.words.length;
  }

  /** The text of a later word; undefined for a string, and after the last word. */
  peek(ahead = 0): string | undefined {
    const word = this.words[this.at + ahead];
    return word?.kind === 'text' ? undefined : word?.text;
  }

  /** Consumes the next word if it is this one. Returns whether it was. */
  take(text: string): boolean {
    if (this.peek() !== text) return false;
    this.at++;
    return true;
  }

  /** Consumes the next word, which must be this one. Throws `Unclear`. */
  expect(text: string): Word {
    const word = this.words[this.at];
    if (word === undefined || !this.take(text)) throw new Unclear();
    return word;
  }
}
