import { labelNames } from '../../wire/labels.ts';
import type { SessionOrigins } from '../sessions/origins.ts';
import type { FailedAttempt, TurnRecord } from './record.ts';

/**
 * Labels of what attempts at a turn have said, each once. If an interpreter did not come to its end, nobody knows what its output carries: then
 * these are all labels that the run has got.
 */
export function saidBy(attempts: readonly SaidAttempt[]): readonly string[] {
  return [...new Set(attempts.flatMap(saidIn))].sort();
}

/**
 * Labels of what the agent was told of failed attempts, each once: of what they have said, and of the calls with their answers, which
 * {@link feedbackOn} shows.
 */
export function toldOf(attempts: readonly FailedAttempt[]): readonly string[] {
  const called = attempts.flatMap(({ journal }) =>
    journal.flatMap(({ flow: { call, answer } = {} }) => [
      ...labelNames([...(call?.deciding ?? []), ...(call?.args ?? []).flatMap(({ all }) => all)]),
      ...(answer?.adds ?? []),
    ]),
  );
  return [...new Set([...saidBy(attempts), ...called])].sort();
}

/** The parts of an attempt, or of a record, that tell the labels of its output. */
export interface SaidAttempt extends Pick<FailedAttempt, 'journal' | 'labels'> {
  readonly run?: FailedAttempt['run'];
  readonly inputs?: TurnRecord['inputs'];
}

function saidIn({ labels, journal, run, inputs }: SaidAttempt): readonly string[] {
  if (labels !== undefined) return labelNames([...labels.output, ...labels.scratchpad]);
  const flow = (run ?? inputs?.scene?.run)?.flow;
  if (flow === undefined) return [];
  const given = [...flow.program, ...flow.globals.flatMap((part) => part.labels), ...flow.events.flat()];
  return [...given, ...journal.flatMap((entry) => entry.flow?.answer?.adds ?? [])];
}

/** Labels of what a turn has said, and of what its agent was told of it, each once. */
export function readFrom(record: TurnRecord): readonly string[] {
  return [...new Set([...toldOf(record.attempts ?? []), ...saidBy([record])])].sort();
}

/** The labels of what the agent has read after a turn; nothing while there are none. */
export function originsAfter(origins: SessionOrigins | undefined, record: TurnRecord): { readonly origins?: SessionOrigins } {
  const said = readFrom(record);
  if (origins === undefined && said.length === 0) return {};
  const { read = [], userdata = [] } = origins ?? {};
  return { origins: { read: [...new Set([...read, ...said])].sort(), userdata } };
}
