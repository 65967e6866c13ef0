import type { TurnView } from '../../../../src/ui/views.ts';
import type { Heat, TurnHeat } from '../../../../src/wire/heat.ts';
import { type Answer, useAnswer, useWorld } from '../data/use.ts';
import { duration, grouped } from '../format.ts';
import { Foreign } from '../parts/text.tsx';

/** What the cost of a line is: the recorded time of its calls, or what it takes when the turn is executed again. */
export type Quantity = 'recorded' | 'fuel' | 'us';

/** What a line cost, and how often it was executed; of a recorded time, how many calls it made. */
export interface Cost {
  readonly amount: number;
  readonly times: number;
}

/** The heat of a turn, measured by executing it again; nothing is executed for a recorded quantity. */
export function useHeat({ sid, turn }: TurnView, quantity: Quantity): Answer<TurnHeat | null> {
  const { source } = useWorld();
  const measured = quantity !== 'recorded';
  return useAnswer(() => (measured ? source.heat(sid, turn) : Promise.resolve(null)), [sid, turn, measured]);
}

export const spentText = (quantity: Quantity, amount: number): string =>
  quantity === 'recorded'
    ? duration(amount)
    : quantity === 'fuel'
      ? grouped(amount)
      : amount >= 1000
        ? `${(amount / 1000).toFixed(1)} ms`
        : `${Math.round(amount)} µs`;

/** The cost of each line of one source; null while it is not known. */
export function costsOf(quantity: Quantity, turn: TurnView, heat: Heat | null, source: string): ReadonlyMap<number, Cost> | null {
  if (quantity === 'recorded') {
    const calls = Map.groupBy(
      turn.journal.filter(({ at }) => at.source === source),
      ({ at }) => at.line,
    );
    return new Map(
      Array.from(calls, ([line, made]) => [line, { amount: made.reduce((sum, { ms }) => sum + ms, 0), times: made.length }]),
    );
  }
  if (heat === null) return null;
  const own = heat.lines.filter((each) => each.source === source);
  return new Map(own.map((each) => [each.line, { amount: each[quantity], times: each.visits }]));
}

export const QUANTITIES: Readonly<Record<Quantity, string>> = {
  recorded: 'recorded time',
  fuel: 'fuel',
  us: 'time of a replay',
};

/** Chooses between the recorded time, and fuel and time of a replay. */
export function QuantityChoice({ value, choose }: { readonly value: Quantity; readonly choose: (value: Quantity) => void }) {
  return (
    <fieldset class="choice">
      <legend class="hidden">Cost by</legend>
      {(['recorded', 'fuel', 'us'] as const).map((quantity) => (
        <label key={quantity}>
          <input type="radio" name="quantity" checked={value === quantity} onChange={() => choose(quantity)} />{' '}
          {QUANTITIES[quantity]}
        </label>
      ))}
    </fieldset>
  );
}

interface HeatNotesProps {
  readonly heat: TurnHeat | null;
  readonly problem: string | null;
  readonly quantity: Quantity;
  readonly turn: TurnView;
}

/** What was measured, why there is no heat, or whether it is that of the recorded turn. */
export function HeatNotes({ heat, problem, quantity, turn }: HeatNotesProps) {
  if (quantity === 'recorded') return null;
  if (heat === null) return <p class="faint">{problem === null ? 'measuring…' : <Foreign text={`no heat: ${problem}`} />}</p>;
  const replayed = quantity === 'us' && heat.heat !== null;
  const notes = [
    ...(replayed
      ? [
          `a replay now: ${spentText('us', heat.heat?.us ?? 0)}, its calls answered from the record; the turn took ${duration(turn.latencyMs)}`,
        ]
      : []),
    ...(heat.heat === null ? [`no heat: ${heat.why ?? 'the turn cannot be executed again'}`] : heat.heat.notices),
    ...(heat.heat !== null && heat.why !== null ? [`the measured turn differs from the recorded one: ${heat.why}`] : []),
  ];
  return (
    <>
      {notes.map((note) => (
        <p key={note} class="faint">
          <Foreign text={note} />
        </p>
      ))}
    </>
  );
}
