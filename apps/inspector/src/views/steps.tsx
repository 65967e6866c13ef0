import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import type { TurnView } from '../../../../src/ui/views.ts';
import type { StepFork, TurnStep } from '../../../../src/wire/heat.ts';
import { messageOf, useWorld } from '../data/use.ts';
import { counted, grouped } from '../format.ts';
import { Section } from '../parts/marks.tsx';
import { Foreign } from '../parts/text.tsx';
import { turnLink } from '../route.ts';
import { Listing } from './listing.tsx';

/** The name of the turn's own program among the sources. */
const OWN = 'ACTIONS';

type Place = { readonly step: number } | { readonly at: string };

/** A number is a step; `LINE:VISIT` is an execution of a line. */
const placeOf = (at: string | null, failed: number | null): Place => {
  if (at === null) return failed === null ? { step: 1 } : { at: String(failed) };
  return at.includes(':') ? { at } : { step: Number(at) };
};

/** Back and forth through a recorded turn: the statement about to be executed, the forks and their variables. */
export function Steps({ turn, at }: { readonly turn: TurnView; readonly at: string | null }) {
  const { source } = useWorld();
  const { sid, failure } = turn;
  const refusal = turn.record.notExecutable;
  // A turn that failed is looked at for its failure.
  const failed = failure?.source === OWN ? failure.line : null;
  const [state, setState] = useState<{ found: TurnStep | null; problem: string | null }>({ found: null, problem: null });
  useEffect(() => {
    if (refusal !== null) return undefined;
    let dropped = false;
    source.step(sid, turn.turn, placeOf(at, failed)).then(
      (found) => dropped || setState({ found, problem: null }),
      (error: unknown) => dropped || setState((last) => ({ ...last, problem: messageOf(error) })),
    );
    return () => {
      dropped = true;
    };
  }, [sid, turn.turn, at]);
  const { found, problem } = state;
  const step = found?.step ?? null;
  const steps = found?.steps ?? 0;
  const go = (to: string | number) => {
    location.replace(turnLink(sid, turn.turn, 'steps', String(to)));
  };
  const visit = (number: number) => `${step?.source}:${step?.line}:${number}`;
  const moves: readonly (readonly [key: string, label: string, to: number])[] = [
    ['Home', 'First', 1],
    ['ArrowLeft', 'Back', (step?.step ?? 1) - 1],
    ['ArrowRight', 'Forward', (step?.step ?? 0) + 1],
    ['End', 'Last', steps],
  ];
  // Together with the paint, so that a key applies to the step on the screen.
  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLInputElement) return;
      const move = moves.find(([key]) => key === event.key);
      if (move === undefined || move[2] < 1 || move[2] > steps) return;
      event.preventDefault();
      go(move[2]);
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  });
  if (refusal !== null)
    return (
      <p class="none">
        <Foreign text={refusal} />
      </p>
    );
  if (found === null)
    return problem === null ? (
      <p class="pending">executing the turn again…</p>
    ) : (
      <p class="problem" role="alert">
        <Foreign text={problem} />
      </p>
    );
  return (
    <>
      <div class="toolbar">
        {moves.map(([key, label, to]) => (
          <button key={key} type="button" disabled={to < 1 || to > steps || to === step?.step} onClick={() => go(to)} title={key}>
            {label}
          </button>
        ))}
        {step !== null && (
          <>
            <button type="button" disabled={step.visit < 2} onClick={() => go(visit(step.visit - 1))}>
              Previous visit
            </button>
            <button type="button" disabled={step.visit >= (found?.visits ?? 0)} onClick={() => go(visit(step.visit + 1))}>
              Next visit
            </button>
          </>
        )}
        <label>
          Step{' '}
          <input
            type="number"
            min={1}
            max={steps}
            value={step?.step ?? ''}
            onChange={({ currentTarget: { valueAsNumber } }) => valueAsNumber >= 1 && valueAsNumber <= steps && go(valueAsNumber)}
          />{' '}
          of {grouped(steps)}
        </label>
        <span role="status">
          {step !== null &&
            `line ${grouped(step.line)}, visit ${grouped(step.visit)} of ${grouped(found.visits)}, ${grouped(step.fuel)} fuel spent before it`}
        </span>
      </div>
      {problem !== null && (
        <p class="problem" role="alert">
          <Foreign text={problem} />
        </p>
      )}
      {found.why !== null && (
        <p class="problem">
          <Foreign text={found.why} />
        </p>
      )}
      {step === null ? (
        found.why === null && <p class="none">The turn did not come to this statement.</p>
      ) : (
        <div class="columns">
          <Section id="here" title="Before this statement">
            {step.source !== OWN && (
              <p>
                line {step.line} of the library <Foreign text={step.source} />
              </p>
            )}
            {turn.program !== null && step.source === OWN && (
              <Listing label="Program at this step" text={turn.program.text} heat={null} quantity="fuel" marked={step.line} />
            )}
          </Section>
          <Section id="stack" title={step.stack.length > 1 ? 'Stack, innermost first' : 'Stack'}>
            {step.stack.map((fork, index) => (
              <Fork key={index} fork={fork} innermost={index === 0} />
            ))}
            {step.more > 0 && <p class="faint">and {counted(step.more, 'outer level')}</p>}
          </Section>
        </div>
      )}
    </>
  );
}

function Fork({ fork, innermost }: { readonly fork: StepFork; readonly innermost: boolean }) {
  return (
    <details class="card" open={innermost}>
      <summary>
        <strong>
          <Foreign text={fork.name} />
        </strong>{' '}
        <span class="faint">
          in <Foreign text={fork.source} />, line {fork.line}
        </span>
      </summary>
      {fork.variables.length === 0 ? (
        <p class="none">no variables</p>
      ) : (
        <dl class="facts mono">
          {fork.variables.map(({ name, type, text, cut, size }) => (
            <div key={name}>
              <dt>
                <Foreign text={name} />
              </dt>
              <dd>
                <Foreign text={text} />
                {cut && '…'}{' '}
                <span class="faint">
                  {type}
                  {size === null ? '' : ` of ${grouped(size)}`}
                </span>
              </dd>
            </div>
          ))}
        </dl>
      )}
      {fork.more > 0 && <p class="faint">and {counted(fork.more, 'more variable')}</p>}
    </details>
  );
}
