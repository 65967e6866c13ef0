import type { JournalEntry } from '../../wire/journal.ts';
import { jsonText, plainMaps } from '../../wire/maporder.ts';
import type { AskSpent, TaggedJson } from '../../wire/protocol.ts';
import { clip, type Paint, printable } from './text.ts';

/** Most characters of one value in a line of the trace. */
const WIDTH = 400;

/** One call to the host as a line: what was called with what, what came back, how long it took, from which fork and line. */
export function renderCall(entry: JournalEntry, paint: Paint): string {
  const outcome = entry.outcome.ok ? `→ ${json(entry.outcome.value)}` : paint.red(failure(entry.outcome));
  const where = printable(`fork ${entry.at.fork}, ${entry.at.source}:${entry.at.line}:${entry.at.column}`);
  const spent = entry.kind === 'ask' && entry.spent !== undefined ? `, ${spentText(entry.spent)}` : '';
  return `${paint.dim(`#${entry.seq}`)} ${call(entry)} ${outcome} ${paint.dim(`(${entry.ms.toFixed(1)} ms${spent}, ${where})`)}`;
}

function call(entry: JournalEntry): string {
  switch (entry.kind) {
    case 'tool':
      return `${printable(entry.name)}(${entry.args.map(json).join(', ')})`;
    case 'prompt':
      return `promptuser ${json(entry.text)}`;
    case 'ask':
      return `ask ${json(entry.model)}, ${json(entry.prompt)}${entry.options === null ? '' : ` with ${json(entry.options)}`}`;
  }
}

/** What a nested loop took, in a few words. */
function spentText({ turns, fuel, tokens }: AskSpent): string {
  return `${turns === 1 ? '1 turn' : `${turns} turns`}, fuel ${fuel}${tokens === 0 ? '' : `, ${tokens} tokens`}`;
}

function failure(outcome: Extract<JournalEntry['outcome'], { readonly ok: false }>): string {
  if ('halted' in outcome) return `✗ ${outcome.halted.code}: ${printable(outcome.halted.message)}`;
  return `✗ code ${outcome.code}: ${printable(outcome.message)}`;
}

function json(value: TaggedJson): string {
  return clip(printable(jsonText(plainMaps(value))), WIDTH);
}
