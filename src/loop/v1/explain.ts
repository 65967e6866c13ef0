import { type Palette, printable, WIDTH, wrap } from '../text.ts';
import { V1_HALT_REASONS } from './diagnostics.ts';
import type { V1TurnRecord } from './record.ts';
import type { V1LoopResult } from './result.ts';

/** Most lines shown of one text. */
const MAX_LINES = 60;

/** A turn of a v1 loop for a reader at a terminal, as lines; what programs, tools and agents wrote is made printable. */
export function explainV1Turn(record: V1TurnRecord, decision: string, palette: Palette): readonly string[] {
  const { control, usage } = record;
  const notes = control.notes === null ? [] : [`notes: ${control.notes}`];
  const calls = record.journal.flatMap((entry) =>
    entry.kind === 'tool' ? [`${entry.name}${entry.outcome.ok ? '' : ' failed'}`] : [],
  );
  return [
    palette.bold(`Turn ${record.turn} of loop ${printable(record.loopId)}`),
    ...block('asks', [control.signal ?? 'nothing', ...notes], palette),
    ...block('calls', calls, palette),
    ...block('OUTPUT', record.nextOutput.split('\n'), palette),
    ...block(
      'lints',
      record.lints.map((lint) => `${lint.code} ${'key' in lint ? lint.key : lint.name}`),
      palette,
    ),
    ...block('error', record.error === null ? [] : [`${record.error.message} (${record.error.code})`], palette),
    ...block('used', [`fuel ${usage.fuel}, ${record.tokens} tokens, ${usage.toolCalls} tool calls`], palette),
    ...block('decision', [decision], palette),
  ];
}

/** How a v1 loop ended, as lines. */
export function explainV1End(result: V1LoopResult, palette: Palette): readonly string[] {
  const count = result.turns.length === 1 ? '1 turn' : `${result.turns.length} turns`;
  const why = result.cause === 'host' ? [`${result.reason}: ${V1_HALT_REASONS[result.reason]}`] : [result.reason ?? result.cause];
  return [
    palette.bold('='.repeat(WIDTH)),
    `Loop ${printable(result.loopId)}: ${palette.bold(result.decision)} after ${count}`,
    ...block('reason', why, palette),
    ...block('error', result.error === null ? [] : [`${result.error.message} (${result.error.code})`], palette),
    ...block('said', result.output.split('\n'), palette),
  ];
}

/** A label and, under it to the right, foreign text within the width; nothing for no lines. */
function block(label: string, lines: readonly string[], palette: Palette): readonly string[] {
  const shown = lines.slice(0, MAX_LINES).flatMap((line) => wrap(printable(line), WIDTH - 12));
  const more = lines.length > MAX_LINES ? [`... ${lines.length - MAX_LINES} more lines`] : [];
  return [...shown, ...more].map((line, index) => {
    const left = index === 0 ? palette.dim(label.padEnd(10)) : ' '.repeat(10);
    return `  ${left}${line}`.trimEnd();
  });
}
