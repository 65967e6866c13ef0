import type { ComponentChildren } from 'preact';
import type { CallView, VerdictView } from '../../../../src/ui/views.ts';
import { Foreign } from '../parts/text.tsx';
import { turnLink } from '../route.ts';

/** The turn of a call. */
interface Of {
  readonly sid: string;
  readonly turn: number;
}

interface VerdictProps {
  readonly verdict: VerdictView;
  /** Null where links would lose what the reader has entered. */
  readonly of: Of | null;
  /** A reason that the reader has seen; it is left out. */
  readonly said?: string | undefined;
}

/** What a policy said of a call, and by which of its rules; of a rule about origin, where the argument came from in place of the reason. */
export function Verdict({ verdict, of, said }: VerdictProps) {
  const { allowed, rule, entry, reason, origins } = verdict;
  return (
    <span class={allowed ? 'good' : 'problem'}>
      {allowed ? 'allowed' : 'denied'} by the rule{' '}
      <strong>
        <Foreign text={rule} />
      </strong>
      {entry !== null && (
        <>
          {' '}
          (<Foreign text={entry} />)
        </>
      )}
      {origins.length > 0 ? (
        <Origins verdict={verdict} of={of} />
      ) : (
        reason !== said && (
          <>
            : <Foreign text={reason} />
          </>
        )
      )}
    </span>
  );
}

/** Most origins that are named. */
const MOST = 4;

/** The labels for which a call was refused, each with the line in which the value came in. */
function Origins({ verdict: { argument, origins }, of }: Omit<VerdictProps, 'said'>) {
  return (
    <>
      : {argument === null ? 'what decides on the call' : <Foreign text={`its argument '${argument}'`} />} has{' '}
      {origins.slice(0, MOST).map(({ label, from, source, line }, index) => (
        <span key={index}>
          {index > 0 && ', '}
          <Foreign text={label} /> from{' '}
          {from === 'program' ? (
            <Link to={of === null ? null : turnLink(of.sid, of.turn, 'envelope')}>what its agent had read</Link>
          ) : (
            <>
              <Foreign text={from} />
              {line !== null && source === 'ACTIONS' && (
                <>
                  {' '}
                  in <Link to={of === null ? null : turnLink(of.sid, of.turn, 'program', String(line))}>line {line}</Link>
                </>
              )}
              {line !== null && source !== 'ACTIONS' && <Foreign text={` (${source ?? ''}:${line})`} />}
            </>
          )}
        </span>
      ))}
      {origins.length > MOST && ' and more'}
    </>
  );
}

/** A link, or its text alone. */
function Link({ to, children }: { readonly to: string | null; readonly children: ComponentChildren }) {
  return to === null ? <span>{children}</span> : <a href={to}>{children}</a>;
}

interface DenialProps {
  readonly call: Pick<CallView, 'verdict' | 'failed'>;
  /** As for a verdict. */
  readonly of: Of | null;
  /** A message that the reader has seen. */
  readonly said?: string | undefined;
}

/** Why a call did not give a value: the rule of the policy, or the failure. */
export function Denial({ call: { verdict, failed }, of, said }: DenialProps) {
  if (verdict !== null && !verdict.allowed) return <Verdict verdict={verdict} of={of} said={said} />;
  return failed === null ? null : (
    <span class="problem">
      {failed.message === said ? 'the error above' : <Foreign text={failed.message} />}{' '}
      <span class="faint">
        (<Foreign text={failed.code} />)
      </span>
    </span>
  );
}
