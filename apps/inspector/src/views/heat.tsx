import type { TurnView } from '../../../../src/ui/views.ts';
import type { Heat, LineHeat, TurnHeat } from '../../../../src/wire/heat.ts';
import { type Answer, useAnswer, useWorld } from '../data/use.ts';
import { grouped } from '../format.ts';
import { Foreign } from '../parts/text.tsx';

/** What heat is measured in. */
export type Quantity = 'fuel' | 'us';

/** The heat of a turn, measured by executing it again. */
export function useHeat({ sid, turn }: TurnView): Answer<TurnHeat> {
  const { source } = useWorld();
  return useAnswer(() => source.heat(sid, turn), [sid, turn]);
}

export const spentText = (quantity: Quantity, amount: number): string =>
  quantity === 'fuel' ? grouped(amount) : amount >= 1000 ? `${(amount / 1000).toFixed(1)} ms` : `${Math.round(amount)} µs`;

/** The heat of each line of one source. */
export function linesOf(heat: Heat | null, source: string): ReadonlyMap<number, LineHeat> {
  return new Map(heat?.lines.filter((each) => each.source === source).map((each) => [each.line, each]));
}

/** Chooses between fuel, which is exact, and time. */
export function QuantityChoice({ value, choose }: { readonly value: Quantity; readonly choose: (value: Quantity) => void }) {
  return (
    <fieldset class="choice">
      <legend class="hidden">Heat by</legend>
      {(['fuel', 'us'] as const).map((quantity) => (
        <label key={quantity}>
          <input type="radio" name="quantity" checked={value === quantity} onChange={() => choose(quantity)} />{' '}
          {quantity === 'fuel' ? 'fuel' : 'time'}
        </label>
      ))}
    </fieldset>
  );
}

/** Why there is no heat, or whether it is that of the recorded turn. */
export function HeatNotes({ heat, problem }: { readonly heat: TurnHeat | null; readonly problem: string | null }) {
  if (heat === null) return <p class="faint">{problem === null ? 'measuring…' : <Foreign text={`no heat: ${problem}`} />}</p>;
  const notes = [
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
