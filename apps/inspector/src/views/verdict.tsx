import type { CallView, VerdictView } from '../../../../src/ui/views.ts';
import { Foreign } from '../parts/text.tsx';

/** What a policy said of a call, and by which of its rules. */
export function Verdict({ verdict: { allowed, rule, entry, reason } }: { readonly verdict: VerdictView }) {
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
      : <Foreign text={reason} />
    </span>
  );
}

/** Why a call did not give a value: the rule of the policy, or the failure. */
export function Denial({ call: { verdict, failed } }: { readonly call: Pick<CallView, 'verdict' | 'failed'> }) {
  if (verdict !== null && !verdict.allowed) return <Verdict verdict={verdict} />;
  return failed === null ? null : (
    <span class="problem">
      <Foreign text={failed.message} />{' '}
      <span class="faint">
        (<Foreign text={failed.code} />)
      </span>
    </span>
  );
}
