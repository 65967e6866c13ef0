import { useState } from 'preact/hooks';
import type { SessionView, Sum, TurnView } from '../../../../src/ui/views.ts';
import { printable } from '../../../../src/wire/text/printable.ts';
import { messageOf, useAnswer, useChanges, useWorld } from '../data/use.ts';
import { counted, duration, grouped, lasted, usdColumn, usdText } from '../format.ts';
import { ConfirmButton } from '../parts/confirm.tsx';
import { Copy } from '../parts/copy.tsx';
import { ErrorText } from '../parts/error.tsx';
import { Facts, Moment, Path, Pending, Section, SessionName, Status, sentenceOf } from '../parts/marks.tsx';
import { Scroll } from '../parts/scroll.tsx';
import { Foreign, LongText } from '../parts/text.tsx';
import { compareLink, sessionLink, sideOf, turnLink } from '../route.ts';
import { LeftOver } from './attempts.tsx';
import { Requested } from './overview.tsx';
import { Timeline } from './timeline.tsx';
import { Denial } from './verdict.tsx';
import { Waiting } from './waiting.tsx';

export function Session({ sid }: { readonly sid: string }) {
  const { source } = useWorld();
  const answer = useAnswer(() => source.session(sid), [sid]);
  useChanges(sid, (change) => change.kind === 'sessions' || (change.kind === 'session' && change.sid === sid), answer.reload);
  const { value, problem } = answer;
  if (value === null && problem !== null) return <Missing sid={sid} problem={problem} />;
  if (value === null) return <Pending problem={null} what="the session" />;
  return (
    <>
      <Head session={value} reload={answer.reload} />
      {problem !== null && <Pending problem={problem} what="" />}
      {value.calls.length > 0 && <Waiting session={value} reload={answer.reload} />}
      <Ending session={value} />
      {value.nested.length > 0 && <Nested session={value} />}
      <Section id="timeline" title={`Timeline: ${counted(value.turns, 'turn')}`}>
        <Timeline session={value} />
      </Section>
      {source.live && <CompareWith sid={sid} />}
      {value.userdata !== null && (
        <details class="block">
          <summary>USERDATA of the host</summary>
          <LongText view={value.userdata} label="USERDATA" />
        </details>
      )}
    </>
  );
}

/** A session that cannot be shown: of another store, mistyped, removed or damaged. */
function Missing({ sid, problem }: { readonly sid: string; readonly problem: string }) {
  const { about } = useWorld();
  return (
    <>
      <Path above={[]} />
      <div class="head">
        <h1>
          Session <Foreign text={sid} /> cannot be shown
        </h1>
        <Copy text={sid} what="the id of the session" />
      </div>
      <Pending problem={problem} what="" />
      {about !== null && (
        <p class="faint">
          This page shows <Foreign text={about.store} />. The id may be mistyped, or the session was removed or is in another
          store.
        </p>
      )}
    </>
  );
}

/** Leads to this session beside another one. */
function CompareWith({ sid }: { readonly sid: string }) {
  const [other, setOther] = useState('');
  return (
    <details class="block">
      <summary>Compare with another session</summary>
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          if (other.trim() !== '') location.hash = compareLink(sideOf(sid), sideOf(other.trim()));
        }}
      >
        <label class="wide">
          Its id <input type="text" value={other} onInput={({ currentTarget }) => setOther(currentTarget.value)} />
        </label>
        <button type="submit">Compare</button>
      </form>
    </details>
  );
}

function Head({ session, reload }: { readonly session: SessionView; readonly reload: () => void }) {
  const { source, say } = useWorld();
  const { sid, phase } = session;
  const cancel = async () => {
    try {
      const { ended } = await source.cancel(sid);
      say(ended ? 'the session is cancelled' : 'the process that drives the session was asked to end it');
    } catch (error) {
      say(messageOf(error));
    }
    reload();
  };
  return (
    <>
      <Path above={session.above} />
      <div class="head">
        <h1>
          <SessionName row={session} />
        </h1>
        <Copy text={sid} what="the id of the session" />
        <Status row={session} />
        {source.live && isOpen(phase) && (
          <ConfirmButton label="Cancel session" question="Cancel this session for good?" act={() => void cancel()} />
        )}
      </div>
      {session.damaged !== null && (
        <p class="problem">
          It is damaged: <Foreign text={session.damaged} />
        </p>
      )}
      {session.timeline.changed.map((turn) => (
        <p key={turn} class="problem">
          The record of <a href={turnLink(sid, turn)}>turn {turn}</a> was changed after it was sealed.
        </p>
      ))}
      {session.subject !== null && <Facts wide facts={[['subject', <Foreign text={session.subject} />]]} />}
      <Facts
        wide
        facts={[
          ['agent', session.agent === null ? null : <Foreign text={session.agent} />],
          ['began', <Moment at={session.createdAt} />],
          ['last change', <Moment at={session.updatedAt} />],
          ['lasted', lasted(session)],
          ['slowest call', slowestOf(session)],
          ['fuel', session.sum === null ? null : grouped(session.sum.fuel)],
          ['model tokens', session.sum === null || session.sum.tokens === 0 ? null : grouped(session.sum.tokens)],
          ['cost', session.sum === null || session.sum.cost === 0 ? null : usdText(session.sum.cost)],
          ['tenant', session.tenant === null || session.tenant === '' ? null : <Foreign text={session.tenant} />],
          ['driven by', session.lease === null ? null : <Foreign text={session.lease.owner} />],
          ['in turn', session.started === null ? null : session.started],
          [
            'no reply',
            !isOpen(phase) || session.message === null ? null : (
              <span class="problem">
                <Foreign text={session.message} />
              </span>
            ),
          ],
          ['log', session.owed === 0 ? null : `${counted(session.owed, 'entry')} not known to be in the log`],
          ['records', verifiedText(session)],
        ]}
      />
    </>
  );
}

/** What is known of the records of a session whose changed ones are named; null without a record. */
function verifiedText({ turns, timeline: { next, changed } }: SessionView): string | null {
  if (turns === 0) return null;
  const rest = changed.length > 0 ? 'the others unchanged' : 'unchanged';
  return next === null ? rest : `${rest} up to turn ${grouped(next)}, later ones not verified`;
}

const isOpen = (phase: SessionView['phase']): boolean => phase === 'open' || phase === 'waiting';

/** Why the session ended, and what its last turn says about it. */
function Ending({ session }: { readonly session: SessionView }) {
  const { source } = useWorld();
  const { sid, turns, phase, reason, message } = session;
  const { value: turn, problem } = useAnswer(
    () => (turns === 0 ? Promise.resolve(null) : source.turn(sid, turns)),
    [sid, turns, phase],
  );
  if (isOpen(phase) && turns === 0) return null;
  const sentence = sentenceOf(reason);
  const failure = turn?.failure ?? null;
  // What the session says of its last turn, the turn says with its excerpt.
  const isOfTurn = failure !== null && (message === null || message === failure.message);
  return (
    <section class={`ending is-${phase}`} aria-labelledby="ending">
      <h2 id="ending">{isOpen(phase) ? 'Its last turn' : 'Why it ended'}</h2>
      {!isOpen(phase) && (
        <p>
          {phase === 'done' && 'The program of the last turn said that the task is done.'}
          {phase === 'aborted' && 'The program of the last turn gave up.'}
          {phase === 'halted' && (
            <>
              The host halted it:{' '}
              <strong>
                <Foreign text={reason ?? ''} />
              </strong>
              {sentence === null ? '.' : `: ${sentence}.`}
            </>
          )}
        </p>
      )}
      {!isOpen(phase) && message !== null && !isOfTurn && (
        <p class="problem">
          <Foreign text={message} />
        </p>
      )}
      {isOfTurn && <ErrorText failure={failure} label="Error" />}
      {problem !== null && <Pending problem={problem} what="" />}
      {turn !== null && (
        <>
          <Requested turn={turn} />
          <FailedCalls turn={turn} said={failure?.message} />
          <LeftOver turn={turn} />
        </>
      )}
      {turns > 0 && <Places turn={turn} session={session} />}
    </section>
  );
}

/** Calls that failed, with their arguments. */
const FAILED = 5;

function FailedCalls({ turn, said }: { readonly turn: TurnView; readonly said: string | undefined }) {
  const failed = turn.journal.filter((call) => call.failed !== null);
  // Of a turn that was refused, nothing was called; the line says with what it would have been.
  const refused = turn.denied === null ? undefined : turn.program?.text.split('\n')[(turn.failure?.line ?? 0) - 1]?.trim();
  return (
    <ul class="plain" aria-label="Failed calls">
      {refused !== undefined && (
        <li>
          <code>
            <Foreign text={refused} />
          </code>{' '}
          in line {turn.failure?.line} was not called
        </li>
      )}
      {failed.slice(0, FAILED).map((call) => (
        <li key={call.seq}>
          <a href={turnLink(turn.sid, turn.turn, 'calls', String(call.seq))}>
            call <Foreign text={call.call} />
          </a>{' '}
          <code>
            <Foreign text={`${call.name}(${call.args.map(({ text }) => text).join(', ')})`} most={300} />
          </code>{' '}
          in line {call.at.line}: <Denial call={call} of={turn} said={said} />
        </li>
      ))}
      {failed.length > FAILED && <li class="faint">and {grouped(failed.length - FAILED)} more</li>}
    </ul>
  );
}

/** Where the questions that follow are answered. */
function Places({ turn, session: { sid, turns } }: { readonly turn: TurnView | null; readonly session: SessionView }) {
  const { live } = useWorld().source;
  const line = turn?.failure?.source === 'ACTIONS' ? turn.failure.line : null;
  return (
    <p class="places">
      <a href={turnLink(sid, turns)}>Open turn {turns}, the last one</a>
      {line !== null && <a href={turnLink(sid, turns, 'program', String(line))}>line {line}</a>}
      {turn !== null && turn.calls > 0 && <a href={turnLink(sid, turns, 'calls')}>{counted(turn.calls, 'call')}</a>}
      {turn !== null && turn.attempts.length > 0 && (
        <a href={turnLink(sid, turns, 'changes')}>{counted(turn.attempts.length + 1, 'attempt')}</a>
      )}
      <a href={turnLink(sid, turns, 'envelope')}>what the agent saw</a>
      {live && line !== null && turn?.record.notExecutable === null && (
        <a href={turnLink(sid, turns, 'trial', `without:${line}`)}>would a fix help?</a>
      )}
      {turns > 1 && <a href={compareLink(sideOf(sid, turns - 1), sideOf(sid, turns))}>compare with turn {turns - 1}</a>}
    </p>
  );
}

/** The tree of sessions that asks opened, with the sums of each. */
function Nested({ session: { nested, sum } }: { readonly session: SessionView }) {
  const usd = usdColumn([...nested.map((row) => row.sum.cost), sum?.cost ?? 0]);
  return (
    <Section id="nested" title={`Asks: ${counted(nested.length, 'session')}`}>
      <Scroll label="Tree of asks">
        <table class="plain tree">
          <thead>
            <tr>
              <th scope="col">session</th>
              <th scope="col">status</th>
              <th scope="col" class="number">
                turns
              </th>
              <th scope="col" class="number">
                fuel
              </th>
              <th scope="col" class="number">
                tokens
              </th>
              <th scope="col" class="number">
                cost
              </th>
            </tr>
          </thead>
          <tbody>
            {nested.map((row) => (
              <tr key={row.sid}>
                <th scope="row" style={{ paddingInlineStart: `${row.depth - 1}rem` }}>
                  <span aria-hidden="true">↳ </span>
                  <a href={sessionLink(row.sid)} title={printable(row.sid)}>
                    ask <Foreign text={row.above.at(-1)?.call ?? ''} />
                  </a>{' '}
                  <span class="faint">{row.agent !== null && <Foreign text={row.agent} most={60} />}</span>
                </th>
                <td>
                  <Status row={row} /> <span class="reason">{row.reason !== null && <Foreign text={row.reason} />}</span>
                </td>
                <SumCells sum={row.sum} usd={usd} />
              </tr>
            ))}
            {sum !== null && (
              <tr>
                <th scope="row" class="strong">
                  with this session
                </th>
                <td />
                <SumCells sum={sum} usd={usd} />
              </tr>
            )}
          </tbody>
        </table>
      </Scroll>
    </Section>
  );
}

function SumCells({ sum, usd }: { readonly sum: Sum; readonly usd: (amount: number) => string }) {
  return (
    <>
      {(['turns', 'fuel', 'tokens'] as const).map((key) => (
        <td key={key} class="number">
          {grouped(sum[key])}
        </td>
      ))}
      <td class="number">{sum.cost === 0 ? '–' : usd(sum.cost)}</td>
    </>
  );
}

/** The call that took longest, of the turns that the session brings along. */
function slowestOf({ sid, timeline }: SessionView) {
  const calls = timeline.turns.flatMap(({ turn, slowest }) => (slowest === null ? [] : [{ turn, ...slowest }]));
  const call = calls.toSorted((a, b) => b.ms - a.ms)[0];
  if (call === undefined) return null;
  return (
    <a href={turnLink(sid, call.turn, 'calls', String(call.seq))}>
      <Foreign text={`${call.turn}.${call.seq} ${call.name}`} most={60} />, {duration(call.ms)}
    </a>
  );
}
