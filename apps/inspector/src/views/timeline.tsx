import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { TurnPhase } from '../../../../src/loop/record/record.ts';
import type { SessionRow, SessionView, TimelineView, TurnRow } from '../../../../src/ui/views.ts';
import { printable } from '../../../../src/wire/text/printable.ts';
import { messageOf, useWorld } from '../data/use.ts';
import { counted, duration } from '../format.ts';
import { Badge, MiniBars, Status } from '../parts/marks.tsx';
import { Rows } from '../parts/rows.tsx';
import { Foreign } from '../parts/text.tsx';
import { turnLink } from '../route.ts';
import { type Axis, type Scale, scaleOf, TimeAxis } from './axis.tsx';

/** Turns of one request, and most requests whose turns the page keeps. */
const CHUNK = 200;
const CHUNKS = 6;

/** Consecutive turns, those that cannot be read, and the last turn that was requested. */
interface Chunk extends Omit<TimelineView, 'next'> {
  readonly until: number;
}

/** The turns around those in sight, fetched when they come into sight and forgotten when they are far from it. */
function useTurns(session: SessionView): {
  readonly at: (index: number) => TurnRow | null;
  /** Why a turn cannot be read; null for one that can, and for one that is not fetched. */
  readonly problemAt: (index: number) => string | null;
  readonly isChanged: (index: number) => boolean;
  readonly sight: (from: number, to: number) => void;
} {
  const { source, say } = useWorld();
  const { sid, turns, timeline } = session;
  const chunks = useRef(new Map<number, Chunk>());
  const [, redraw] = useState(0);
  const shown = useRef('');
  if (shown.current !== sid) {
    shown.current = sid;
    chunks.current.clear();
  }
  // The session brings its first turns, which saves the first request.
  chunks.current.set(0, { ...timeline, until: Math.min(turns, timeline.next ?? turns, CHUNK) });
  const inSight = useRef<readonly [number, number]>([0, 0]);

  const fetchSight = useCallback(() => {
    const [from, to] = inSight.current;
    for (let chunk = Math.floor(from / CHUNK); chunk * CHUNK < to; chunk += 1) {
      const known = chunks.current.get(chunk);
      const until = Math.min(turns, (chunk + 1) * CHUNK);
      if (known !== undefined && known.until >= until) continue;
      chunks.current.set(chunk, { turns: [], damaged: [], changed: [], ...known, until });
      void source.turns(sid, chunk * CHUNK, CHUNK).then(
        (page) => {
          // An answer to an earlier request may come last.
          if (shown.current !== sid || (chunks.current.get(chunk)?.until ?? 0) > until) return;
          chunks.current.set(chunk, { ...page, until });
          const middle = Math.floor((inSight.current[0] + inSight.current[1]) / 2 / CHUNK);
          const far = [...chunks.current.keys()].sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle)).slice(CHUNKS);
          for (const key of far) chunks.current.delete(key);
          redraw((count) => count + 1);
        },
        (error: unknown) => {
          chunks.current.delete(chunk);
          say(messageOf(error));
        },
      );
    }
  }, [sid, turns, source, say]);
  useEffect(fetchSight, [fetchSight]);
  const chunkOf = (index: number): Chunk | undefined => chunks.current.get(Math.floor(index / CHUNK));
  return {
    at: (index) => chunkOf(index)?.turns.find(({ turn }) => turn === index + 1) ?? null,
    problemAt: (index) => chunkOf(index)?.damaged.find(({ turn }) => turn === index + 1)?.problem ?? null,
    isChanged: (index) => chunkOf(index)?.changed.includes(index + 1) ?? false,
    sight: (from, to) => {
      inSight.current = [from, to];
      fetchSight();
    },
  };
}

/** The turns of a session: where the time of each went, what it used of its limits, what it called, and how it was decided. */
export function Timeline({ session }: { readonly session: SessionView }) {
  const { sid, turns, createdAt, nested } = session;
  const { at, problemAt, isChanged, sight } = useTurns(session);
  const [range, setRange] = useState<readonly [number, number]>([0, 30]);
  const parts = (index: number) => {
    const row = at(index);
    return row === null ? null : timesOf(row, index === 0 ? createdAt : endOf(at(index - 1)));
  };
  const inSight = Array.from({ length: Math.max(0, range[1] - range[0]) }, (_, offset) => parts(range[0] + offset));
  const occurring = new Set(inSight.flatMap((each) => each?.spans.map(({ kind }) => kind) ?? []));
  const longest = Math.max(1, ...inSight.flatMap((each) => (each === null ? [] : [each.total])));
  const [axis, setAxis] = useState<Axis>({ from: 0, to: null, isLogarithmic: false });
  const scale = scaleOf(axis, longest);
  if (turns === 0) return <p class="none">no turn is decided yet</p>;
  return (
    <>
      <p class="legend" aria-hidden="true">
        {LEGEND.filter((kind) => occurring.has(kind)).map((kind) => (
          <span key={kind}>
            <span class={`swatch in-${kind}`} /> {WORDS[kind]}
          </span>
        ))}
      </p>
      <TimeAxis axis={axis} scale={scale} change={setAxis} />
      <Rows
        label="Turns"
        count={turns}
        follow={session.phase === 'open'}
        height={[40, 72]}
        href={(index) => turnLink(sid, index + 1)}
        onSight={(from, to) => {
          setRange([from, to]);
          sight(from, to);
        }}
        row={(index) => {
          const row = at(index);
          const times = parts(index);
          return row === null || times === null ? (
            <Unread turn={index + 1} problem={problemAt(index)} />
          ) : (
            <Line
              row={row}
              changed={isChanged(index)}
              times={times}
              scale={scale}
              nested={nested.filter(({ parent }) => parent?.sid === sid && parent.turn === row.turn)}
            />
          );
        }}
      />
    </>
  );
}

/** The recorded phases of a turn in words. */
export const PHASES: Readonly<Record<TurnPhase['name'], string>> = {
  store: 'store',
  prepare: 'prepare',
  queue: 'queue',
  load: 'load',
  run: 'program',
  verify: 'verify',
};

const WORDS = { asked: 'agent', before: 'earlier runs', ...PHASES, waited: 'calls' } as const;
type Kind = keyof typeof WORDS;
const LEGEND: readonly Kind[] = ['asked', 'before', 'store', 'prepare', 'queue', 'load', 'run', 'waited', 'verify'];

/** Where the time of a turn went, in order. */
interface Times {
  readonly spans: readonly { readonly kind: Kind; readonly begin: number; readonly ms: number }[];
  readonly total: number;
}

const endOf = (row: TurnRow | null): number | null => (row === null ? null : row.startedAt + row.latencyMs);

/** Its agent was asked between the end of the turn before and its own start. What a run's calls took is drawn behind the rest of it. */
function timesOf({ startedAt, latencyMs, phases, callsMs, agent }: TurnRow, before: number | null): Times {
  const asked = agent === null || before === null ? 0 : Math.max(0, startedAt - before);
  const first = phases[0]?.begin ?? 0;
  const spans = phases.flatMap(({ name, begin, ms }): Times['spans'] => {
    const waited = name === 'run' ? Math.min(callsMs, ms) : 0;
    const own = { kind: name, begin: asked + begin, ms: ms - waited };
    return waited === 0 ? [own] : [own, { kind: 'waited', begin: own.begin + own.ms, ms: waited }];
  });
  const earlier: Times['spans'] = [
    { kind: 'asked', begin: 0, ms: asked },
    { kind: 'before', begin: asked, ms: first },
  ];
  return { spans: [...earlier.filter(({ ms }) => ms > 0), ...spans], total: asked + latencyMs };
}

/** A turn that is not fetched yet, or that cannot be read. */
function Unread({ turn, problem }: { readonly turn: number; readonly problem: string | null }) {
  return (
    <span class="in-turns">
      <span class="number">{turn}</span>
      {problem === null ? (
        <span class="faint">…</span>
      ) : (
        <span class="problem unread" title={printable(problem)}>
          cannot be read: <Foreign text={problem} most={300} />
        </span>
      )}
    </span>
  );
}

interface LineProps {
  readonly row: TurnRow;
  readonly changed: boolean;
  readonly times: Times;
  readonly scale: Scale;
  /** The sessions that this turn opened. */
  readonly nested: readonly SessionRow[];
}

function Line({ row, changed, times, scale, nested }: LineProps) {
  const words = times.spans.map(({ kind, ms }) => `${WORDS[kind]} ${duration(ms)}`).join(', ');
  return (
    <span class="in-turns">
      <span class="number">{row.turn}</span>
      <Badge word={row.decision} />
      <span class="lane" role="img" aria-label={words} title={words}>
        {times.spans.map(({ kind, begin, ms }) => {
          const [left, right] = [scale.at(begin), scale.at(begin + ms)];
          return (
            <span key={kind} class={`span in-${kind}`} style={{ left: `${left * 100}%`, width: `${(right - left) * 100}%` }} />
          );
        })}
      </span>
      <span class="number faint">{duration(times.total)}</span>
      <MiniBars measures={row.measures} />
      <span class="faint">
        {counted(row.calls, 'call')}
        {row.failed > 0 && <span class="problem"> {row.failed} failed</span>}
      </span>
      <span class="reason" title={row.error === null ? undefined : printable(row.error.message)}>
        {nested.map((session) => (
          <span key={session.sid} class="faint" title={session.sid}>
            ↳ ask {session.above.at(-1)?.call} <Status row={session} />{' '}
          </span>
        ))}
        {changed && 'record changed '}
        {row.reason !== null && <Foreign text={row.reason} />}
        {row.overridden !== null && (
          <span class="faint">
            {' '}
            instead of <Foreign text={row.overridden} />
          </span>
        )}
        {row.error !== null && (
          <span class="faint">
            {' '}
            <Foreign text={row.error.message} most={160} />
          </span>
        )}
      </span>
    </span>
  );
}
