/** Rewrites the beginning of a statement of another language, before it is read: types, capitals and words too many. */
import { KEYWORDS } from '../vocabulary/keywords.ts';
import type { Word } from './lexer.ts';

const LOWER = new Set([...KEYWORDS, 'dim', 'print', 'const', 'let', 'var']);
const TYPES = /^(?:int|long|float|double|bool|boolean|string|char|auto|[A-Z]\w*)$/;

/** The words of a statement in the order and spelling that the reader of statements knows. */
export function spelled(words: readonly Word[]): readonly Word[] {
  const [first, second, third] = words;
  if (first?.kind !== 'name' || second === undefined) return words;
  const { text } = first;
  const assigns = third?.text === '=';
  // `call x = f()`, `let set x = 1`, `set let x = 1`
  if (text === 'call' && second.kind === 'name' && assigns) return words.slice(1);
  if (/^(?:let|const|var)$/.test(text) && second.text === 'set') return words.slice(1);
  if (text === 'set' && /^(?:let|const|var)$/.test(second.text) && third?.kind === 'name') return words.slice(1);
  const lower = text.toLowerCase();
  if (text !== lower && LOWER.has(lower) && !/^[=.(]$/.test(second.text)) return [{ ...first, text: lower }, ...words.slice(1)];
  const at = typeEnd(words);
  return at > 0 && words[at]?.kind === 'name' && words[at + 1]?.text === '=' ? words.slice(at) : words;
}

/** The place after a type such as `int`, `List<String>` or `string[]`; 0 without one. */
export function typeEnd(words: readonly Word[]): number {
  if (words[0]?.kind !== 'name' || !TYPES.test(words[0].text)) return 0;
  let at = 1;
  if (words[at]?.text === '<') {
    const close = words.findIndex(({ text }) => text === '>');
    if (close < 0 || !words.slice(2, close).every(({ kind, text }) => kind === 'name' || /^[,?[\]]$/.test(text))) return 0;
    at = close + 1;
  }
  while (words[at]?.text === '[' && words[at + 1]?.text === ']') at += 2;
  return words[at]?.text === '?' ? at + 1 : at;
}
