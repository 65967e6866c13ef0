import type { ComponentChildren } from 'preact';
import { HALT_REASONS } from '../../../../src/loop/record/decision.ts';
import type { Measure, SessionPhase, SessionRow } from '../../../../src/ui/views.ts';
import { clockTime, measured, percent } from '../format.ts';
import { Foreign } from './text.tsx';

const SIGNS: Readonly<Record<string, string>> = {
  open: '●',
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

type Named = Pick<SessionRow, 'sid' | 'parent'>;

/** Most asks of one name. A store may say that two sessions are each other's. */
const DEEPEST = 10;

/** The id of a session; of one that an `ask` opened, its place below the sessions that are `known`, because its id is random. */
export function SessionName({ row, known = [] }: { readonly row: Named; readonly known?: readonly Named[] }) {
  const asks: string[] = [];
  let top = row.sid;
  for (let at: Named | undefined = row; at?.parent?.sid && asks.length < DEEPEST; at = known.find(({ sid }) => sid === top)) {
    asks.unshift(`${at.parent.turn}.${at.parent.seq}`);
    top = at.parent.sid;
  }
  if (asks.length === 0) return <Foreign text={row.sid} />;
  return (
    <span title={row.sid}>
      <span aria-hidden="true">↳ </span>ask {asks.join(' › ')} of <Foreign text={top} most={80} />
    </span>
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
