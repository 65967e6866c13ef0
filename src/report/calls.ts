import type { JournalEntry } from '../wire/journal.ts';
import type { AskSpent, TaggedJson } from '../wire/protocol.ts';
import { jsonBeginning } from '../wire/tagged.ts';
import type { Palette } from '../wire/text/palette.ts';
import { clip, printable } from '../wire/text/printable.ts';
import { counted, duration } from '../wire/text/units.ts';
import { field, valueText } from './layout.ts';

/** Maximum number of characters of one value in a line of the trace. */
const WIDTH = 400;

/** One call to the host as a line: the call, its result, its time, and the fork and line it came from. */
export function renderCall(entry: JournalEntry, palette: Palette): string {
  const { outcome, at } = entry;
  const result = outcome.ok ? `→ ${compact(outcome.value)}` : palette.red(`✗ ${failureText(outcome)}`);
  const where = printable(`fork ${at.fork}, ${at.source}:${at.line}:${at.column}${blockText(entry)}`);
  const spent = entry.kind === 'ask' && entry.spent !== undefined ? `, ${spentText(entry.spent)}` : '';
  const cost = palette.dim(`(${entry.ms.toFixed(1)} ms${spent}, ${where})`);
  return `${palette.dim(`#${entry.seq}`)} ${callText(entry, compact)} ${result} ${cost}`;
}

/** One call to the host as a field of a report: the call, its result below it, and its place. */
export function explainCall(entry: JournalEntry, palette: Palette): string[] {
  const { outcome } = entry;
  return [
    ...field(`${entry.seq}`, [callText(entry, valueText)], palette),
    ...(outcome.ok
      ? field('', [`= ${valueText(outcome.value)}`], palette)
      : field('', [failureText(outcome)], palette, palette.red)),
    ...field(
      '',
      [
        `at ${printable(entry.at.source)}:${entry.at.line}, after ${duration(entry.begin)}, took ${duration(entry.ms)}${blockText(entry)}`,
      ],
      palette,
      palette.dim,
    ),
  ];
}

/** Names the block of a call that ran together with others, by its first call. */
function blockText({ at }: JournalEntry): string {
  return at.together === undefined ? '' : `, in the block of #${at.together}`;
}

function callText(entry: JournalEntry, show: (value: TaggedJson) => string): string {
  switch (entry.kind) {
    case 'tool':
      return `${printable(entry.name)}(${entry.args.map(show).join(', ')})`;
    case 'prompt':
      return `promptuser ${show(entry.text)}`;
    case 'ask':
      return `ask ${show(entry.model)}, ${show(entry.prompt)}${entry.options === null ? '' : ` with ${show(entry.options)}`}`;
  }
}

function failureText(outcome: Exclude<JournalEntry['outcome'], { readonly ok: true }>): string {
  return 'halted' in outcome
    ? `stopped: ${printable(outcome.halted.message)} (${outcome.halted.code})`
    : `failed: ${printable(outcome.message)} (NS${outcome.code})`;
}

/** The cost of the nested loop of an `ask`, in a few words. */
function spentText({ turns, fuel, tokens }: AskSpent): string {
  return `${counted(turns, 'turn')}, fuel ${fuel}${tokens === 0 ? '' : `, ${tokens} tokens`}`;
}

function compact(value: TaggedJson): string {
  return clip(printable(jsonBeginning(value, WIDTH)), WIDTH);
}
