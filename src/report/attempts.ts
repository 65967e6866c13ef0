import type { AttemptEnd, FailedAttempt, TurnRecord } from '../loop/index.ts';
import type { ErrorInfo } from '../wire/errors.ts';
import type { Palette } from '../wire/text/palette.ts';
import { printable } from '../wire/text/printable.ts';
import { counted } from '../wire/text/units.ts';
import { field, section } from './layout.ts';

const ENDS: Readonly<Record<AttemptEnd, string>> = {
  rejected: 'rejected before it ran',
  failed: 'failed while it ran',
  interrupted: 'interrupted: its worker process ended',
  rehearsed: 'failed in its rehearsal, against mocks',
};

/** The attempts at a turn that did not decide it, as lines, and the effects of theirs that the turn left over; none without an attempt. */
export function explainAttempts({ attempts = [], leftOver = [] }: TurnRecord, palette: Palette): string[] {
  if (attempts.length === 0) return [];
  return [
    ...section('earlier attempts', palette),
    ...attempts.flatMap((attempt, index) => explainAttempt(attempt, index + 1, palette)),
    ...field('left over', leftOverLines(leftOver), palette, leftOver.length === 0 ? palette.dim : palette.yellow),
  ];
}

function explainAttempt(attempt: FailedAttempt, number: number, palette: Palette): string[] {
  const { end, error, journal } = attempt;
  const taken = journal.filter(({ from }) => from !== undefined).length;
  const calls = `${counted(journal.length, 'call')}${taken === 0 ? '' : `, ${taken} answered by an earlier attempt`}`;
  const asked = end === 'interrupted' ? 'nothing: the same program ran again' : 'for another program';
  return [
    ...field(`${number}`, [ENDS[end]], palette, palette.red),
    ...field('error', explainError(error), palette),
    ...otherProblems(attempt, palette),
    ...(end === 'rejected' ? [] : field('calls', [calls], palette)),
    ...field('asked', [asked], palette),
  ];
}

/** The problems of a rejected program after the first, which is its error. */
function otherProblems({ problems }: FailedAttempt, palette: Palette): string[] {
  const lines = problems.slice(1).map(({ code, line, column, message }) => `${line}:${column}: ${printable(message)} (${code})`);
  return lines.length === 0 ? [] : field('also', lines, palette);
}

function leftOverLines(leftOver: NonNullable<TurnRecord['leftOver']>): string[] {
  return leftOver.map(
    ({ attempt, seq, tool }) => `call ${seq} of attempt ${attempt}: ${printable(tool)} took effect, and the turn did not take it`,
  );
}

/** An error with its place and its hint, as lines. */
export function explainError(error: ErrorInfo): string[] {
  const place = error.line === null ? '' : `${printable(error.source ?? '')}:${error.line}:${error.column ?? 1}: `;
  return [
    `${place}${printable(error.message)} (${error.code})`,
    ...(error.hint === undefined ? [] : [`hint: ${printable(error.hint)}`]),
  ];
}
