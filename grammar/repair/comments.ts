/** Translates comments of other languages. */
import { lineTable } from '../syntax/position.ts';
import type { Change } from './apply.ts';
import { indentAt, type Word } from './lexer.ts';

/** Comments in `/*` and `*\/` that end their line. Their groups are below −1, that of prose. */
export function commentsIn(source: string, words: readonly Word[]): readonly Change[] {
  const { starts } = lineTable(source);
  const changes: Change[] = [];
  for (const [index, { kind, text, s, e }] of words.entries()) {
    if (kind !== 'comment' || !text.startsWith('/*') || (words[index + 1]?.kind ?? 'end') !== 'end') continue;
    const lines = text.replace(/^\/\*|\*\/$/g, '').split('\n');
    const inner = lines.map((line) => line.replace(/^\s*\*? ?/, '').trimEnd()).filter((line) => line !== '');
    const shown = inner.map((line) => `# ${line}`).join(`\n${indentAt(source, starts, s)}`);
    changes.push({ s, e, text: shown, group: -2 - changes.length, guessed: false });
  }
  return changes;
}
