import { useState } from 'preact/hooks';
import type { ReplayView } from '../../../../src/ui/trialviews.ts';
import type { TurnView } from '../../../../src/ui/views.ts';
import { messageOf, useWorld } from '../data/use.ts';
import { counted, duration, grouped, usdText } from '../format.ts';
import { ErrorText } from '../parts/error.tsx';
import { Bars, Facts, Moment, Section, sentenceOf } from '../parts/marks.tsx';
import { Foreign } from '../parts/text.tsx';
import { turnLink } from '../route.ts';
import { LeftOver } from './attempts.tsx';
import { PHASES } from './timeline.tsx';
import { Denial, Verdict } from './verdict.tsx';

/** What happened in a turn, why, and what it cost. */
export function Overview({ turn }: { readonly turn: TurnView }) {
  const { sid, agent, host, record } = turn;
  return (
    <>
      <Outcome turn={turn} />
      <div class="columns">
        <Section id="used" title="Used">
          <Bars measures={turn.measures} />
        </Section>
        <Section id="facts" title="Facts">
          <Facts
            facts={[
              ['began', <Moment at={turn.startedAt} />],
              ['took', <a href={turnLink(sid, turn.turn, 'flames')}>{duration(turn.latencyMs)}</a>],
              [
                'of which',
                turn.phases.length === 0
                  ? null
                  : turn.phases.map(({ name, ms }) => `${PHASES[name]} ${duration(ms)}`.replaceAll(' ', '\u00a0')).join(', '),
              ],
              ['in calls', turn.calls === 0 ? null : duration(turn.callsMs)],
              ['agent', agent === null ? 'not consulted' : <Foreign text={agent.name ?? 'without a name'} />],
              ['replies', agent === null || agent.asks === 1 ? null : grouped(agent.asks)],
              [
                'attempts',
                turn.attempts.length === 0 ? null : (
                  <a href={turnLink(sid, turn.turn, 'changes')}>{`${turn.attempts.length + 1}, and the last one decided`}</a>
                ),
              ],
              ['model tokens', agent === null || agent.tokens === 0 ? null : grouped(agent.tokens)],
              ['cost', turn.cost === 0 ? null : usdText(turn.cost)],
              [
                'remarks',
                turn.lints.length === 0 ? null : (
                  <Foreign text={turn.lints.map(({ code, line }) => `${code} (line ${line})`).join(', ')} />
                ),
              ],
              ['software', host === null ? null : <Foreign text={`version ${host.version}, Node ${host.node}`} />],
              ['record', recordText(turn)],
              [
                'changed parts',
                record.faults.length === 0 ? null : (
                  <Foreign text={record.faults.map(({ part, problem }) => `${part} ${problem}`).join(', ')} />
                ),
              ],
              ['erased', record.erased.length === 0 ? null : <Foreign text={record.erased.join(', ')} />],
            ]}
          />
          {!record.outputComplete && <p class="problem">The worker was killed: the last emits may be missing.</p>}
        </Section>
      </div>
      <Replay sid={sid} turn={turn.turn} refusal={record.notExecutable} />
    </>
  );
}

const SEALS = {
  whole: 'unchanged since it was sealed',
  broken: 'CHANGED since it was sealed',
} as const;

const recordText = ({ record }: TurnView): string => `version ${record.version}, ${SEALS[record.seal]}`;

/** The decision in a sentence, the error as on the terminal, and the calls that failed. */
function Outcome({ turn }: { readonly turn: TurnView }) {
  const { sid, decision, reason, overridden, failure, journal, denied } = turn;
  const sentence = sentenceOf(reason);
  const failed = journal.filter((call) => call.failed !== null);
  return (
    <section class={`ending is-${decision.toLowerCase()}`} aria-labelledby="outcome">
      <h2 id="outcome">What happened</h2>
      <p>
        {decision === 'HALT' ? (
          <>
            The host halted the session:{' '}
            <strong>
              <Foreign text={reason ?? ''} />
            </strong>
            {sentence === null ? '.' : `: ${sentence}.`}
          </>
        ) : (
          SENTENCES[decision]
        )}
        {overridden !== null && (
          <>
            {' '}
            The token asked for <Foreign text={overridden} />.
          </>
        )}
      </p>
      <Requested turn={turn} />
      {failure !== null && <ErrorText failure={failure} label="Error" />}
      {failure?.line && failure.column && (
        <p>
          <a href={turnLink(sid, turn.turn, 'program', String(failure.line))}>Show line {failure.line} in the program</a>
        </p>
      )}
      {denied !== null && (
        <p>
          The policy refused the whole turn, for the tool <Foreign text={denied.tool} />:{' '}
          <Verdict verdict={denied.verdict} of={turn} said={failure?.message} />
        </p>
      )}
      {failed.length > 0 && (
        <>
          <h3>{counted(failed.length, 'call')} did not give a value</h3>
          <ul class="plain">
            {failed.slice(0, 20).map((call) => (
              <li key={call.seq}>
                <a href={turnLink(sid, turn.turn, 'calls', String(call.seq))}>
                  call <Foreign text={call.call} /> <Foreign text={call.name} /> in line {call.at.line}
                </a>
                : <Denial call={call} of={turn} said={failure?.message} />
              </li>
            ))}
          </ul>
        </>
      )}
      <LeftOver turn={turn} />
    </section>
  );
}

/** What the program said with the token that decided, such as why it gave up. */
export function Requested({ turn: { tokens } }: { readonly turn: TurnView }) {
  const said = tokens.find(({ decides }) => decides)?.claims.filter((claim) => claim.startsWith('request ')) ?? [];
  return said.length === 0 ? null : (
    <p>
      With its token: <Foreign text={said.join(', ')} />
    </p>
  );
}

const SENTENCES = {
  CONTINUE: 'The program asked for another turn, with a token that is valid.',
  DONE: 'The program said that the task is done, with a token that is valid.',
  ABORT: 'The program gave up, with a token that is valid.',
} as const;

const VERDICTS: Readonly<Record<ReplayView['verdict'], string>> = {
  same: 'The turn gives the same result again.',
  differs: 'The turn gives another result.',
  prefix: 'The turn agrees as far as its record goes: its worker was killed.',
  verified: 'The tokens verify again. The program was not executed.',
  incomplete: 'The record is not sufficient to execute the turn again.',
  malformed: 'The record has what no record of this runtime has. The program was not executed.',
  erased: 'Parts of the record are erased.',
  changed: 'The record was changed after it was sealed.',
};

/** Executes the turn again from its record, without running tools. */
function Replay({ sid, turn, refusal }: { readonly sid: string; readonly turn: number; readonly refusal: string | null }) {
  const { source } = useWorld();
  const [outcome, setOutcome] = useState<ReplayView | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  if (!source.live) return null;
  const replay = async () => {
    setBusy(true);
    try {
      setOutcome(await source.replay(sid, turn));
      setProblem(null);
    } catch (error) {
      setProblem(messageOf(error));
    }
    setBusy(false);
  };
  return (
    <Section id="replay" title="Replay">
      {refusal !== null ? (
        <p class="faint">
          <Foreign text={refusal} />
        </p>
      ) : (
        <p>
          <button type="button" disabled={busy} onClick={() => void replay()}>
            Execute the turn again
          </button>{' '}
          <span class="faint">from its record; no tool runs</span>
        </p>
      )}
      <div role="status">
        {problem !== null && (
          <p class="problem">
            <Foreign text={problem} />
          </p>
        )}
        {outcome !== null && (
          <>
            <p class={outcome.verdict === 'same' || outcome.verdict === 'verified' ? 'good' : 'problem'}>
              {VERDICTS[outcome.verdict]} {outcome.why !== null && <Foreign text={outcome.why} />}
            </p>
            {outcome.divergence !== null && (
              <Facts
                facts={[
                  ['first difference', <Foreign text={outcome.divergence.where} />],
                  ['recorded', <Foreign text={outcome.divergence.recorded} />],
                  ['now', <Foreign text={outcome.divergence.replayed} />],
                ]}
              />
            )}
          </>
        )}
      </div>
    </Section>
  );
}
