import type { JournalEntry, JournalOutcome } from '../wire/journal.ts';
import { plainMaps } from '../wire/maporder.ts';
import type { TaggedJson } from '../wire/protocol.ts';

/**
 * Formats a journal for snapshots, one call per line. Times and fork ids are omitted, so equal runs give equal texts.
 */
export function journalText(journal: readonly JournalEntry[]): string {
  return journal.map((entry) => `${entry.at.source}:${entry.at.line} ${called(entry)} -> ${outcome(entry.outcome)}\n`).join('');
}

function called(entry: JournalEntry): string {
  switch (entry.kind) {
    case 'tool':
      return `${entry.name}(${entry.args.map(json).join(', ')})`;
    case 'prompt':
      return `promptuser ${json(entry.text)}`;
    case 'ask':
      return `ask ${json(entry.model)}, ${json(entry.prompt)}, ${json(entry.options)}`;
  }
}

function outcome(found: JournalOutcome): string {
  if (found.ok) return json(found.value);
  return 'halted' in found
    ? `halted ${found.halted.code}: ${json(found.halted.message)}`
    : `code ${found.code}: ${json(found.message)}`;
}

/** JSON with sorted keys. */
function json(value: TaggedJson): string {
  return JSON.stringify(plainMaps(value), (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
