import { useEffect, useState } from 'preact/hooks';
import type { CallsView, CallView, TurnView } from '../../../../src/ui/views.ts';
import { messageOf, useWorld } from '../data/use.ts';
import { counted, duration, grouped } from '../format.ts';
import { Facts, Section } from '../parts/marks.tsx';
import { Foreign, Value } from '../parts/text.tsx';
import { sessionLink, turnLink } from '../route.ts';
import { Denial, Verdict } from './verdict.tsx';

/** The calls of a turn: a waterfall, and each call with its arguments, its result and the verdict of the policy. */
export function Calls({ turn, at }: { readonly turn: TurnView; readonly at: string | null }) {
  const { source } = useWorld();
  const [rest, setRest] = useState<CallsView>({ calls: [], more: turn.more });
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    if (at !== null) document.getElementById(`call-${at}`)?.focus();
  }, [at]);
  const shown = [...turn.journal, ...rest.calls];
  if (shown.length === 0) {
    return <p class="none">The program called nothing.{turn.failure !== null && ' The overview says why it failed.'}</p>;
  }
  const extend = async () => {
    try {
      const next = await source.calls(turn.sid, turn.turn, shown.at(-1)?.seq ?? 0);
      setRest({ calls: [...rest.calls, ...next.calls], more: next.more });
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  return (
    <>
      <Section id="waterfall" title="Waterfall">
        <Waterfall calls={shown} />
      </Section>
      <Section id="calls" title={counted(turn.calls, 'call')}>
        {shown.map((call) => (
          <Call key={call.seq} call={call} turn={turn} open={shown.length <= 10 || String(call.seq) === at} />
        ))}
        {rest.more && (
          <p class="rest">
            {grouped(shown.length)} of {grouped(turn.calls)} calls{' '}
            <button type="button" onClick={() => void extend()}>
              Show more
            </button>
            {problem !== null && (
              <span class="problem">
                <Foreign text={problem} />
              </span>
            )}
          </p>
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
          ['policy', verdict === null ? null : <Verdict verdict={verdict} />],
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
