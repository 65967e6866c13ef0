import { useState } from 'preact/hooks';
import type { SessionView, WaitingView } from '../../../../src/ui/views.ts';
import type { AnswerForm } from '../../../../src/wire/journal.ts';
import { answerSample } from '../../../../src/wire/text/commandwords.ts';
import { printable } from '../../../../src/wire/text/printable.ts';
import { messageOf, useWorld } from '../data/use.ts';
import { duration } from '../format.ts';
import { ConfirmButton } from '../parts/confirm.tsx';
import { CommandLine } from '../parts/copy.tsx';
import { Facts, Moment, Section } from '../parts/marks.tsx';
import { Foreign, Value } from '../parts/text.tsx';
import { Plan } from './plan.tsx';

/** The calls that a session waits for, or the plan of its turn, and their answers where the server allows it. */
export function Waiting({ session, reload }: { readonly session: SessionView; readonly reload: () => void }) {
  const isPlan = session.calls.some(({ plan }) => plan !== null);
  return (
    <Section id="waiting" title={isPlan ? 'A plan waits for its approval' : 'Waiting calls'}>
      {session.calls.map((call) => (
        <article key={call.call} class="card">
          {call.plan === null ? <Called call={call} /> : <Plan sid={session.sid} plan={call.plan} />}
          <Facts
            facts={[
              ['waits because', call.plan === null ? <Foreign text={call.reason} /> : null],
              ['waits at', call.plan === null ? null : <Foreign text={call.tool} />],
              ['since', <Moment at={call.since} />],
              ['expires', <Expiry at={call.expiresAt} />],
              ['state', call.completed ? 'answered; the session has not gone on yet' : null],
            ]}
          />
          <Answers sid={session.sid} call={call} reload={reload} />
          <Commands sid={session.sid} call={call} />
        </article>
      ))}
    </Section>
  );
}

/** What answers a call, as long as an answer is taken. */
function Answers({ sid, call, reload }: AnswerProps) {
  if (call.completed) return null;
  if (isOver(call)) return <p class="faint">No answer is taken any more: its turn ends when a host drives the session.</p>;
  if (call.refusal === null) return <Answer sid={sid} call={call} reload={reload} />;
  return (
    <p class="faint">
      <Foreign text={call.refusal} />
    </p>
  );
}

function isOver({ expiresAt }: WaitingView): boolean {
  return expiresAt <= Date.now();
}

/** The call with its arguments. */
function Called({ call: { call, tool, args } }: { readonly call: WaitingView }) {
  return (
    <>
      <h3>
        call <Foreign text={call} />: <Foreign text={tool} />
      </h3>
      {args.map((arg, index) => (
        <p key={index} class="argument">
          <Value view={arg} label={`argument ${index + 1} of call ${call}`} />
        </p>
      ))}
    </>
  );
}

/** When a call expires: how long that is from now, and the moment. */
function Expiry({ at }: { readonly at: number }) {
  const left = at - Date.now();
  return (
    <>
      {left > 0 ? `in ${duration(left)}, ` : 'has expired, '}
      <Moment at={at} />
    </>
  );
}

/** What does the same at a terminal. */
function Commands({ sid, call: waiting }: { readonly sid: string; readonly call: WaitingView }) {
  const { call, plan, completed, answer } = waiting;
  const { about } = useWorld();
  const session = ['neuroscript', 'sessions'];
  const store = ['--store', about?.store ?? 'STORE'];
  const answers =
    plan === null
      ? ([
          ['the command that answers', [...session, 'complete', sid, '--call', call, '--result', answerSample(answer), ...store]],
        ] as const)
      : (
          [
            ['approves', 'true'],
            ['refuses', 'false'],
          ] as const
        ).map(
          ([does, value]) =>
            [
              `the command that ${does} the plan`,
              [...session, 'complete', sid, call, value, ...store, '--keys', 'KEYS'],
            ] as const,
        );
  const resume = [...session, 'resume', sid, ...store, ...(plan === null ? [] : ['--keys', 'KEYS']), '--agent', 'AGENT'];
  return (
    <details class="commands">
      <summary>At a terminal</summary>
      {!completed && !isOver(waiting) && answers.map(([what, words]) => <CommandLine key={what} words={words} what={what} />)}
      <CommandLine words={resume} what="the command that goes on" />
    </details>
  );
}

type Given = { readonly value: unknown } | { readonly error: string };

interface AnswerProps {
  readonly sid: string;
  readonly call: WaitingView;
  readonly reload: () => void;
}

/** The control for the answer that the tool declares, and below it any other answer to a call. */
function Answer({ sid, call, reload }: AnswerProps) {
  const { source, say } = useWorld();
  const [problem, setProblem] = useState<string | null>(null);
  const name = call.plan === null ? `call ${call.call}` : `the plan of turn ${call.turn}`;
  const send: Send = async (give, done) => {
    try {
      await source.complete(sid, { call: call.call, ...give() });
      say(`${done} ${name}; the session goes on when a host drives it`);
      setProblem(null);
      reload();
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  const { answer } = call;
  const id = `answer-${call.call}`;
  return (
    <>
      {answer === 'truth' ? (
        <Permission of={touchedBy(call)} send={send} />
      ) : (
        answer !== null && <Reply id={`${id}-reply`} form={answer} send={send} />
      )}
      {problem !== null && (
        <p class="problem" role="alert">
          <Foreign text={problem} />
        </p>
      )}
      {answer === null && <Another id={id} send={send} />}
      {answer !== null && call.plan === null && (
        <details>
          <summary>Another answer</summary>
          <Another id={id} send={send} />
        </details>
      )}
    </>
  );
}

type Send = (give: () => Given, done: string) => Promise<void>;

/** Approves or refuses. */
function Permission({ of, send }: { readonly of: string; readonly send: Send }) {
  const give = (value: boolean, done: string) => void send(() => ({ value }), done);
  return (
    <div class="toolbar">
      <ConfirmButton label="Approve" question={`Approve ${of}?`} act={() => give(true, 'approved')} strong />
      <ConfirmButton label="Refuse" question={`Refuse ${of}?`} act={() => give(false, 'refused')} />
    </div>
  );
}

interface ReplyProps {
  readonly id: string;
  readonly form: Exclude<AnswerForm, 'truth'>;
  readonly send: Send;
}

/** A text, a number or one of several texts. */
function Reply({ id, form, send }: ReplyProps) {
  const [text, setText] = useState('');
  const read = () => ({ value: form === 'number' ? Number(text) : text });
  const field = { id, value: text, required: form !== 'text' };
  return (
    <form
      class="answer"
      onSubmit={(event) => {
        event.preventDefault();
        void send(read, 'answered');
      }}
    >
      {typeof form !== 'string' ? (
        <fieldset>
          <legend>The answer</legend>
          {form.choices.map((choice) => (
            <label key={choice}>
              <input type="radio" name={id} required checked={choice === text} onChange={() => setText(choice)} />{' '}
              <Foreign text={choice} />
            </label>
          ))}
        </fieldset>
      ) : (
        <label for={id}>{form === 'number' ? 'The answer, a number' : 'The answer'}</label>
      )}
      {form === 'number' && (
        <input {...field} type="number" step="any" onInput={({ currentTarget }) => setText(currentTarget.value)} />
      )}
      {form === 'text' && <textarea {...field} rows={2} onInput={({ currentTarget }) => setText(currentTarget.value)} />}
      <button type="submit" class="is-strong">
        Send the answer
      </button>
    </form>
  );
}

/** What an answer concerns, in a few words. */
function touchedBy({ tool, args, plan }: WaitingView): string {
  if (plan !== null) return printable(plan.head.text);
  const text = printable(`${tool}(${args.map((arg) => arg.text).join(', ')})`);
  return text.length > 160 ? `${text.slice(0, 160)}…` : text;
}

/** Any value as JSON, or a failure. */
function Another({ id, send }: { readonly id: string; readonly send: Send }) {
  const [kind, setKind] = useState<'value' | 'error'>('value');
  const [text, setText] = useState('');
  return (
    <form
      class="answer"
      onSubmit={(event) => {
        event.preventDefault();
        void send(() => (kind === 'error' ? { error: text } : { value: readJson(text) }), 'answered');
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
