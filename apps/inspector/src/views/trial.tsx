import { useEffect, useState } from 'preact/hooks';
import type { TriedView, TryRequest, TryView } from '../../../../src/ui/trialviews.ts';
import type { CallView, TurnSide, TurnView } from '../../../../src/ui/views.ts';
import { printable } from '../../../../src/wire/text/printable.ts';
import { messageOf, useWorld } from '../data/use.ts';
import { counted, grouped } from '../format.ts';
import { ErrorText } from '../parts/error.tsx';
import { Badge, Facts, Section, sentenceOf } from '../parts/marks.tsx';
import { Foreign, hasUnseen } from '../parts/text.tsx';
import { Difference } from './changes.tsx';
import { Denial } from './verdict.tsx';
import { readJson } from './waiting.tsx';

/** A changed answer: a JSON value, or a failure with a message. */
interface Changed {
  readonly kind: 'value' | 'error';
  readonly text: string;
}

/** What would have happened with another program or another answer. No tool runs, and nothing is stored. */
export function Trial({ turn, at }: { readonly turn: TurnView; readonly at: string | null }) {
  const { source } = useWorld();
  const recorded = turn.program?.text ?? '';
  const without = at?.startsWith('without:') ? Number(at.slice('without:'.length)) : null;
  const [program, setProgram] = useState(without === null ? recorded : withoutLine(recorded, without));
  const [answers, setAnswers] = useState<Readonly<Record<string, Changed>>>({});
  /** Calls that only a trial made, and that nothing answered. */
  const [met, setMet] = useState<readonly Askable[]>([]);
  const [outcome, setOutcome] = useState<TryView | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true);
    try {
      const tried = await source.tryOut(turn.sid, turn.turn, requestOf(program === recorded ? null : program, answers));
      setOutcome(tried);
      setMet((before) => [...before, ...unansweredOf(tried).filter(({ call }) => before.every((each) => each.call !== call))]);
      setProblem(null);
    } catch (error) {
      setProblem(messageOf(error));
    }
    setBusy(false);
  };
  // Whoever asks whether a fix would help has the first answer at once.
  useEffect(() => {
    if (without !== null && source.live && turn.record.notExecutable === null) void run();
  }, []);
  if (!source.live)
    return (
      <p class="none">
        A file has no server that could try it out. Use <code>neuroscript ui</code> or <code>neuroscript replay</code>.
      </p>
    );
  if (turn.record.notExecutable !== null)
    return (
      <p class="none">
        <Foreign text={turn.record.notExecutable} />
      </p>
    );
  const change = (call: string, next: Changed | null) => {
    const { [call]: _, ...rest } = answers;
    setAnswers(next === null ? rest : { ...rest, [call]: next });
  };
  const cut = turn.program !== null && turn.program.text.length < turn.program.length;
  return (
    <>
      <form
        class="trial"
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        {without !== null && (
          <p>
            Tried without line {without}: <code>{printable(recorded.split('\n')[without - 1]?.trim() ?? '')}</code>
          </p>
        )}
        <p class="faint">
          Change an answer or the program, and see what would have happened. No tool runs, and nothing is stored.
        </p>
        {(turn.journal.length > 0 || met.length > 0) && (
          <fieldset>
            <legend>Answers</legend>
            {[...turn.journal.slice(0, 100), ...met].map((call) => (
              <AnswerChoice key={call.call} call={call} changed={answers[call.call] ?? null} change={change} />
            ))}
          </fieldset>
        )}
        <label for="trial-program">Program</label>
        <textarea
          id="trial-program"
          class="mono"
          rows={Math.min(20, program.split('\n').length + 1)}
          spellcheck={false}
          disabled={cut}
          value={program}
          onInput={({ currentTarget }) => setProgram(currentTarget.value)}
        />
        {hasUnseen(program) && (
          <p class="problem">The program has characters that cannot be seen here. The part “Program” shows them.</p>
        )}
        {cut && (
          <p class="faint">
            The program is too long to be changed here; <code>neuroscript replay --program FILE</code> takes another.
          </p>
        )}
        <p>
          <button type="submit" class="is-strong" disabled={busy}>
            Try it out
          </button>{' '}
          <button
            type="button"
            onClick={() => {
              setProgram(recorded);
              setAnswers({});
              setMet([]);
              setOutcome(null);
            }}
          >
            Start over
          </button>
        </p>
      </form>
      <div role="status">
        {problem !== null && (
          <p class="problem">
            <Foreign text={problem} />
          </p>
        )}
        {outcome !== null && (
          <p>
            The trial ended: <Foreign text={outcome.end} />
          </p>
        )}
      </div>
      {outcome?.turns.map((tried) => (
        <Tried key={tried.turn} tried={tried} />
      ))}
    </>
  );
}

/** A program with a statement that does nothing in place of a line, because a block may not be empty. */
const withoutLine = (program: string, line: number): string =>
  program
    .split('\n')
    .map((text, index) => (index === line - 1 ? text.replace(/\S.*/, `set without_line_${line} = nil`) : text))
    .join('\n');

function requestOf(program: string | null, answers: Readonly<Record<string, Changed>>): TryRequest {
  const entries = Object.entries(answers).map(
    ([call, { kind, text }]) => [call, kind === 'error' ? { error: text } : { value: readJson(text) }] as const,
  );
  return { ...(program === null ? {} : { program }), ...(entries.length === 0 ? {} : { answers: Object.fromEntries(entries) }) };
}

/** A call whose answer may be changed; one without a record has neither a result nor a failure. */
type Askable = Pick<CallView, 'call' | 'name' | 'args' | 'result' | 'verdict' | 'failed'>;

/** The calls of tools that a trial could not answer: each is named as `1.2 tool.shop.order`. */
function unansweredOf({ turns }: TryView): readonly Askable[] {
  return turns.flatMap(({ unanswered }) =>
    unanswered.flatMap((text) => {
      const [call = '', name = ''] = text.split(' ');
      return name.startsWith('tool.') ? [{ call, name, args: [], result: null, verdict: null, failed: null }] : [];
    }),
  );
}

interface AnswerChoiceProps {
  readonly call: Askable;
  readonly changed: Changed | null;
  readonly change: (call: string, next: Changed | null) => void;
}

function AnswerChoice({ call, changed, change }: AnswerChoiceProps) {
  const id = `trial-${call.call}`;
  const recorded = call.result !== null || call.failed !== null;
  return (
    <div class="answer-choice">
      <label for={id}>
        call <Foreign text={call.call} /> <Foreign text={call.name} most={60} />{' '}
        <span class="faint">
          <Foreign text={call.args.map(({ text }) => text).join(', ')} most={100} />
        </span>
      </label>
      <select
        id={id}
        value={changed?.kind ?? 'recorded'}
        onChange={({ currentTarget: { value } }) =>
          change(
            call.call,
            value === 'recorded'
              ? null
              : value === 'error'
                ? { kind: 'error', text: 'it failed' }
                : { kind: 'value', text: call.result?.text ?? 'null' },
          )
        }
      >
        <option value="recorded">{recorded ? 'as recorded' : 'no answer'}</option>
        <option value="value">another value</option>
        <option value="error">a failure</option>
      </select>
      {changed === null ? (
        <span class="faint">
          {call.result === null ? <Denial call={call} of={null} /> : <Foreign text={call.result.text} most={100} />}
        </span>
      ) : (
        <textarea
          class="mono"
          rows={2}
          spellcheck={false}
          aria-label={`${changed.kind === 'value' ? 'JSON value' : 'message of the failure'} of call ${call.call}`}
          value={changed.text}
          onInput={({ currentTarget }) => change(call.call, { ...changed, text: currentTarget.value })}
        />
      )}
    </div>
  );
}

/** One turn of a trial, the recorded one beside the one that was tried. */
function Tried({ tried: { turn, recorded, tried, differences, unanswered } }: { readonly tried: TriedView }) {
  return (
    <Section id={`tried-${turn}`} title={`Turn ${turn}`}>
      <div class="columns beside">
        <Side title="Recorded" side={recorded} />
        <Side title="Tried" side={tried} />
      </div>
      {differences.length > 0 && (
        <>
          <h3>{counted(differences.length, 'difference')}</h3>
          <Facts
            facts={differences.map(({ where, recorded: was, replayed }) => [
              where,
              <>
                <span class="gone">
                  − <Foreign text={was === '' ? 'none' : was} most={400} />
                </span>
                <br />
                <span class="come">
                  + <Foreign text={replayed === '' ? 'none' : replayed} most={400} />
                </span>
              </>,
            ])}
          />
        </>
      )}
      {unanswered.length > 0 && (
        <p class="problem">
          Nothing answered <Foreign text={unanswered.join(', ')} />: these calls failed.
        </p>
      )}
      <h3>OUTPUT, compared</h3>
      <Difference old={recorded.output} now={tried.output} label={`OUTPUT of turn ${turn}`} />
    </Section>
  );
}

function Side({ title, side }: { readonly title: string; readonly side: TurnSide }) {
  const { decision, reason, failure, journal, usage } = side;
  return (
    <section class="card" aria-label={title}>
      <h3>
        {title} <Badge word={decision} />
      </h3>
      {reason !== null && (
        <p>
          <strong>
            <Foreign text={reason} />
          </strong>{' '}
          <span class="faint">{sentenceOf(reason)}</span>
        </p>
      )}
      {failure !== null && <ErrorText failure={failure} label={`Error, ${title.toLowerCase()}`} />}
      <Facts
        facts={[
          ['fuel', grouped(usage.fuel)],
          ['calls', grouped(journal.length)],
        ]}
      />
      <ul class="plain mono">
        {journal.slice(0, 50).map((call) => (
          <li key={call.seq}>
            <Foreign text={call.call} /> <Foreign text={call.name} most={60} />{' '}
            {call.result === null ? <Denial call={call} of={null} /> : <Foreign text={`→ ${call.result.text}`} most={120} />}
          </li>
        ))}
      </ul>
    </section>
  );
}
