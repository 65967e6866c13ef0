/** Places in the words of a statement: its brackets, its commas, the operator that assigns. */
import type { Word } from './lexer.ts';

/** Operators that change a variable. */
export const OPERATORS = new Set(['+=', '-=', '*=', '/=', '%=', '**=', '//=', '||=', '??=', '..=']);

/** Whether the first and the last word are one pair of brackets. */
export function wraps(words: readonly Word[]): boolean {
  let depth = 0;
  for (const [index, { text, kind }] of words.entries()) {
    if (kind !== 'mark') continue;
    if (/^(?:[([{]|\$[({]|\$\(\()$/.test(text)) depth += text === '$((' ? 2 : 1;
    else if (/^[)\]}]$/.test(text) && --depth === 0) return index === words.length - 1;
  }
  return false;
}

/** The place of the bracket that closes the one at `open`; -1 without one. */
export function closingOf(words: readonly Word[], open: number): number {
  let depth = 0;
  for (let at = open; at < words.length; at++) {
    const text = words[at]?.text ?? '';
    if ('([{'.includes(text)) depth++;
    else if (')]}'.includes(text) && --depth === 0) return at;
  }
  return -1;
}

/** The place of the operator that assigns; -1 without one. */
export function operatorAt(words: readonly Word[]): number {
  let depth = 0;
  for (const [index, { text, kind }] of words.entries()) {
    if (kind !== 'mark') continue;
    if ('([{'.includes(text) || text === '$((') depth++;
    else if (')]}'.includes(text)) depth--;
    else if (text === '++' || text === '--') return words.length <= index + 2 || depth > 0 ? index : -1;
    else if (depth === 0 && (text === '=' || text === ':=' || text === '<-' || OPERATORS.has(text))) return index;
  }
  return -1;
}

/** The parts between commas, or between other marks, outside of brackets. */
export function separateAtCommas(words: readonly Word[], marks: readonly string[] = [',']): readonly (readonly Word[])[] {
  const parts: Word[][] = [[]];
  let depth = 0;
  for (const word of words) {
    if ('([{'.includes(word.text)) depth++;
    if (')]}'.includes(word.text)) depth--;
    if (marks.includes(word.text) && depth === 0) parts.push([]);
    else parts.at(-1)?.push(word);
  }
  return parts;
}

/** The arguments of a command of the shell: blanks separate them. */
export function separate(words: readonly Word[]): readonly (readonly Word[])[] {
  const parts: Word[][] = [];
  for (const word of words) {
    const last = parts.at(-1);
    if (word.text === ',' && word.kind === 'mark') continue;
    if (last !== undefined && last.at(-1)?.e === word.s) last.push(word);
    else parts.push([word]);
  }
  return parts;
}

/** A word of a shell list as a value. */
export function word({ kind, text }: Word): string {
  return kind === 'name' ? `"${text}"` : text;
}
