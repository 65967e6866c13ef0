import { keyText } from '../tools/index.ts';
import type { JournalEntry, JournalOutcome } from '../wire/journal.ts';

/**
 * Formats a journal for snapshots, one call per line. Times and fork ids are omitted, so equal runs give equal texts.
 */
export function journalText(journal: readonly JournalEntry[]): string {
  return journal.map((entry) => `${entry.at.source}:${entry.at.line} ${called(entry)} -> ${outcome(entry.outcome)}\n`).join('');
}

function called(entry: JournalEntry): string {
  switch (entry.kind) {
    case 'tool':
      return `${entry.name}(${entry.args.map(keyText).join(', ')})`;
    case 'prompt':
      return `promptuser ${keyText(entry.text)}`;
    case 'ask':
      return `ask ${keyText(entry.model)}, ${keyText(entry.prompt)}, ${keyText(entry.options)}`;
  }
}

function outcome(found: JournalOutcome): string {
  if (found.ok) return keyText(found.value);
  return 'halted' in found
    ? `halted ${found.halted.code}: ${keyText(found.halted.message)}`
    : `code ${found.code}: ${keyText(found.message)}`;
}
