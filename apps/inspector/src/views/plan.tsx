import { useState } from 'preact/hooks';
import type { PlanCallView, PlanView } from '../../../../src/ui/views.ts';
import { counted } from '../format.ts';
import { Scroll } from '../parts/scroll.tsx';
import { Foreign, Value } from '../parts/text.tsx';
import { turnLink } from '../route.ts';

/** Calls that are shown before the reader asks for all. */
const FIRST = 100;

const CHANGES = { new: 'new', narrower: 'narrower', same: 'as before' } as const;
const EFFECTS = { none: 'no effect', read: 'reads', write: 'may change something' } as const;

/** All that a program may do at most, what matters most first, with what changed since the last grant that a person approved. */
export function Plan({ sid, plan }: { readonly sid: string; readonly plan: PlanView }) {
  const { head, since, calls, gone, notes } = plan;
  const [shown, setShown] = useState(FIRST);
  return (
    <>
      <p>
        <Foreign text={head.text} />. It makes no other calls.
      </p>
      {since !== null && (
        <p class="faint">
          Compared with the grant that was approved in <a href={turnLink(sid, since)}>turn {since}</a>
          {gone.length > 0 && (
            <>
              , which also had <Foreign text={gone.join(', ')} />
            </>
          )}
          .
        </p>
      )}
      <Scroll label="Calls of the plan" class="plan">
        <table class="plain">
          <thead>
            <tr>
              {since !== null && <th scope="col">change</th>}
              <th scope="col">call</th>
              <th scope="col">effect</th>
              <th scope="col">at most</th>
            </tr>
          </thead>
          <tbody>
            {calls.slice(0, shown).map((call, index) => (
              <Row key={index} call={call} />
            ))}
          </tbody>
        </table>
        {calls.length > shown && (
          <p class="rest">
            and {counted(calls.length - shown, 'more call')}{' '}
            <button type="button" onClick={() => setShown(calls.length)}>
              Show all
            </button>
          </p>
        )}
      </Scroll>
      {notes.length > 0 && (
        <ul class="plain" aria-label="Rules and what is not known">
          {notes.map((note, index) => (
            <li key={index}>
              <Foreign text={note.text} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function Row({ call: { tool, effects, mayChange, change, terms, cost, notes } }: { readonly call: PlanCallView }) {
  return (
    <tr class={mayChange ? 'is-changing' : ''}>
      {change !== null && (
        <td>
          <span class={`change is-${change}`}>{CHANGES[change]}</span>
        </td>
      )}
      <th scope="row">
        <code>
          <Foreign text={tool} />
        </code>
      </th>
      <td>{effects === null ? 'outside of any tool' : EFFECTS[effects]}</td>
      <td>
        <Value view={terms} label={`what ${tool} may do`} />
        {cost !== '' && (
          <>
            {'; '}
            <Foreign text={cost} />
          </>
        )}
        {notes.map((note, index) => (
          <p key={index} class="faint">
            <Foreign text={note.text} />
          </p>
        ))}
      </td>
    </tr>
  );
}
