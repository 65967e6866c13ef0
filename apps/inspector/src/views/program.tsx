import { useState } from 'preact/hooks';
import type { TurnView } from '../../../../src/ui/views.ts';
import { printable } from '../../../../src/wire/text/printable.ts';
import { useWorld } from '../data/use.ts';
import { ErrorText } from '../parts/error.tsx';
import { turnLink } from '../route.ts';
import { costsOf, HeatNotes, type Quantity, QuantityChoice, useHeat } from './heat.tsx';
import { Listing } from './listing.tsx';

/** The program of a turn with its heat and its error. A line number leads to the moment at which the line was first executed. */
export function Program({ turn, at }: { readonly turn: TurnView; readonly at: string | null }) {
  const { sid, program, failure, record } = turn;
  const { live } = useWorld().source;
  const [quantity, setQuantity] = useState<Quantity>('recorded');
  const [chosen, setChosen] = useState<string | null>(null);
  const { value: measured, problem } = useHeat(turn, quantity);
  if (program === null) return <p class="none">The envelope cannot be read, so there is no program. The overview says why.</p>;
  const own = measured?.sources.at(-1)?.name ?? failure?.source ?? 'ACTIONS';
  const source = chosen ?? own;
  const text = source === own ? program.text : (measured?.sources.find(({ name }) => name === source)?.text ?? '');
  const heat = measured?.heat ?? null;
  const wrong = failure !== null && failure.line !== null && (failure.source ?? own) === source ? failure : null;
  return (
    <>
      <div class="toolbar">
        {record.notExecutable === null && <QuantityChoice value={quantity} choose={setQuantity} />}
        {measured !== null && measured.sources.length > 1 && (
          <label>
            Source{' '}
            <select value={source} onChange={({ currentTarget }) => setChosen(currentTarget.value)}>
              {measured.sources.map(({ name }) => (
                <option key={name} value={name}>
                  {printable(name)}
                </option>
              ))}
            </select>
          </label>
        )}
      </div>
      <HeatNotes heat={measured} problem={problem} quantity={quantity} turn={turn} />
      <Listing
        label="Program"
        text={text}
        heat={costsOf(quantity, turn, heat, source)}
        quantity={quantity}
        marked={at === null ? (wrong?.line ?? null) : Number(at)}
        below={
          wrong === null || wrong.line === null
            ? null
            : { line: wrong.line, content: <ErrorText failure={wrong} label="Error" /> }
        }
        {...(source === own && live && record.notExecutable === null
          ? { href: (line: number) => turnLink(sid, turn.turn, 'steps', `${line}:1`) }
          : {})}
      />
      {program.text.length < program.length && (
        <p class="faint">The end of the program is not shown; the envelope has all of it.</p>
      )}
    </>
  );
}
