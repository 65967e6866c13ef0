import { diffLines } from 'diff';
import { useMemo } from 'preact/hooks';
import type { TextView, TurnSide, TurnView } from '../../../../src/ui/views.ts';
import { useAnswer, useWorld } from '../data/use.ts';
import { counted } from '../format.ts';
import { Pending, Section } from '../parts/marks.tsx';
import { Lines } from '../parts/scroll.tsx';
import { lines } from '../parts/text.tsx';

/** What is different from the turn before. */
export function Changes({ turn }: { readonly turn: TurnView }) {
  const { source } = useWorld();
  const { sid, before } = turn;
  const { value, problem } = useAnswer(() => (before === null ? Promise.resolve(null) : source.turn(sid, before)), [sid, before]);
  if (before === null) return <p class="none">This is the first turn: there is none before it.</p>;
  if (value === null) return <Pending problem={problem} what={`turn ${before}`} />;
  return (
    <>
      <p class="faint">
        Compared with turn {before}: <span class="gone">− in turn {before}</span> <span class="come">+ in turn {turn.turn}</span>
      </p>
      <SideChanges old={value} now={turn} />
    </>
  );
}

/** The texts of a side. */
type SideTexts = Pick<TurnSide, 'program' | 'output'> & { readonly scratchpad: TextView | null };

/** The differences between two sides: program, OUTPUT and SCRATCHPAD. */
export function SideChanges({ old, now }: { readonly old: SideTexts; readonly now: SideTexts }) {
  const NONE: TextView = { text: '', length: 0, part: null };
  const pairs = [
    ['Program', old.program ?? NONE, now.program ?? NONE],
    ['OUTPUT', old.output, now.output],
    ['SCRATCHPAD', old.scratchpad ?? NONE, now.scratchpad ?? NONE],
  ] as const;
  return (
    <>
      {pairs.map(([name, a, b]) => (
        <Section key={name} id={`changes-${name.toLowerCase()}`} title={name}>
          <Difference old={a} now={b} label={name} />
        </Section>
      ))}
    </>
  );
}

/** Unchanged lines that stand around a change. */
const CONTEXT = 3;
/** Milliseconds after which a comparison gives up; texts of which nothing is equal take long. */
const PATIENCE = 500;

type Row =
  | { readonly kind: 'same' | 'gone' | 'come'; readonly text: string }
  | { readonly kind: 'left-out'; readonly count: number };

function rowsOf(old: string, now: string): readonly Row[] | null {
  const changes = diffLines(old, now, { timeout: PATIENCE });
  return (
    changes?.flatMap(({ value, added, removed }, index): Row[] => {
      const own = value.replace(/\n$/, '').split('\n');
      const kind = added ? 'come' : removed ? 'gone' : 'same';
      const head = index === 0 ? 0 : CONTEXT;
      const tail = index === changes.length - 1 ? 0 : CONTEXT;
      const hidden = own.length - head - tail;
      const row = (text: string): Row => ({ kind, text });
      if (kind !== 'same' || hidden < 2) return own.map(row);
      return [
        ...own.slice(0, head).map(row),
        { kind: 'left-out', count: hidden },
        ...own.slice(own.length - tail, own.length).map(row),
      ];
    }) ?? null
  );
}

const SIGNS = { same: ' ', gone: '−', come: '+' } as const;

export function Difference({ old, now, label }: { readonly old: TextView; readonly now: TextView; readonly label: string }) {
  const rows = useMemo(() => (old.text === now.text ? [] : rowsOf(old.text, now.text)), [old.text, now.text]);
  const cut = old.text.length < old.length || now.text.length < now.length;
  if (rows === null) return <p class="faint">The texts have too little in common to compare them.</p>;
  return (
    <>
      {rows.length === 0 ? (
        <p class="none">no difference</p>
      ) : (
        <Lines class="difference" label={`${label}, compared`}>
          {rows.slice(0, 2000).map((row, index) =>
            row.kind === 'left-out' ? (
              <span key={index} class="left-out">
                … {counted(row.count, 'equal line')}
              </span>
            ) : (
              <span key={index} class={row.kind}>
                <span class="sign">{SIGNS[row.kind]}</span>
                {lines(row.text)}
              </span>
            ),
          )}
        </Lines>
      )}
      {(cut || rows.length > 2000) && <p class="faint">Only the beginnings are compared.</p>}
    </>
  );
}
