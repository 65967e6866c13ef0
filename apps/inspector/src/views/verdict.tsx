import type { CallView, VerdictView } from '../../../../src/ui/views.ts';
import { Foreign } from '../parts/text.tsx';

/** What a policy said of a call, and by which of its rules. A reason that was `said` already is left out. */
export function Verdict({ verdict, said }: { readonly verdict: VerdictView; readonly said?: string | undefined }) {
  const { allowed, rule, entry, reason } = verdict;
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
      {reason !== said && (
        <>
          : <Foreign text={reason} />
        </>
      )}
    </span>
  );
}

interface DenialProps {
  readonly call: Pick<CallView, 'verdict' | 'failed'>;
  /** A message that the reader has seen. */
  readonly said?: string | undefined;
}

/** Why a call did not give a value: the rule of the policy, or the failure. */
export function Denial({ call: { verdict, failed }, said }: DenialProps) {
  if (verdict !== null && !verdict.allowed) return <Verdict verdict={verdict} said={said} />;
  return failed === null ? null : (
    <span class="problem">
      {failed.message === said ? 'the error above' : <Foreign text={failed.message} />}{' '}
      <span class="faint">
        (<Foreign text={failed.code} />)
      </span>
    </span>
  );
}
