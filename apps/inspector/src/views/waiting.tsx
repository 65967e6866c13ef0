import { useState } from 'preact/hooks';
import type { SessionView, WaitingView } from '../../../../src/ui/views.ts';
import { messageOf, useWorld } from '../data/use.ts';
import { Facts, Moment, Section } from '../parts/marks.tsx';
import { Foreign, Value } from '../parts/text.tsx';

/** The calls that a session waits for, and their answers where the server allows it. */
export function Waiting({ session, reload }: { readonly session: SessionView; readonly reload: () => void }) {
  return (
    <Section id="waiting" title="Waiting calls">
      {session.calls.map((call) => (
        <article key={call.call} class="card">
          <h3>
            call <Foreign text={call.call} />: <Foreign text={call.tool} />
          </h3>
          {call.args.map((arg, index) => (
            <p key={index} class="argument">
              <Value view={arg} label={`argument ${index + 1} of call ${call.call}`} />
            </p>
          ))}
          <Facts
            facts={[
              ['waits because', <Foreign text={call.reason} />],
              ['since', <Moment at={call.since} />],
              ['until', <Moment at={call.expiresAt} />],
              ['state', call.completed ? 'answered; the session has not gone on yet' : null],
            ]}
          />
          {call.completed ? null : call.refusal === null ? (
            <AnswerForm sid={session.sid} call={call} reload={reload} />
          ) : (
            <p class="faint">
              <Foreign text={call.refusal} />
            </p>
          )}
        </article>
      ))}
    </Section>
  );
}

function AnswerForm({ sid, call, reload }: { readonly sid: string; readonly call: WaitingView; readonly reload: () => void }) {
  const { source, say } = useWorld();
  const [kind, setKind] = useState<'value' | 'error'>('value');
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const send = async () => {
    try {
      const answer = kind === 'error' ? { error: text } : { value: readJson(text) };
      await source.complete(sid, { call: call.call, ...answer });
      say(`call ${call.call} has its answer`);
      setProblem(null);
      reload();
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  const id = `answer-${call.call}`;
  return (
    <form
      class="answer"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <label>
        Answer with{' '}
        <select value={kind} onChange={({ currentTarget }) => setKind(currentTarget.value === 'error' ? 'error' : 'value')}>
          <option value="value">a value</option>
          <option value="error">a failure</option>
        </select>
      </label>
      <label for={id}>{kind === 'value' ? 'The value as JSON' : 'The message of the failure'}</label>
      <textarea id={id} rows={3} spellcheck={false} value={text} onInput={({ currentTarget }) => setText(currentTarget.value)} />
      <button type="submit" class="is-strong">
        Send the answer
      </button>
      {problem !== null && (
        <p class="problem" role="alert">
          <Foreign text={problem} />
        </p>
      )}
    </form>
  );
}

/** Reads JSON that a person wrote; the error says how to write a text. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new SyntaxError('this is not JSON; a text needs quotes: "yes"');
  }
}
