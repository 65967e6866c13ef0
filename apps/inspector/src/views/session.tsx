import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { SessionView } from '../../../../src/ui/views.ts';
import { messageOf, useAnswer, useChanges, useWorld } from '../data/use.ts';
import { counted, grouped } from '../format.ts';
import { Badge, Facts, Moment, Pending, Section, sentenceOf } from '../parts/marks.tsx';
import { Foreign, LongText } from '../parts/text.tsx';
import { sessionLink, turnLink } from '../route.ts';
import { Timeline } from './timeline.tsx';
import { Waiting } from './waiting.tsx';

export function Session({ sid }: { readonly sid: string }) {
  const { source } = useWorld();
  const answer = useAnswer(() => source.session(sid), [sid]);
  useChanges(sid, (change) => change.kind === 'sessions' || (change.kind === 'session' && change.sid === sid), answer.reload);
  const { value, problem } = answer;
  if (value === null) return <Pending problem={problem} what="the session" />;
  return (
    <>
      <Head session={value} reload={answer.reload} />
      {problem !== null && <Pending problem={problem} what="" />}
      <Ending session={value} />
      {value.calls.length > 0 && <Waiting session={value} reload={answer.reload} />}
      {value.nested.length > 0 && <Nested session={value} />}
      <Section id="timeline" title={`Timeline: ${counted(value.turns, 'turn')}`}>
        <Timeline session={value} />
      </Section>
      {value.userdata !== null && (
        <details class="block">
          <summary>USERDATA of the host</summary>
          <LongText view={value.userdata} label="USERDATA" />
        </details>
      )}
    </>
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
      <nav class="crumbs" aria-label="Path">
        <a href="#/">Sessions</a>
        {session.parent?.sid && (
          <>
            {' › '}
            <a href={sessionLink(session.parent.sid)}>
              <Foreign text={session.parent.sid} />
            </a>
          </>
        )}
      </nav>
      <div class="head">
        <h1>
          <Foreign text={sid} />
        </h1>
        <Badge word={phase} />
        {source.live && (phase === 'open' || phase === 'waiting') && (
          <ConfirmButton label="Cancel session" question="Cancel this session for good?" act={() => void cancel()} />
        )}
      </div>
      <Facts
        wide
        facts={[
          ['subject', session.subject === null ? null : <Foreign text={session.subject} />],
          ['agent', session.agent === null ? null : <Foreign text={session.agent} />],
          ['began', <Moment at={session.createdAt} />],
          ['last change', <Moment at={session.updatedAt} />],
          ['fuel', session.spent === null ? null : grouped(session.spent.fuel)],
          ['model tokens', session.spent === null || session.spent.tokens === 0 ? null : grouped(session.spent.tokens)],
          ['tenant', session.tenant === null || session.tenant === '' ? null : <Foreign text={session.tenant} />],
          ['driven by', session.lease === null ? null : <Foreign text={session.lease.owner} />],
          ['in turn', session.started === null ? null : session.started],
          ['log', session.owed === 0 ? null : `${counted(session.owed, 'entry')} not known to be in the log`],
          [
            'damaged',
            session.damaged === null ? null : (
              <span class="problem">
                <Foreign text={session.damaged} />
              </span>
            ),
          ],
        ]}
      />
    </>
  );
}

/** A button whose act cannot be undone: it asks once more, in its place. */
export function ConfirmButton({
  label,
  question,
  act,
}: {
  readonly label: string;
  readonly question: string;
  readonly act: () => void;
}) {
  const [asking, setAsking] = useState(false);
  const yes = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    if (asking) yes.current?.focus();
  }, [asking]);
  if (!asking) {
    return (
      <button type="button" onClick={() => setAsking(true)}>
        {label}
      </button>
    );
  }
  return (
    <fieldset class="confirm">
      <legend>{question}</legend>
      <button
        type="button"
        class="is-strong"
        ref={yes}
        onClick={() => {
          setAsking(false);
          act();
        }}
      >
        Yes
      </button>{' '}
      <button type="button" onClick={() => setAsking(false)}>
        No
      </button>
    </fieldset>
  );
}

/** Why the session ended, and where to look. */
function Ending({ session }: { readonly session: SessionView }) {
  const { source } = useWorld();
  const { sid, turns, phase, reason } = session;
  const last = useAnswer(
    async () => (turns === 0 ? null : ((await source.turns(sid, turns - 1, 1)).turns[0] ?? null)),
    [sid, turns, phase],
  );
  if (phase === 'open' || phase === 'waiting') return null;
  const row = last.value;
  const sentence = sentenceOf(reason);
  return (
    <section class={`ending is-${phase}`} aria-labelledby="ending">
      <h2 id="ending">Why it ended</h2>
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
      {row?.error && (
        <p class="problem">
          <Foreign text={row.error.message} />{' '}
          <span class="faint">
            (<Foreign text={row.error.code} />)
          </span>
        </p>
      )}
      {turns > 0 && (
        <p>
          <a href={turnLink(sid, turns)}>Open turn {turns}, the last one</a>
          {row !== null && row.failed > 0 && (
            <>
              {' · '}
              <a href={turnLink(sid, turns, 'calls')}>{counted(row.failed, 'failed call')} of it</a>
            </>
          )}
        </p>
      )}
    </section>
  );
}

function Nested({ session }: { readonly session: SessionView }) {
  return (
    <Section id="nested" title={`Nested sessions: ${session.nested.length}`}>
      <ul class="plain">
        {session.nested.map(({ sid, phase, reason, turns, parent }) => (
          <li key={sid}>
            <Badge word={phase} />{' '}
            <a href={sessionLink(sid)}>
              <Foreign text={sid} />
            </a>{' '}
            <span class="faint">
              {counted(turns, 'turn')}
              {parent === null ? '' : `, opened in turn ${parent.turn}`} {reason !== null && <Foreign text={reason} />}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}
