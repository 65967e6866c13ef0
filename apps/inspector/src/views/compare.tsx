import type { ComponentChildren } from 'preact';
import type { AttemptView, CallView, SessionView, TextView, TurnRow, TurnView } from '../../../../src/ui/views.ts';
import { printable } from '../../../../src/wire/text/printable.ts';
import { useAnswer, useWorld } from '../data/use.ts';
import { counted, duration, grouped, lasted, usdText } from '../format.ts';
import { Badge, Facts, Pending, Section, SessionName, Status } from '../parts/marks.tsx';
import { Scroll } from '../parts/scroll.tsx';
import { Foreign } from '../parts/text.tsx';
import { compareLink, type Side, sessionLink, sideOf, turnLink } from '../route.ts';
import { ENDS } from './attempts.tsx';
import { SideChanges } from './changes.tsx';
import { Denial } from './verdict.tsx';

interface CompareProps {
  readonly left: Side;
  readonly right: Side;
}

/** What a side is, in words. */
export function sideName({ sid, turn, attempt }: Side): string {
  const what = [...(attempt === null ? [] : [`attempt ${attempt}`]), ...(turn === null ? [] : [`turn ${turn}`]), printable(sid)];
  return what.join(' of ');
}

/** Two sessions, turns or attempts side by side. */
export function Compare({ left, right }: CompareProps) {
  return (
    <>
      <nav class="crumbs" aria-label="Path">
        <a href="#/">Sessions</a>
        {(left.turn !== null || right.turn !== null) && left.sid !== right.sid && (
          <>
            {' › '}
            <a href={compareLink(sideOf(left.sid), sideOf(right.sid))} id="up">
              both sessions
            </a>
          </>
        )}
      </nav>
      {left.turn === null || right.turn === null ? (
        <Sessions left={left} right={right} />
      ) : (
        <Turns left={left} right={right} turns={[left.turn, right.turn]} />
      )}
    </>
  );
}

/** Two sessions: how they ended, what they used, and their turns in pairs. */
function Sessions({ left, right }: CompareProps) {
  const { source } = useWorld();
  const one = useAnswer(() => source.session(left.sid), [left.sid]);
  const other = useAnswer(() => source.session(right.sid), [right.sid]);
  return (
    <>
      <div class="head">
        <h1>Two sessions compared</h1>
      </div>
      {one.value === null || other.value === null ? (
        <Pending problem={one.problem ?? other.problem} what="the sessions" />
      ) : (
        <Both sessions={[one.value, other.value]} />
      )}
    </>
  );
}

type Pair<Each> = readonly [left: Each, right: Each];

function Both({ sessions }: { readonly sessions: Pair<SessionView> }) {
  const [one, other] = sessions;
  const count = Math.max(one.timeline.turns.length, other.timeline.turns.length);
  const isCut = one.timeline.next !== null || other.timeline.next !== null;
  const rows = Array.from({ length: count }, (_, index): Pair<TurnRow | null> => {
    const at = ({ timeline }: SessionView) => timeline.turns.find(({ turn }) => turn === index + 1) ?? null;
    return [at(one), at(other)];
  });
  return (
    <>
      <div class="columns beside">
        {sessions.map((session, index) => (
          <section key={index} class="card" aria-label={session.sid}>
            <h2>
              <a href={sessionLink(session.sid)}>
                <SessionName row={session} />
              </a>{' '}
              <Status row={session} />
            </h2>
            <Facts
              facts={[
                ['subject', session.subject === null ? null : <Foreign text={session.subject} />],
                ['agent', session.agent === null ? null : <Foreign text={session.agent} />],
                ['reason', session.reason === null ? '–' : <Foreign text={session.reason} />],
                ['turns', grouped(session.turns)],
                ['lasted', lasted(session)],
                ['fuel', session.sum === null ? null : grouped(session.sum.fuel)],
                ['model tokens', session.sum === null ? null : grouped(session.sum.tokens)],
                ['cost', session.sum === null || session.sum.cost === 0 ? null : usdText(session.sum.cost)],
              ]}
            />
          </section>
        ))}
      </div>
      <Section id="pairs" title="Compared turn by turn">
        <Scroll label="Turns in pairs">
          <table class="plain">
            <thead>
              <tr>
                <th scope="col">turn</th>
                {sessions.map((session, index) => (
                  <th key={index} scope="col">
                    <SessionName row={session} />
                  </th>
                ))}
                <th scope="col">differs in</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((pair, index) => (
                <tr key={index}>
                  <th scope="row">
                    {pair.every((row) => row !== null) ? (
                      <a href={compareLink(sideOf(one.sid, index + 1), sideOf(other.sid, index + 1))}>turn {index + 1}</a>
                    ) : (
                      `turn ${index + 1}`
                    )}
                  </th>
                  {pair.map((row, at) => (
                    <td key={at}>{row === null ? <span class="faint">none</span> : <Brief row={row} />}</td>
                  ))}
                  <td class="faint">{differing(pair)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
        {isCut && <p class="faint">Only the first turns are shown; a comparison of two turns leads to the others.</p>}
      </Section>
    </>
  );
}

/** How a turn ended, and what it took. */
function Brief({ row: { decision, error, reason, latencyMs, calls, failed } }: { readonly row: TurnRow }) {
  return (
    <>
      <Badge word={decision} /> <Foreign text={error?.code ?? reason ?? ''} />{' '}
      <span class="faint">
        {duration(latencyMs)}, {counted(calls, 'call')}
        {failed > 0 && `, ${failed} failed`}
      </span>
    </>
  );
}

/** In which of their results two turns differ. */
function differing([one, other]: Pair<TurnRow | null>): string {
  if (one === null || other === null) return 'only one of them has it';
  const results = [
    ['decision', ({ decision }: TurnRow) => decision],
    ['error', ({ error, reason }: TurnRow) => error?.code ?? reason],
    ['calls', ({ calls }: TurnRow) => calls],
    ['failed calls', ({ failed }: TurnRow) => failed],
    ['fuel', ({ measures }: TurnRow) => measures.find(({ limit }) => limit === 'fuel')?.used],
  ] as const;
  const found = results.filter(([, of]) => of(one) !== of(other)).map(([name]) => name);
  return found.length === 0 ? 'nothing' : found.join(', ');
}

/** Two turns or attempts: decisions, calls, and the differences of program and output. */
function Turns({ left, right, turns: [turn, otherTurn] }: CompareProps & { readonly turns: Pair<number> }) {
  const { source } = useWorld();
  const one = useAnswer(() => source.turn(left.sid, turn), [left.sid, turn]);
  const other = useAnswer(() => source.turn(right.sid, otherTurn), [right.sid, otherTurn]);
  const step = (by: number) => compareLink(sideOf(left.sid, turn + by), sideOf(right.sid, otherTurn + by));
  const [a, b] = [one.value && partOf(one.value, left), other.value && partOf(other.value, right)];
  return (
    <>
      <div class="head">
        <h1>Two {left.attempt === null && right.attempt === null ? 'turns' : 'attempts'} compared</h1>
        <nav class="steps-nav" aria-label="Turns beside">
          {Math.min(turn, otherTurn) > 1 && (
            <a class="button" id="before" href={step(-1)}>
              ← turns before
            </a>
          )}
          {one.value?.after != null && other.value?.after != null && (
            <a class="button" id="after" href={step(1)}>
              turns after →
            </a>
          )}
        </nav>
      </div>
      {a === null || b === null ? (
        <Pending problem={one.problem ?? other.problem} what="the turns" />
      ) : typeof a === 'string' || typeof b === 'string' ? (
        <Pending problem={[a, b].find((each) => typeof each === 'string') ?? null} what="the attempts" />
      ) : (
        <>
          <div class="columns beside">
            <Part side={left} part={a} />
            <Part side={right} part={b} />
          </div>
          <SideChanges old={a} now={b} />
        </>
      )}
    </>
  );
}

/** What is compared of a turn, or of an attempt at it. */
interface Compared {
  readonly above: TurnView['above'];
  readonly decision: ComponentChildren;
  readonly facts: string;
  readonly program: TextView | null;
  readonly output: TextView;
  readonly scratchpad: TextView | null;
  readonly journal: readonly CallView[];
  readonly calls: number;
}

/** The side of a turn; a sentence when it has no such attempt. */
function partOf(turn: TurnView, { attempt: number }: Side): Compared | string {
  const { attempts } = turn;
  if (number === null || number === attempts.length + 1) return decided(turn);
  const attempt = attempts.find((each) => each.attempt === number);
  return attempt === undefined ? `turn ${turn.turn} has no attempt ${number}` : undecided(turn, attempt);
}

function decided(turn: TurnView): Compared {
  const { above, program, output, scratchpad, journal, calls, decision, reason, latencyMs, cost, attempts } = turn;
  const facts = [duration(latencyMs), counted(calls, 'call'), counted(attempts.length + 1, 'attempt')];
  return {
    ...{ above, program, output, scratchpad, journal, calls },
    decision: (
      <>
        <Badge word={decision} /> <span class="reason">{reason !== null && <Foreign text={reason} />}</span>
      </>
    ),
    facts: [...facts, ...(cost === 0 ? [] : [usdText(cost)])].join(', '),
  };
}

function undecided({ above }: TurnView, { program, output, journal, calls, taken, end, failure }: AttemptView): Compared {
  return {
    ...{ above, program, output, journal, calls, scratchpad: null },
    decision: (
      <span class="reason">
        {ENDS[end]}: <Foreign text={failure.message} most={200} />
      </span>
    ),
    facts: [counted(calls, 'call'), ...(taken === 0 ? [] : [`${taken} answered by an earlier attempt`])].join(', '),
  };
}

/** Most calls of a side. */
const CALLS = 100;

function Part({ side, part: { above, decision, facts, journal, calls } }: { readonly side: Side; readonly part: Compared }) {
  const { sid, turn, attempt } = side;
  return (
    <section class="card" aria-label={sideName(side)}>
      <h2>
        <a href={sessionLink(sid)}>
          <SessionName row={{ sid, above }} />
        </a>
        {turn !== null && (
          <>
            , <a href={turnLink(sid, turn, attempt === null ? 'overview' : 'changes')}>turn {turn}</a>
          </>
        )}
        {attempt !== null && `, attempt ${attempt}`}
      </h2>
      <p>{decision}</p>
      <p class="faint">{facts}</p>
      <ul class="plain mono">
        {journal.slice(0, CALLS).map((call) => (
          <li key={call.seq}>
            <Foreign text={`${call.name}(${call.args.map(({ text }) => text).join(', ')})`} most={160} />{' '}
            {call.result === null ? (
              <Denial call={call} of={turn === null ? null : { sid, turn }} />
            ) : (
              <Foreign text={`→ ${call.result.text}`} most={120} />
            )}
          </li>
        ))}
      </ul>
      {calls > CALLS && <p class="faint">and {counted(calls - CALLS, 'more call')}</p>}
    </section>
  );
}
