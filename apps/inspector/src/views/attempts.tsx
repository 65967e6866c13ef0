import type { AttemptView, TextView, TurnView } from '../../../../src/ui/views.ts';
import { counted } from '../format.ts';
import { ErrorText } from '../parts/error.tsx';
import { Section } from '../parts/marks.tsx';
import { Foreign, LongText } from '../parts/text.tsx';
import { compareLink, sideOf } from '../route.ts';
import { Difference } from './changes.tsx';

export const ENDS = {
  rejected: 'rejected before it ran',
  failed: 'failed while it ran',
  interrupted: 'interrupted: its worker process ended',
  rehearsed: 'failed in its rehearsal, against mocks',
} as const satisfies Readonly<Record<AttemptView['end'], string>>;

/** The attempts at a turn side by side, each with the change of its program, and the effects that the deciding one left over. */
export function Attempts({ turn }: { readonly turn: TurnView }) {
  const { attempts, program, sid } = turn;
  const last = attempts.at(-1);
  if (last === undefined) return null;
  const of = { sid, turn: turn.turn };
  return (
    <Section id="attempts" title={counted(attempts.length + 1, 'attempt')}>
      <div class="attempts">
        {attempts.map((attempt, index) => (
          <article key={attempt.attempt} class="card" aria-labelledby={`attempt-${attempt.attempt}`}>
            <h3 id={`attempt-${attempt.attempt}`}>
              Attempt {attempt.attempt}: {ENDS[attempt.end]}
            </h3>
            <Program before={attempts[index - 1]?.program ?? null} now={attempt.program} number={attempt.attempt} of={of} />
            <Failure attempt={attempt} />
            <p>
              <a href={compareLink(sideOf(sid, turn.turn, attempt.attempt), sideOf(sid, turn.turn))}>
                compare with the attempt that decided
              </a>
            </p>
          </article>
        ))}
        <article class="card" aria-labelledby="attempt-last">
          <h3 id="attempt-last">
            Attempt {last.attempt + 1}: {turn.decision}
          </h3>
          {program !== null && <Program before={last.program} now={program} number={last.attempt + 1} of={of} />}
        </article>
      </div>
      <LeftOver turn={turn} />
    </Section>
  );
}

/** The effects of earlier attempts that the one that decided did not take: nobody has seen their answers. */
export function LeftOver({ turn: { leftOver } }: { readonly turn: Pick<TurnView, 'leftOver'> }) {
  if (leftOver.length === 0) return null;
  return (
    <>
      <h3>Left-over effects</h3>
      <ul class="plain" id="left-over">
        {leftOver.map(({ attempt, seq, tool }) => (
          <li key={`${attempt}.${seq}`} class="problem">
            Call {seq} of attempt {attempt}, <Foreign text={tool} />, took effect, and the last attempt did not take its answer.
          </li>
        ))}
      </ul>
    </>
  );
}

interface ProgramProps {
  /** The program of the attempt before; null for the first. */
  readonly before: TextView | null;
  readonly now: TextView;
  readonly number: number;
  readonly of: { readonly sid: string; readonly turn: number };
}

/** A program as it is, or as the one before it was changed. */
function Program({ before, now, number, of }: ProgramProps) {
  const label = `Program of attempt ${number}`;
  return before === null ? <LongText view={now} label={label} of={of} /> : <Difference old={before} now={now} label={label} />;
}

function Failure({ attempt }: { readonly attempt: AttemptView }) {
  const { attempt: number, failure, problems, end, calls, taken } = attempt;
  return (
    <>
      <ErrorText failure={failure} label={`Error of attempt ${number}`} />
      {problems.length > 0 && (
        <ul class="plain">
          {problems.map((problem) => (
            <li key={problem}>
              <Foreign text={problem} />
            </li>
          ))}
        </ul>
      )}
      {end !== 'rejected' && (
        <p class="faint">
          {counted(calls, 'call')}
          {taken > 0 && `, ${taken} answered by an earlier attempt`}
        </p>
      )}
      <p class="faint">{end === 'interrupted' ? 'The same program ran again.' : 'The agent was asked for another program.'}</p>
    </>
  );
}
