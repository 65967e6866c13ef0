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

/** The labels of what the agent has read after a turn; nothing while there are none. */
export function originsAfter(origins: SessionOrigins | undefined, record: TurnRecord): { readonly origins?: SessionOrigins } {
  const said = saidBy([...(record.attempts ?? []), record]);
  if (origins === undefined && said.length === 0) return {};
  const { read = [], userdata = [] } = origins ?? {};
  return { origins: { read: [...new Set([...read, ...said])].sort(), userdata } };
}
