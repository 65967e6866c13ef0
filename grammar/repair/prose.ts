/** Removes text that models write around a program: a Markdown fence, a sentence before it. */
import type { Change } from './apply.ts';

const FENCE = /^(?:```|~~~)[ \t]*\w*$/;
const BEGINS = /^[ \t]*(?:command|func|on event|::)\b/;
const SENTENCE = /^[A-Z][\w',’() -]*[.:!]$/;

/** The text with blanks in place of such lines, and the changes that delete them. They have the group −1. */
export function withoutProse(text: string): { readonly masked: string; readonly removed: readonly Change[] } {
  const lines = text.split('\n');
  const begin = lines.findIndex((line) => BEGINS.test(line));
  const fenced = lines.findIndex((line) => FENCE.test(line.trim()));
  const fences = fenced >= 0 && lines.slice(0, fenced).every((line) => line.trim() === '' || isSentence(line));
  const removed: Change[] = [];
  let at = 0;
  const kept = lines.map((line, index) => {
    const s = at;
    at += line.length + 1;
    if (!(fences && FENCE.test(line.trim())) && !((index < begin || (fences && index < fenced)) && isSentence(line))) return line;
    removed.push({ s, e: Math.min(at, text.length), text: '', group: -1, guessed: false });
    return ' '.repeat(line.length);
  });
  return { masked: kept.join('\n'), removed };
}

function isSentence(line: string): boolean {
  return line.includes(' ') && SENTENCE.test(line);
}
