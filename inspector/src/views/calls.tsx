import { useEffect } from 'preact/hooks';
import type { CallView, TurnView } from '../../../src/ui/views.ts';
import { counted, duration } from '../format.ts';
import { Facts, Section } from '../parts/marks.tsx';
import { Foreign, Value } from '../parts/text.tsx';
import { sessionLink, turnLink } from '../route.ts';
import { Denial } from './overview.tsx';

/** Most calls that the page shows at first. */
const SHOWN = 200;

/** The calls of a turn: a waterfall, and each call with its arguments, its result and the verdict of the policy. */
export function Calls({ turn, at }: { readonly turn: TurnView; readonly at: string | null }) {
  const { journal } = turn;
  useEffect(() => {
    if (at !== null) document.getElementById(`call-${at}`)?.focus();
  }, [at]);
  if (journal.length === 0) {
    return <p class="none">The program called nothing.{turn.failure !== null && ' The overview says why it failed.'}</p>;
  }
  const shown = journal.slice(0, SHOWN);
  return (
    <>
      <Section id="waterfall" title="Waterfall">
        <Waterfall calls={shown} />
      </Section>
      <Section id="calls" title={counted(journal.length, 'call')}>
        {shown.map((call) => (
          <Call key={call.seq} call={call} turn={turn} open={journal.length <= 10 || String(call.seq) === at} />
        ))}
        {journal.length > SHOWN && (
          <p class="faint">and {counted(journal.length - SHOWN, 'more call')}; `sessions show` prints all</p>
        )}
      </Section>
    </>
  );
}

/** Bars on one axis of time. A record has the time of each call, and not the program's own time between them. */
function Waterfall({ calls }: { readonly calls: readonly CallView[] }) {
  const total = Math.max(1, ...calls.map(({ begin, ms }) => begin + ms));
  return (
    <ol class="waterfall">
      {calls.map((call) => {
        const words = `begins after ${duration(call.begin)}, takes ${duration(call.ms)}`;
        return (
          <li key={call.seq}>
            <span class="name">
              <Foreign text={call.name} most={60} />
            </span>
            <span class="lane" role="img" aria-label={words} title={words}>
              <span
                class={`span ${call.failed === null ? `in-${call.kind}` : 'in-failed'}`}
                style={{ left: `${(call.begin / total) * 100}%`, width: `${Math.max(0.4, (call.ms / total) * 100)}%` }}
              />
            </span>
            <span class="number faint">{duration(call.ms)}</span>
          </li>
        );
      })}
    </ol>
  );
}

function Call({ call, turn, open }: { readonly call: CallView; readonly turn: TurnView; readonly open: boolean }) {
  const { sid, turn: number } = turn;
  const of = { sid, turn: number };
  const { verdict, failed, result, at } = call;
  return (
    <details class={`card call${failed === null ? '' : ' is-failed'}`} open={open}>
      <summary id={`call-${call.seq}`}>
        <span class="number faint">
          <Foreign text={call.call} />
        </span>{' '}
        <strong>
          <Foreign text={call.name} most={120} />
        </strong>{' '}
        {failed !== null && <span class="badge is-halt">{verdict !== null && !verdict.allowed ? '✕ denied' : '✕ failed'}</span>}{' '}
        <span class="faint">
          {call.kind === 'tool' ? '' : `${call.kind}, `}line {at.line}, {duration(call.ms)}
        </span>
      </summary>
      <Facts
        facts={[
          ...call.args.map(
            (arg, index) =>
              [
                `argument ${index + 1}`,
                <Value view={arg} label={`argument ${index + 1} of call ${call.call}`} of={of} />,
              ] as const,
          ),
          ['result', result === null ? null : <Value view={result} label={`result of call ${call.call}`} of={of} />],
          ['failed', failed === null || verdict?.allowed === false ? null : <Denial call={call} />],
          ['hint', failed === null || failed.hint === null ? null : <Foreign text={failed.hint} />],
          ['policy', verdict === null ? null : <Verdict call={call} />],
          ['place', <a href={turnLink(sid, number, 'program', String(at.line))}>{`line ${at.line}, column ${at.column}`}</a>],
          ['fork', <Foreign text={at.fork} />],
          ['together with', at.together === undefined || at.together === call.seq ? null : `call ${at.together}`],
          [
            'nested session',
            call.nested === null ? null : (
              <a href={sessionLink(call.nested)}>
                <Foreign text={call.nested} />
              </a>
            ),
          ],
          ['remark', call.repeated ? 'may have had its effect twice: the process died and the turn ran again' : null],
        ]}
      />
    </details>
  );
}

function Verdict({ call: { verdict } }: { readonly call: CallView }) {
  if (verdict === null) return null;
  return (
    <span class={verdict.allowed ? 'good' : 'problem'}>
      {verdict.allowed ? 'allowed' : 'denied'} by the rule{' '}
      <strong>
        <Foreign text={verdict.rule} />
      </strong>
      {verdict.entry !== null && (
        <>
          {' '}
          (<Foreign text={verdict.entry} />)
        </>
      )}
      : <Foreign text={verdict.reason} />
    </span>
  );
}
