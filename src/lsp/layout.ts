import { format } from '../../grammar/index.ts';
import type { Range, SourceDocument } from './document.ts';

/** The edit that gives a document its canonical layout: none when it has it, or has syntax errors. Replaces only the lines that differ. */
export function layoutEdits({
  text,
  lineCount,
  uri,
}: SourceDocument): readonly { readonly range: Range; readonly newText: string }[] {
  const result = format(text, { name: uri });
  if (!result.ok) return [];
  const before = text.split(/\r\n?|\n/);
  const after = result.text.split('\n');
  let top = 0;
  while (top < before.length && top < after.length && before[top] === after[top]) top += 1;
  let bottom = 0;
  while (bottom < before.length - top && bottom < after.length - top && before.at(-1 - bottom) === after.at(-1 - bottom))
    bottom += 1;
  if (top === before.length && top === after.length) return [];
  const end = lineCount - bottom;
  const lines = after.slice(top, after.length - bottom);
  // Whole lines change, each with its end; the last line of a document has none.
  if (bottom > 0) return [{ range: range(top, 0, end, 0), newText: lines.map((line) => `${line}\n`).join('') }];
  if (top > 0)
    return [
      {
        range: range(top - 1, before[top - 1]?.length ?? 0, end - 1, before.at(-1)?.length ?? 0),
        newText: lines.map((line) => `\n${line}`).join(''),
      },
    ];
  return [{ range: range(0, 0, end - 1, before.at(-1)?.length ?? 0), newText: lines.join('\n') }];
}

function range(fromLine: number, fromCharacter: number, toLine: number, toCharacter: number): Range {
  return { start: { line: fromLine, character: fromCharacter }, end: { line: toLine, character: toCharacter } };
}
