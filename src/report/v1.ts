import type { V1LoopResult, V1TurnRecord } from '../loop/index.ts';
import { V1_HALT_REASONS } from '../wire/haltreasons.ts';
import { grouped } from '../wire/text/grouped.ts';
import type { Palette } from '../wire/text/palette.ts';
import { printable } from '../wire/text/printable.ts';
import { counted } from '../wire/text/units.ts';
import { explainCall } from './calls.ts';
import { field, row, rule, section, streamLines } from './layout.ts';

/** A turn of an Ask-Loop v1 for a reader at a terminal, as lines; what programs, tools and agents wrote is made printable. */
export function explainV1Turn(record: V1TurnRecord, decision: string, palette: Palette): readonly string[] {
  const { control, usage, journal, lints, error } = record;
  const notes = control.notes === null ? [] : [printable(`notes: ${control.notes}`)];
  return [
    palette.bold(`Turn ${record.turn} of loop ${printable(record.loopId)}`),
    ...(journal.length === 0 ? [] : section('calls', palette)),
    ...journal.flatMap((entry) => explainCall(entry, palette)),
    ...section('out', palette),
    ...field('OUTPUT', streamLines(record.nextOutput), palette),
    ...section('decision', palette),
    ...field('asks for', [control.signal ?? 'nothing', ...notes], palette),
    ...row('decision', [palette.bold(decision)], palette),
    ...(error === null ? [] : field('error', [printable(`${error.message} (${error.code})`)], palette)),
    ...field(
      'lints',
      lints.map((lint) => printable(`${lint.code} ${'key' in lint ? lint.key : lint.name}`)),
      palette,
    ),
    ...field(
      'used',
      [`fuel ${grouped(usage.fuel)}, ${counted(record.tokens, 'token')}, ${counted(usage.toolCalls, 'tool call')}`],
      palette,
    ),
  ];
}

/** How an Ask-Loop v1 ended, as lines. */
export function explainV1End(result: V1LoopResult, palette: Palette): readonly string[] {
  const { cause, reason, error } = result;
  const why = cause === 'host' ? `${reason}: ${V1_HALT_REASONS[reason]}` : (reason ?? cause);
  return [
    rule(palette),
    `Loop ${printable(result.loopId)}: ${palette.bold(result.decision)} after ${counted(result.turns.length, 'turn')}`,
    ...field('reason', [printable(why)], palette),
    ...(error === null ? [] : field('error', [printable(`${error.message} (${error.code})`)], palette)),
    ...field('said', streamLines(result.output), palette),
  ];
}
