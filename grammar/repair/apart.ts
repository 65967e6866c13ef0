/** Moves out of `together` blocks what cannot run at the same time as their calls. */

import { lineTable } from '../syntax/position.ts';
import type { Change } from './apply.ts';
import { indentAt, type Word } from './lexer.ts';
import { type Piece, piecesOf } from './pieces.ts';

/** The changes of all `together` blocks whose body is more than calls. Their groups are below all those of comments. */
export function apartIn(text: string, words: readonly Word[]): readonly Change[] {
  if (!words.some((word) => word.text === 'together')) return [];
  const pieces = piecesOf(words);
  const { starts } = lineTable(text);
  const changes: Change[] = [];
  for (const [index, head] of pieces.entries()) {
    const length = pieces.slice(index + 1).findIndex((piece) => isWord(piece, 'endtogether'));
    const end = pieces[index + 1 + length];
    if (!isWord(head, 'together') || length < 1 || end === undefined) continue;
    const body = pieces.slice(index + 1, index + 1 + length);
    const group = -2 - words.length - index;
    const edits = loop(body) ?? moved(body, indentAt(text, starts, head.s));
    if (edits === null) continue;
    const ends = [edits.begins ? head : null, edits.ends ? end : null].flatMap((piece) =>
      piece === null ? [] : [line(text, piece)],
    );
    for (const edit of [...ends, ...edits.inserted]) changes.push({ ...edit, group, guessed: false });
  }
  return changes;
}

interface Edits {
  /** Whether the head of the block, and whether its end stands elsewhere. */
  readonly begins: boolean;
  readonly ends: boolean;
  readonly inserted: readonly { readonly s: number; readonly e: number; readonly text: string }[];
}

/** `together`, `for each x in xs`, a call, `endfor`, `endtogether`: the word stands in the head of the loop. */
function loop(body: readonly Piece[]): Edits | null {
  const [head, ...inner] = body;
  const isLoop = head?.words[0]?.text === 'for' && isWord(inner.at(-1), 'endfor') && inner.length > 1;
  if (head === undefined || !isLoop || !inner.slice(0, -1).every(isCall)) return null;
  return { begins: true, ends: true, inserted: [{ s: head.e, e: head.e, text: ' together' }] };
}

/** The block around the first calls that need no result of each other; what stands around them runs before it or after it. */
function moved(body: readonly Piece[], indent: string): Edits | null {
  const from = body.findIndex(isCall);
  if (from < 0 || body.slice(0, from).some(({ words: [first] }) => first?.text !== 'set' && first?.text !== 'emit')) return null;
  const set = new Set<string>();
  let to = from;
  for (; to < body.length; to++) {
    const piece = body[to];
    if (piece === undefined || !isCall(piece)) break;
    const equals = piece.words.findIndex((word) => word.text === '=');
    if (piece.words.slice(equals + 1).some((word) => word.kind === 'name' && set.has(word.text))) break;
    for (const word of piece.words.slice(1, Math.max(equals, 1))) set.add(word.text);
  }
  const [first, last] = [body[from], body[to - 1]];
  if (first === undefined || last === undefined || (from === 0 && to === body.length)) return null;
  const before = from === 0 ? [] : [{ s: first.s, e: first.s, text: `together\n${indent}  ` }];
  const after = to === body.length ? [] : [{ s: last.e, e: last.e, text: `\n${indent}endtogether` }];
  return { begins: before.length > 0, ends: after.length > 0, inserted: [...before, ...after] };
}

function isWord(piece: Piece | undefined, word: string): boolean {
  return piece?.words.length === 1 && piece.words[0]?.text === word;
}

/** `set x = tool.…(…)`, `call tool.…(…)`. */
function isCall({ words }: Piece): boolean {
  const first = words[0]?.text;
  const at = first === 'call' ? 1 : words.findIndex(({ text }) => text === '=') + 1;
  if ((first !== 'call' && first !== 'set') || words[at]?.text !== 'tool' || at === 0) return false;
  let depth = 0;
  for (const [index, { text }] of words.entries()) {
    if (text === '(') depth++;
    if (text === ')' && --depth === 0 && index > at) return index === words.length - 1;
  }
  return false;
}

/** Removes a piece with its line. */
function line(text: string, { s, e }: Piece): { readonly s: number; readonly e: number; readonly text: string } {
  const begin = text.lastIndexOf('\n', s - 1) + 1;
  const end = text.indexOf('\n', e);
  const alone = text.slice(begin, s).trim() === '' && text.slice(e, end < 0 ? text.length : end).trim() === '';
  return alone ? { s: begin, e: end < 0 ? text.length : end + 1, text: '' } : { s, e, text: '' };
}
