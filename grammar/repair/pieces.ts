/** Splits a program of any common language into statements: at line ends, at semicolons, at the braces of blocks. */

import { parse } from '../syntax/parse.ts';
import type { Word } from './lexer.ts';

/** A statement: its words without the comment after it, and its place. */
export interface Piece {
  readonly words: readonly Word[];
  readonly s: number;
  /** After the last word, its semicolon included. */
  readonly e: number;
  /** Whether another statement stands before it in the same line. */
  readonly follows: boolean;
}

const HEADS = new Set(
  (
    'if while until for foreach unless guard func function def fn fun proc sub procedure else elif elsif elseif try catch except finally ' +
    'switch match case when command do async repeat loop on export public static pub'
  ).split(' '),
);

/** Words that occur only at the beginning of a NeuroScript statement. */
const STARTERS = new Set(
  'set emit call whisper must fail endif endwhile endfor endfunc endcommand endon func command clear_error return break continue'.split(
    ' ',
  ),
);

/** Operators with which a statement goes on in the next line. */
const LINKS = new Set(['+', '&&', '||', '??', '==', '!=', '<=', '>=', '=', 'and', 'or']);

const OPENERS = new Set(['(', '[', '{', '${', '$(', '$((']);
const CLOSERS = new Set([')', ']', '}']);
const INNER = new Set(['=', '(', ',', '[', ':', 'in', 'of', 'return', '+', '==', 'range', ':=']);

/** The statements of a text, in order. Takes time linear in the number of words. */
export function piecesOf(words: readonly Word[]): readonly Piece[] {
  const splitter = new Splitter();
  for (const [index, word] of words.entries()) splitter.add(word, words, index);
  splitter.flush();
  return splitter.pieces;
}

class Splitter {
  readonly pieces: Piece[] = [];
  #words: Word[] = [];
  #open: string[] = [];
  #follows = false;

  add(word: Word, all: readonly Word[], index: number): void {
    const [before, next] = [all[index - 1], all[index + 1]];
    if (word.kind === 'comment') return;
    if (word.kind === 'end') {
      if (this.#open.length > 0 && !(next?.kind === 'name' && STARTERS.has(next.text))) return;
      if (this.#goesOn(next)) return;
      // C# opens its blocks in lines of their own.
      const head = this.#words.find(({ text }) => text !== '}')?.text ?? '';
      if (next?.text === '{' && this.#words.at(-1)?.text !== '{' && HEADS.has(head)) return;
      this.#open = [];
      this.flush();
      this.#follows = false;
      return;
    }
    const { text } = word;
    if (word.kind !== 'mark') this.#words.push(word);
    else if (
      (text === ';' || text === ';;') &&
      this.#open.length === 0 &&
      !this.#inHead(all, index) &&
      (this.#follows || this.#words.length > 0)
    )
      this.#end(word);
    else if (text === '{' && this.#opensBlock()) {
      this.#words.push(word);
      this.#open = [];
      this.flush();
    } else if (text === '}' && this.#open.length === 0) {
      if (before?.kind !== 'end') this.flush();
      this.#words.push(word);
    } else {
      if (OPENERS.has(text)) this.#open.push(...(text === '$((' ? ['(', '('] : [text]));
      else if (CLOSERS.has(text)) this.#open.pop();
      this.#words.push(word);
    }
    const [first, second] = this.#words;
    if (
      first?.text === '}' &&
      second !== undefined &&
      this.#words.length === 2 &&
      !/^(?:else|catch|while|finally|\)|elif|elsif|elseif)$/.test(second.text)
    ) {
      this.#words = [first];
      this.flush();
      this.#words = [second];
    }
    const head = this.#words[0]?.text ?? '';
    const colon =
      text === ':' &&
      this.#open.length === 0 &&
      HEADS.has(head) &&
      next !== undefined &&
      next.kind !== 'end' &&
      !this.#isValue() &&
      !typesOf(all, index);
    if (colon) this.flush();
  }

  /** Whether a semicolon stands in the head of a block without brackets, as in Go. */
  #inHead(all: readonly Word[], index: number): boolean {
    if (!/^(?:if|for|switch)$/.test(this.#words[0]?.text ?? '')) return false;
    let end = index;
    while (end < all.length && all[end]?.kind !== 'end') end++;
    return all[end - 1]?.text === '{';
  }

  /** Whether the line ends with an operator, or the next one begins with one. */
  #goesOn(next: Word | undefined): boolean {
    const last = this.#words.at(-1);
    if (last === undefined || next === undefined || next.kind === 'end') return false;
    const ends = last.kind === 'mark' ? LINKS.has(last.text) || last.text === '-' : last.kind === 'name' && LINKS.has(last.text);
    const begins = next.kind === 'text' ? false : LINKS.has(next.text) || next.text === '.';
    return (ends && !(next.kind === 'name' && STARTERS.has(next.text))) || (begins && next.text !== '=');
  }

  /** Ends the statement after the words so far. */
  flush(): void {
    const [first] = this.#words;
    const last = this.#words.at(-1);
    if (first === undefined || last === undefined) return;
    this.pieces.push({ words: this.#words, s: first.s, e: last.e, follows: this.#follows });
    this.#words = [];
    this.#follows = true;
  }

  /** Ends the statement with a semicolon, which belongs to it. */
  #end(mark: Word): void {
    const count = this.pieces.length;
    this.flush();
    const last = this.pieces.at(-1);
    if (last !== undefined && (this.pieces.length > count || last.e < mark.s))
      this.pieces[this.pieces.length - 1] = { ...last, e: mark.e };
    else if (last === undefined || this.pieces.length === count) {
      this.#words = [mark];
      this.flush();
    }
  }

  /** Whether a `{` after the words so far opens a block and not a map. */
  #opensBlock(): boolean {
    const [first, second] = this.#words;
    const last = this.#words.at(-1);
    if (first === undefined || last === undefined) return false;
    if (last.text === '=>' || last.text === 'do') return true;
    const typed = last.kind === 'name' && this.#words.at(-2)?.text === ']' && this.#words.at(-3)?.text === '[';
    if (typed || this.#open.length > 0 || INNER.has(last.text)) return false;
    if (first.text === '}' || HEADS.has(first.text)) return true;
    return first.kind === 'name' && second?.text === '(' && last.text === ')';
  }

  /** Whether the statement is a `case x:` or has types, so that its colon does not end a head. */
  #isValue(): boolean {
    return ['for', 'case'].includes(this.#words[0]?.text ?? '') && this.#words.length < 2;
  }
}

/** Whether a colon begins the type of what a procedure returns: `): number {`. */
function typesOf(words: readonly Word[], colon: number): boolean {
  let end = colon + 1;
  while (end < words.length && words[end]?.kind !== 'end') end++;
  return words[colon - 1]?.text === ')' && words[end - 1]?.text === '{';
}

/** Recognises statements that are NeuroScript already and stay unchanged. */
/** Whether a text is a statement of NeuroScript already, with the same calls as its replacement. */
export function isStatement(text: string, replacement: string): boolean {
  if (!BEGINS.test(text) || replacement.includes('system_error') !== text.includes('system_error')) return false;
  if (text.startsWith('return') && replacement.startsWith('emit')) return false;
  const calls = (written: string): readonly string[] => written.match(/\w+\(?/g)?.filter((name) => name.endsWith('(')) ?? [];
  const kept = new Set(calls(replacement));
  const whole = text.startsWith('return') ? `func f() means\n${text}\nendfunc` : text;
  return calls(text).every((name) => kept.has(name)) && parse(whole, { name: '', interactive: true }).ok;
}

const BEGINS = /^(?:set|emit|call|return|must|fail|whisper|ask|promptuser)\b/;

/**
 * Whether a text is the head of a NeuroScript block already, and its replacement differs only in brackets, or by a template for a sum.
 * `end` ends such a block.
 */
export function isHead(text: string, replacement: string, end: string): boolean {
  const bare = (written: string): string => written.replace(/[()\s]/g, '');
  const template = replacement.includes('```') && !text.includes('```');
  if (!template && bare(text) !== bare(replacement)) return false;
  return /^(?:if|while|for each)\b/.test(text) && parse(`${text}\nset a = 1\n${end}`, { name: '', interactive: true }).ok;
}

/** Whether two texts differ only in blanks. */
export function same(left: string, right: string): boolean {
  const bare = (text: string): string =>
    text
      .trim()
      .replace(/(\w)\s+(?=\w)/g, '$1\u0000')
      .replace(/\s+/g, '');
  return bare(left) === bare(right) && left.split('\n').length === right.split('\n').length;
}
