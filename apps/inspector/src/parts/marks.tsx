import type { ComponentChildren } from 'preact';
import { HALT_REASONS } from '../../../../src/loop/record/decision.ts';
import type { Measure, SessionPhase, SessionRow } from '../../../../src/ui/views.ts';
import { printable } from '../../../../src/wire/text/printable.ts';
import { useWorld } from '../data/use.ts';
import { clockTime, measured, percent } from '../format.ts';
import { sessionLink } from '../route.ts';
import { Foreign } from './text.tsx';

const SIGNS: Readonly<Record<string, string>> = {
  open: '●',
  running: '▶',
  waiting: '◔',
  done: '✓',
  aborted: '⊘',
  halted: '✕',
  CONTINUE: '→',
  DONE: '✓',
  ABORT: '⊘',
  HALT: '✕',
  SUSPENDED: '◔',
};

/** A decision or a phase as a word with a sign and a colour. The word alone says everything. */
export function Badge({ word }: { readonly word: SessionPhase | string }) {
  return (
    <span class={`badge is-${word.toLowerCase()}`}>
      <span aria-hidden="true">{SIGNS[word] ?? '·'} </span>
      <Foreign text={word} />
    </span>
  );
}

/** What a session is doing, in the word with which `status:` of a query finds it. */
export const statusOf = ({ phase, driven }: Pick<SessionRow, 'phase' | 'driven'>): string =>
  driven && phase === 'open' ? 'running' : phase;

/** The status of a session as a badge. */
export function Status({ row }: { readonly row: Pick<SessionRow, 'phase' | 'driven'> }) {
  return <Badge word={statusOf(row)} />;
}

type Named = Pick<SessionRow, 'sid' | 'above'>;

/** The id of a session; of one that an `ask` opened, its place below the one at the top, because its id is random. */
export function SessionName({ row: { sid, above } }: { readonly row: Named }) {
  const [top] = above;
  if (top === undefined) return <Foreign text={sid} most={120} />;
  return (
    <span title={printable(sid)}>
      <span aria-hidden="true">↳ </span>ask <Foreign text={above.map(({ call }) => call).join(' › ')} /> of{' '}
      <Foreign text={top.sid} most={80} />
    </span>
  );
}

/** The way from the list down to what a page shows: the sessions `above` it and, of a turn, its `own` one. */
export function Path({ above, own = null }: { readonly above: Named['above']; readonly own?: string | null }) {
  const sids = [...above.map(({ sid }) => sid), ...(own === null ? [] : [own])];
  const up = { id: 'up' } as const;
  const { live } = useWorld().source;
  return (
    <nav class="crumbs" aria-label="Path">
      {live && (
        <a href="#/" {...(sids.length === 0 ? up : {})}>
          Sessions
        </a>
      )}
      {sids.map((sid, index) => (
        <span key={sid}>
          {(live || index > 0) && ' › '}
          <a href={sessionLink(sid)} title={printable(sid)} {...(index === sids.length - 1 ? up : {})}>
            <Foreign text={index === 0 ? sid : `ask ${above[index - 1]?.call}`} />
          </a>
        </span>
      ))}
    </nav>
  );
}

/** What a reason of HALT means; null for none and for one that this version does not know. */
export function sentenceOf(reason: string | null): string | null {
  return Object.entries(HALT_REASONS).find(([code]) => code === reason)?.[1] ?? null;
}

/** A moment in UTC; on request, in the reader's own zone. */
export function Moment({ at }: { readonly at: number }) {
  if (Math.abs(at) > 8.64e15) return <span>{at}</span>;
  const iso = new Date(at).toISOString();
  return (
    <time dateTime={iso} title={new Date(at).toLocaleString(undefined, { timeZoneName: 'short' })}>
      {clockTime(at)}
    </time>
  );
}

const NAMES: Readonly<Record<string, string>> = {
  fuel: 'fuel',
  cpuMs: 'CPU',
  memoryBytes: 'memory',
  outputBytes: 'output',
  toolCalls: 'calls',
  wallMs: 'time',
};

export const nameOf = (limit: string): string => NAMES[limit] ?? limit;

const share = ({ used, allowed }: Measure): number => (allowed === null || allowed === 0 ? 0 : Math.min(1, used / allowed));

const heatOf = (part: number): string => (part >= 0.9 ? 'is-hot' : part >= 0.6 ? 'is-warm' : '');

function wordsOf(measure: Measure): string {
  const { limit, unit, used, allowed } = measure;
  const of = allowed === null ? '' : ` of ${measured(unit, allowed)} (${percent(used, allowed)})`;
  return `${nameOf(limit)} ${measured(unit, used)}${of}`;
}

/** The measures of a turn as small upright bars, for a row. */
export function MiniBars({ measures }: { readonly measures: readonly Measure[] }) {
  const bounded = measures.filter(({ allowed }) => allowed !== null);
  const words = bounded.map(wordsOf).join(', ');
  return (
    <span class="mini" role="img" aria-label={words} title={words}>
      {bounded.map((measure) => (
        <span key={measure.limit} class="mini-bar">
          <span class={`fill ${heatOf(share(measure))}`} style={{ height: `${Math.max(2, share(measure) * 100)}%` }} />
        </span>
      ))}
    </span>
  );
}

/** The measures of a turn, each with its numbers. */
export function Bars({ measures }: { readonly measures: readonly Measure[] }) {
  if (measures.every(({ used }) => used === 0)) return <p class="none">Nothing: the program did not run.</p>;
  return (
    <dl class="bars">
      {measures.map((measure) => (
        <div key={measure.limit} class="bar-row">
          <dt>{nameOf(measure.limit)}</dt>
          <dd>
            <span class="bar" aria-hidden="true">
              <span class={`fill ${heatOf(share(measure))}`} style={{ width: `${share(measure) * 100}%` }} />
            </span>
            <span class="number">
              {measured(measure.unit, measure.used)}
              {measure.allowed !== null && (
                <span class="faint">
                  {' '}
                  of {measured(measure.unit, measure.allowed)} · {percent(measure.used, measure.allowed)}
                </span>
              )}
            </span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** A titled part of a page. */
export function Section({
  id,
  title,
  children,
}: {
  readonly id: string;
  readonly title: string;
  readonly children: ComponentChildren;
}) {
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}

interface FactsProps {
  readonly facts: readonly (readonly [term: string, value: ComponentChildren])[];
  /** Whether short facts stand beside one another. */
  readonly wide?: boolean;
}

/** Facts as terms and what they are. Null values are left out. */
export function Facts({ facts, wide = false }: FactsProps) {
  return (
    <dl class={wide ? 'facts is-wide' : 'facts'}>
      {facts
        .filter(([, value]) => value !== null && value !== undefined)
        .map(([term, value]) => (
          <div key={term}>
            <dt>
              <Foreign text={term} />
            </dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** The content of a view until its answer comes, or when none comes. */
export function Pending({ problem, what }: { readonly problem: string | null; readonly what: string }) {
  return problem === null ? (
    <p class="pending">loading {what}…</p>
  ) : (
    <p class="problem" role="alert">
      <Foreign text={problem} />
    </p>
  );
}
