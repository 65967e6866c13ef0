import { useMemo } from 'preact/hooks';
import type { TokenView, TurnView } from '../../../../src/ui/views.ts';
import { counted } from '../format.ts';
import { Facts, Section } from '../parts/marks.tsx';
import { Foreign, LongText } from '../parts/text.tsx';
import { type Reverified, reverify } from '../verify.ts';

/** Each token of OUTPUT: what it claims, what the host found, and what this page finds. */
export function Tokens({ turn }: { readonly turn: TurnView }) {
  const verdicts = useMemo(() => reverify(turn), [turn]);
  const { tokens, verify } = turn;
  if (tokens.length === 0) return <p class="none">OUTPUT has no line that has the shape of a token.</p>;
  return (
    <>
      {tokens.map((token, index) => (
        <Token key={token.line} token={token} here={verdicts === null ? null : (verdicts[index] ?? null)} />
      ))}
      {verify !== null && (
        <Section id="keys" title={`Public keys at the time: ${verify.keys.length}`}>
          <Facts
            facts={verify.keys.map(({ kid, alg, publicKey }) => [
              kid,
              <code>
                {alg} <Foreign text={publicKey ?? 'secret: the record does not have it'} />
              </code>,
            ])}
          />
          <p class="faint">
            The keys come from the record, so they prove that nothing changed by accident. Compare them with keys that you trust
            to prove who signed.
          </p>
        </Section>
      )}
    </>
  );
}

const MARKS = { passed: '✓', failed: '✕', 'not reached': '–' } as const;

function Token({ token, here }: { readonly token: TokenView; readonly here: Reverified | null }) {
  const { line, ok, decides, code, message, checks, claims } = token;
  const id = `token-${line}`;
  return (
    <Section id={id} title={`Token in line ${line} of OUTPUT`}>
      <p class={ok ? 'good' : 'problem'}>
        {ok ? (decides ? '✓ verified, and decides the turn' : '✓ verified, and does not decide') : '✕ rejected: '}
        {!ok && <Foreign text={code ?? ''} />}
        {message !== null && (
          <>
            {': '}
            <Foreign text={message} />
          </>
        )}
      </p>
      <ol class="checks" aria-label={`${counted(checks.length, 'check')} in their order`}>
        {checks.map(({ name, verdict }) => (
          <li key={name} class={`is-${verdict.replace(' ', '-')}`}>
            <span aria-hidden="true">{MARKS[verdict]}</span> <Foreign text={name} /> <span class="hidden">{verdict}</span>
          </li>
        ))}
      </ol>
      <p data-here={here === null ? 'none' : 'unable' in here ? 'unable' : here.verdict.ok ? 'ok' : here.verdict.code}>
        <strong>Verified again in this page:</strong> <Here here={here} token={token} />
      </p>
      <h3>{ok ? 'What it says' : 'What it claims'}</h3>
      <ul class="plain mono">
        {claims.map((claim, index) => (
          <li key={index}>
            <Foreign text={claim} />
          </li>
        ))}
      </ul>
      <details>
        <summary>The line itself</summary>
        <LongText view={{ text: token.token, length: token.token.length, part: null }} label="Token" />
      </details>
    </Section>
  );
}

function Here({ here, token }: { readonly here: Reverified | null; readonly token: TokenView }) {
  if (here === null) return <>the record has neither keys nor clock for it.</>;
  if ('unable' in here)
    return (
      <>
        not possible: <Foreign text={here.unable} />.
      </>
    );
  const { verdict } = here;
  const agrees = verdict.ok === token.ok && (verdict.ok || verdict.code === token.code);
  return (
    <span class={!agrees ? 'problem' : verdict.ok ? 'good' : ''}>
      {verdict.ok ? '✓ every check passes' : '✕ '}
      {!verdict.ok && <Foreign text={`${verdict.code}: ${verdict.message}`} />}
      {agrees ? ', as the host found.' : '. The host found something else: do not trust this record.'}
    </span>
  );
}
