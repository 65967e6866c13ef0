import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { SessionView, TurnRow } from '../../../src/ui/views.ts';
import { messageOf, useAnswer, useChanges, useWorld } from '../data/use.ts';
import { counted, duration, grouped } from '../format.ts';
import { Badge, Facts, MiniBars, Moment, Pending, Section, sentenceOf } from '../parts/marks.tsx';
import { Rows } from '../parts/rows.tsx';
import { Foreign, LongText } from '../parts/text.tsx';
import { sessionLink, turnLink } from '../route.ts';
import { Waiting } from './waiting.tsx';

/** Turns of one request, and most requests whose turns the page keeps. */
const CHUNK = 200;
const CHUNKS = 6;

export function Session({ sid }: { readonly sid: string }) {
  const { source } = useWorld();
  const answer = useAnswer(() => source.session(sid), [sid]);
  useChanges(sid, (change) => change.kind === 'sessions' || (change.kind === 'session' && change.sid === sid), answer.reload);
  const { value, problem } = answer;
  if (value === null) return <Pending problem={problem} what="the session" />;
  return (
    <>
      <Head session={value} reload={answer.reload} />
      {problem !== null && <Pending problem={problem} what="" />}
      <Ending session={value} />
      {value.calls.length > 0 && <Waiting session={value} reload={answer.reload} />}
      {value.nested.length > 0 && <Nested session={value} />}
      <Section id="timeline" title={`Timeline: ${counted(value.turns, 'turn')}`}>
        <Timeline session={value} />
      </Section>
      {value.userdata !== null && (
        <details class="block">
          <summary>USERDATA of the host</summary>
          <LongText view={value.userdata} label="USERDATA" />
        </details>
      )}
    </>
  );
}

function Head({ session, reload }: { readonly session: SessionView; readonly reload: () => void }) {
  const { source, say } = useWorld();
  const { sid, phase } = session;
  const cancel = async () => {
    try {
      const { ended } = await source.cancel(sid);
      say(ended ? 'the session is cancelled' : 'the process that drives the session was asked to end it');
    } catch (error) {
      say(messageOf(error));
    }
    reload();
  };
  return (
    <>
      <nav class="crumbs" aria-label="Path">
        <a href="#/">Sessions</a>
        {session.parent?.sid && (
          <>
            {' › '}
            <a href={sessionLink(session.parent.sid)}>
              <Foreign text={session.parent.sid} />
            </a>
          </>
        )}
      </nav>
      <div class="head">
        <h1>
          <Foreign text={sid} />
        </h1>
        <Badge word={phase} />
        {source.live && (phase === 'open' || phase === 'waiting') && (
          <ConfirmButton label="Cancel session" question="Cancel this session for good?" act={() => void cancel()} />
        )}
      </div>
      <Facts
        wide
        facts={[
          ['subject', session.subject === null ? null : <Foreign text={session.subject} />],
          ['agent', session.agent === null ? null : <Foreign text={session.agent} />],
          ['began', <Moment at={session.createdAt} />],
          ['last change', <Moment at={session.updatedAt} />],
          ['fuel', session.spent === null ? null : grouped(session.spent.fuel)],
          ['model tokens', session.spent === null || session.spent.tokens === 0 ? null : grouped(session.spent.tokens)],
          ['tenant', session.tenant === null || session.tenant === '' ? null : <Foreign text={session.tenant} />],
          ['driven by', session.lease === null ? null : <Foreign text={session.lease.owner} />],
          ['in turn', session.started === null ? null : session.started],
          ['log', session.owed === 0 ? null : `${counted(session.owed, 'entry')} not known to be in the log`],
          [
            'damaged',
            session.damaged === null ? null : (
              <span class="problem">
                <Foreign text={session.damaged} />
              </span>
            ),
          ],
        ]}
      />
    </>
  );
}

/** A button whose act cannot be undone: it asks once more, in its place. */
export function ConfirmButton({
  label,
  question,
  act,
}: {
  readonly label: string;
  readonly question: string;
  readonly act: () => void;
}) {
  const [asking, setAsking] = useState(false);
  const yes = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    if (asking) yes.current?.focus();
  }, [asking]);
  if (!asking) {
    return (
      <button type="button" onClick={() => setAsking(true)}>
        {label}
      </button>
    );
  }
  return (
    <fieldset class="confirm">
      <legend>{question}</legend>
      <button
        type="button"
        class="is-strong"
        ref={yes}
        onClick={() => {
          setAsking(false);
          act();
        }}
      >
        Yes
      </button>{' '}
      <button type="button" onClick={() => setAsking(false)}>
        No
      </button>
    </fieldset>
  );
}

/** Why the session ended, and where to look. */
function Ending({ session }: { readonly session: SessionView }) {
  const { source } = useWorld();
  const { sid, turns, phase, reason } = session;
  const last = useAnswer(
    async () => (turns === 0 ? null : ((await source.turns(sid, turns - 1, 1)).turns[0] ?? null)),
    [sid, turns, phase],
  );
  if (phase === 'open' || phase === 'waiting') return null;
  const row = last.value;
  const sentence = sentenceOf(reason);
  return (
    <section class={`ending is-${phase}`} aria-labelledby="ending">
      <h2 id="ending">Why it ended</h2>
      <p>
        {phase === 'done' && 'The program of the last turn said that the task is done.'}
        {phase === 'aborted' && 'The program of the last turn gave up.'}
        {phase === 'halted' && (
          <>
            The host halted it:{' '}
            <strong>
              <Foreign text={reason ?? ''} />
            </strong>
            {sentence === null ? '.' : `: ${sentence}.`}
          </>
        )}
      </p>
      {row?.error && (
        <p class="problem">
          <Foreign text={row.error.message} />{' '}
          <span class="faint">
            (<Foreign text={row.error.code} />)
          </span>
        </p>
      )}
      {turns > 0 && (
        <p>
          <a href={turnLink(sid, turns)}>Open turn {turns}, the last one</a>
          {row !== null && row.failed > 0 && (
            <>
              {' · '}
              <a href={turnLink(sid, turns, 'calls')}>{counted(row.failed, 'failed call')} of it</a>
            </>
          )}
        </p>
      )}
    </section>
  );
}

function Nested({ session }: { readonly session: SessionView }) {
  return (
    <Section id="nested" title={`Nested sessions: ${session.nested.length}`}>
      <ul class="plain">
        {session.nested.map(({ sid, phase, reason, turns, parent }) => (
          <li key={sid}>
            <Badge word={phase} />{' '}
            <a href={sessionLink(sid)}>
              <Foreign text={sid} />
            </a>{' '}
            <span class="faint">
              {counted(turns, 'turn')}
              {parent === null ? '' : `, opened in turn ${parent.turn}`} {reason !== null && <Foreign text={reason} />}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** Turns that follow one another, and the last turn for which the server was asked: it may have no row for a damaged one. */
interface Chunk {
  readonly until: number;
  readonly rows: readonly TurnRow[];
}

/** The turns around those in sight, fetched when they come into sight and forgotten when they are far from it. */
function useTurns(session: SessionView): {
  readonly at: (index: number) => TurnRow | null;
  readonly sight: (from: number, to: number) => void;
} {
  const { source } = useWorld();
  const { sid, turns, timeline } = session;
  const chunks = useRef(new Map<number, Chunk>());
  const [, redraw] = useState(0);
  const shown = useRef('');
  if (shown.current !== sid) {
    shown.current = sid;
    chunks.current.clear();
  }
  // The session brings its first turns, which saves the first request.
  chunks.current.set(0, { until: Math.min(turns, timeline.next ?? turns, CHUNK), rows: timeline.turns });
  const inSight = useRef<readonly [number, number]>([0, 0]);

  const fetchSight = useCallback(() => {
    const [from, to] = inSight.current;
    for (let chunk = Math.floor(from / CHUNK); chunk * CHUNK < to; chunk += 1) {
      const known = chunks.current.get(chunk);
      const until = Math.min(turns, (chunk + 1) * CHUNK);
      if (known !== undefined && known.until >= until) continue;
      chunks.current.set(chunk, { until, rows: known?.rows ?? [] });
      void source.turns(sid, chunk * CHUNK, CHUNK).then(
        (page) => {
          if (shown.current !== sid) return;
          chunks.current.set(chunk, { until, rows: page.turns });
          const middle = Math.floor((inSight.current[0] + inSight.current[1]) / 2 / CHUNK);
          const far = [...chunks.current.keys()].sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle)).slice(CHUNKS);
          for (const key of far) chunks.current.delete(key);
          redraw((count) => count + 1);
        },
        () => chunks.current.delete(chunk),
      );
    }
  }, [sid, turns, source]);
  useEffect(fetchSight, [fetchSight]);
  return {
    at: (index) => chunks.current.get(Math.floor(index / CHUNK))?.rows.find(({ turn }) => turn === index + 1) ?? null,
    sight: (from, to) => {
      inSight.current = [from, to];
      fetchSight();
    },
  };
}

function Timeline({ session }: { readonly session: SessionView }) {
  const { sid, turns, createdAt } = session;
  const { at, sight } = useTurns(session);
  const [range, setRange] = useState<readonly [number, number]>([0, 30]);
  const parts = (index: number) => {
    const row = at(index);
    return row === null ? null : partsOf(row, index === 0 ? createdAt : endOf(at(index - 1)));
  };
  const inSight = Array.from({ length: Math.max(0, range[1] - range[0]) }, (_, offset) => parts(range[0] + offset));
  const scale = scaleOf(inSight.flatMap((each) => (each === null ? [] : [each.total])));
  if (turns === 0) return <p class="none">no turn is decided yet</p>;
  return (
    <>
      <p class="legend" aria-hidden="true">
        {KINDS.map((kind) => (
          <span key={kind}>
            <span class={`swatch in-${kind}`} /> {kind}
          </span>
        ))}
      </p>
      <Rows
        label="Turns"
        count={turns}
        follow={session.phase === 'open'}
        height={[36, 72]}
        href={(index) => turnLink(sid, index + 1)}
        onSight={(from, to) => {
          setRange([from, to]);
          sight(from, to);
        }}
        row={(index) => {
          const row = at(index);
          const times = parts(index);
          return row === null || times === null ? (
            <span class="in-turns">
              <span class="number">{index + 1}</span>
              <span class="faint">…</span>
            </span>
          ) : (
            <Line row={row} times={times} scale={scale} />
          );
        }}
      />
    </>
  );
}

const KINDS = ['asked', 'queued', 'ran', 'waited', 'decided'] as const;

type Times = Readonly<Record<(typeof KINDS)[number], number>> & { readonly total: number };

/** The time that a whole lane stands for: few turns are longer, so that one long turn does not make all others invisible. */
function scaleOf(totals: readonly number[]): number {
  const sorted = totals.toSorted((a, b) => a - b);
  return Math.max(1, (sorted[Math.floor((sorted.length - 1) * 0.85)] ?? 1) * 1.2);
}

const endOf = (row: TurnRow | null): number | null => (row === null ? null : row.startedAt + row.latencyMs);

/** Where the time of a turn went. Its agent was asked between the end of the turn before and its own start. */
function partsOf({ startedAt, latencyMs, queueMs, ranMs, callsMs, agent }: TurnRow, before: number | null): Times {
  const asked = agent === null || before === null ? 0 : Math.max(0, startedAt - before);
  const queued = queueMs ?? 0;
  const waited = Math.min(callsMs, ranMs);
  const ran = ranMs - waited;
  const decided = Math.max(0, latencyMs - queued - ranMs);
  return { asked, queued, ran, waited, decided, total: asked + queued + ran + waited + decided };
}

function Line({ row, times, scale }: { readonly row: TurnRow; readonly times: Times; readonly scale: number }) {
  const words = KINDS.map((kind) => `${kind} ${duration(times[kind])}`).join(', ');
  return (
    <span class="in-turns">
      <span class="number">{row.turn}</span>
      <Badge word={row.decision} />
      <span class={times.total > scale ? 'lane is-clipped' : 'lane'} role="img" aria-label={words} title={words}>
        {KINDS.map((kind) => (
          <span key={kind} class={`span in-${kind}`} style={{ width: `${(times[kind] / scale) * 100}%` }} />
        ))}
      </span>
      <span class="number faint">{duration(times.total)}</span>
      <MiniBars measures={row.measures} />
      <span class="faint">
        {counted(row.calls, 'call')}
        {row.failed > 0 && <span class="problem"> {row.failed} failed</span>}
      </span>
      <span class="reason">
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
