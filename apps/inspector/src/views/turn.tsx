import type { VNode } from 'preact';
import type { TurnView } from '../../../../src/ui/views.ts';
import { useAnswer, useWorld } from '../data/use.ts';
import { grouped } from '../format.ts';
import { Badge, Path, Pending } from '../parts/marks.tsx';
import { TURN_PARTS, type TurnPart, turnLink } from '../route.ts';
import { Attempts } from './attempts.tsx';
import { Calls } from './calls.tsx';
import { Changes } from './changes.tsx';
import { EnvelopePart } from './envelope.tsx';
import { Flames } from './flames.tsx';
import { Output } from './output.tsx';
import { Overview } from './overview.tsx';
import { Program } from './program.tsx';
import { Steps } from './steps.tsx';
import { Tokens } from './tokens.tsx';
import { Trial } from './trial.tsx';

const TITLES: Readonly<Record<TurnPart, string>> = {
  overview: 'Overview',
  program: 'Program',
  calls: 'Calls',
  output: 'Output',
  tokens: 'Tokens',
  envelope: 'Envelope',
  changes: 'Changes',
  flames: 'Flames',
  steps: 'Steps',
  trial: 'What if',
};

interface TurnProps {
  readonly sid: string;
  readonly turn: number;
  readonly part: TurnPart;
  readonly at: string | null;
}

/** One turn; its parts have an address each. */
export function Turn({ sid, turn, part, at }: TurnProps) {
  const { source } = useWorld();
  const { value, problem } = useAnswer(() => source.turn(sid, turn), [sid, turn]);
  return (
    <>
      <Path above={value?.above ?? []} own={sid} />
      <div class="head">
        <h1>Turn {turn}</h1>
        {value !== null && <Badge word={value.decision} />}
        <nav class="steps-nav" aria-label="Turns beside">
          {value !== null && value.before !== null && (
            <a class="button" id="before" href={turnLink(sid, value.before, part)}>
              ← turn {value.before}
            </a>
          )}
          {value !== null && value.after !== null && (
            <a class="button" id="after" href={turnLink(sid, value.after, part)}>
              turn {value.after} →
            </a>
          )}
        </nav>
      </div>
      <nav class="tabs" aria-label="Parts of the turn">
        {TURN_PARTS.map((name, index) => (
          <a
            key={name}
            href={turnLink(sid, turn, name)}
            data-part={index}
            {...(name === part ? { 'aria-current': 'page' as const } : {})}
          >
            {TITLES[name]}
            {value !== null && <Count turn={value} part={name} />}
          </a>
        ))}
      </nav>
      {value === null ? <Pending problem={problem} what="the turn" /> : <Part turn={value} part={part} at={at} />}
    </>
  );
}

/** How many calls, tokens or attempts a part shows. */
function Count({ turn: { calls, tokens, attempts }, part }: { readonly turn: TurnView; readonly part: TurnPart }) {
  const count = part === 'calls' ? calls : part === 'tokens' ? tokens.length : 0;
  const text = part === 'changes' && attempts.length > 0 ? `of ${attempts.length + 1} attempts` : count > 0 ? grouped(count) : '';
  return text === '' ? null : <span class={part === 'changes' ? 'count is-words' : 'count'}> {text}</span>;
}

function Part({ turn, part, at }: { readonly turn: TurnView; readonly part: TurnPart; readonly at: string | null }): VNode {
  switch (part) {
    case 'overview':
      return <Overview turn={turn} />;
    case 'program':
      return <Program turn={turn} at={at} />;
    case 'calls':
      return <Calls turn={turn} at={at} />;
    case 'output':
      return <Output side={turn} of={turn} />;
    case 'tokens':
      return <Tokens turn={turn} />;
    case 'envelope':
      return <EnvelopePart turn={turn} />;
    case 'changes':
      return (
        <>
          <Attempts turn={turn} />
          <Changes turn={turn} />
        </>
      );
    case 'flames':
      return <Flames turn={turn} />;
    case 'steps':
      return <Steps turn={turn} at={at} />;
    case 'trial':
      return <Trial turn={turn} at={at} />;
  }
}
