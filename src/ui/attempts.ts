import type { FailedAttempt, TurnRecord } from '../loop/index.ts';
import { callView } from './calls.ts';
import { envelopeOf, errorView, MESSAGE } from './envelope.ts';
import { sceneOf } from './record.ts';
import type { Texts } from './texts.ts';
import type { AttemptsView, AttemptView } from './views.ts';

/** Most attempts, problems and effects of a view. */
const MOST = 50;
const MOST_CALLS = 100;

export function attemptViews(record: TurnRecord, texts: Texts): AttemptsView {
  const { turn, attempts = [], leftOver = [] } = record;
  // The inputs of a malformed record are not read.
  const isSound = sceneOf(record) !== null;
  return {
    attempts: attempts.slice(0, MOST).map((attempt, index) => attemptView(attempt, index + 1, { turn, isSound, texts })),
    leftOver: leftOver.slice(0, MOST).map(({ attempt, seq, tool }) => ({ attempt, seq, tool: tool.slice(0, MESSAGE) })),
  };
}

/** A text of an attempt by its name; undefined for an unknown one. */
export function attemptText({ attempts = [] }: TurnRecord, [number, name]: readonly string[]): string | undefined {
  const attempt = attempts[Number(number) - 1];
  if (attempt === undefined) return undefined;
  return name === 'actions' ? programOf(attempt) : name === 'output' ? attempt.output : undefined;
}

interface Around {
  readonly turn: number;
  readonly isSound: boolean;
  readonly texts: Texts;
}

function attemptView(attempt: FailedAttempt, number: number, { turn, isSound, texts }: Around): AttemptView {
  const { end, error, problems, journal, output, run } = attempt;
  const program = programOf(attempt);
  return {
    attempt: number,
    end,
    program: texts.text(program, `attempt.${number}.actions`),
    failure: errorView(error, program, (isSound ? run?.sources : null) ?? []),
    problems: problems
      .slice(1, MOST)
      .map(({ code, line, column, message }) => `${line}:${column}: ${message} (${code})`.slice(0, MESSAGE)),
    calls: journal.length,
    journal: journal.slice(0, MOST_CALLS).map((entry) => callView(entry, turn, texts, () => null)),
    taken: journal.filter(({ from }) => from !== undefined).length,
    output: texts.text(output, `attempt.${number}.output`),
  };
}

function programOf({ envelope: text }: FailedAttempt): string {
  const envelope = envelopeOf(text);
  return typeof envelope === 'string' ? text : envelope.actions;
}
