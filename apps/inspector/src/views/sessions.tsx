import { useEffect, useRef, useState } from 'preact/hooks';
import type { ChangeView, SessionRow, SessionsQuery } from '../../../../src/ui/views.ts';
import { messageOf, useChanges, useWorld } from '../data/use.ts';
import { ago, clockTime, counted } from '../format.ts';
import { Badge, Pending } from '../parts/marks.tsx';
import { Rows } from '../parts/rows.tsx';
import { Foreign } from '../parts/text.tsx';
import { sessionLink, sessionsLink } from '../route.ts';

/** Most rows that the page keeps. */
const KEPT = 10_000;
const PAGE = 200;

interface List {
  readonly of: string;
  readonly rows: readonly SessionRow[];
  readonly next: string | null;
  readonly problem: string | null;
}

/** Puts the newest page before the known rows, and removes rows that the page repeats from them. */
function merged(page: readonly SessionRow[], rows: readonly SessionRow[]): readonly SessionRow[] {
  const fresh = new Set(page.map(({ sid }) => sid));
  return [...page, ...rows.filter(({ sid }) => !fresh.has(sid))].slice(0, KEPT);
}

/** The list of sessions: the newest first, the next page when the reader comes near the end. */
function useSessions(query: SessionsQuery): List & { readonly onSight: (to: number) => void } {
  const { source } = useWorld();
  const of = JSON.stringify(query);
  const [list, setList] = useState<List>({ of: '', rows: [], next: null, problem: null });
  const asking = useRef(false);
  /** Whether something changed while a request was on its way: its answer may be older. */
  const stale = useRef(false);
  const current = useRef(of);
  current.current = of;

  const ask = async (after: string | null) => {
    if (asking.current) {
      stale.current ||= after === null;
      return;
    }
    asking.current = true;
    try {
      const page = await source.sessions({ ...query, limit: String(PAGE), ...(after === null ? {} : { after }) });
      if (current.current === of)
        setList((last) => {
          if (last.of !== of) return { of, rows: page.sessions, next: page.next, problem: null };
          return after === null
            ? { ...last, rows: merged(page.sessions, last.rows), problem: null }
            : { of, rows: merged(last.rows, page.sessions), next: page.next, problem: null };
        });
    } catch (error) {
      setList((last) => ({ ...last, of, problem: messageOf(error) }));
    } finally {
      asking.current = false;
    }
    if (!stale.current || current.current !== of) return;
    stale.current = false;
    void ask(null);
  };

  useEffect(() => {
    asking.current = false;
    stale.current = false;
    void ask(null);
  }, [of]);
  useChanges(
    null,
    ({ kind }: ChangeView) => kind !== 'log',
    () => void ask(null),
  );
  const sight = useRef(0);
  const fill = () => {
    const { next, rows } = list;
    if (list.of === of && next !== null && rows.length < KEPT && sight.current > rows.length - 40) void ask(next);
  };
  // Each answer may leave the end in sight: a page may be empty, and nothing is asked while a request is on its way.
  useEffect(() => {
    if (list.problem === null) fill();
  }, [list]);
  const shown = list.of === of ? list : { of, rows: [], next: null, problem: list.problem };
  const onSight = (to: number) => {
    sight.current = to;
    fill();
  };
  return { ...shown, onSight };
}

export function Sessions({ query }: { readonly query: SessionsQuery }) {
  const { about } = useWorld();
  const { rows, next, problem, onSight } = useSessions(query);
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => setNow(Date.now()), [rows]);
  return (
    <>
      <div class="head">
        <h1>Sessions</h1>
        <p class="faint" role="status">
          {counted(rows.length, 'session')}
          {next === null ? '' : ' and more'}
          {about !== null && (
            <>
              {' '}
              in <Foreign text={about.store} />
            </>
          )}
        </p>
      </div>
      <Filters query={query} />
      {problem !== null && <Pending problem={problem} what="sessions" />}
      {rows.length === 0 && problem === null && (
        <p class="none">No session matches. A session appears here as soon as `neuroscript loop` stores it in this store.</p>
      )}
      {rows.length > 0 && (
        <>
          <div class="row row-titles in-sessions" aria-hidden="true">
            <span>status</span>
            <span>session</span>
            <span>subject</span>
            <span>agent</span>
            <span>turns</span>
            <span>changed</span>
          </div>
          <Rows
            label="Sessions"
            count={rows.length}
            height={[40, 64]}
            href={(index) => sessionLink(rows[index]?.sid ?? '')}
            onSight={(_, to) => onSight(to)}
            row={(index) => {
              const row = rows[index];
              return row === undefined ? null : <Line row={row} now={now} />;
            }}
          />
        </>
      )}
    </>
  );
}

function Line({ row, now }: { readonly row: SessionRow; readonly now: number }) {
  return (
    <span class="in-sessions">
      <span>
        <Badge word={row.phase} />{' '}
        {row.driven && (
          <span class="faint" title="a process drives this session">
            driven
          </span>
        )}
      </span>
      <span class="strong">
        <Foreign text={row.sid} />
        {row.parent !== null && <span class="faint"> nested</span>}
        {row.damaged !== null && <span class="problem"> damaged</span>}
      </span>
      <span>
        {row.subject !== null && <Foreign text={row.subject} />}
        {row.reason !== null && (
          <span class="reason">
            {' '}
            <Foreign text={row.reason} />
          </span>
        )}
      </span>
      <span class="faint">{row.agent !== null && <Foreign text={row.agent} />}</span>
      <span class="number">{row.turns}</span>
      <span class="faint" title={clockTime(row.updatedAt)}>
        {ago(now - row.updatedAt)}
      </span>
    </span>
  );
}

const AGES = [
  ['', 'any time'],
  ['3600000', 'last hour'],
  ['86400000', 'last day'],
  ['604800000', 'last week'],
  ['2592000000', 'last 30 days'],
] as const;

/** The filters; each change is a new address, so that a filtered list can be kept and shared. */
function Filters({ query }: { readonly query: SessionsQuery }) {
  const [age, setAge] = useState('');
  const go = (change: SessionsQuery) => {
    location.hash = sessionsLink({ ...query, ...change });
  };
  const choose = (value: string) => {
    const { decision: _, ...rest } = query;
    const phase = PHASES.find((each) => each === value);
    location.hash = sessionsLink(phase === undefined ? rest : { ...rest, decision: phase });
  };
  const timer = useRef<number | null>(null);
  const typed = (name: 'search' | 'agent' | 'subject' | 'error') => ({
    defaultValue: query[name] ?? '',
    onInput: (event: Event) => {
      const { target } = event;
      if (!(target instanceof HTMLInputElement)) return;
      if (timer.current !== null) clearTimeout(timer.current);
      timer.current = window.setTimeout(() => go({ [name]: target.value }), 250);
    },
  });
  return (
    <search aria-label="Filters of sessions">
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label class="wide">
          Search <input type="search" id="search" placeholder="id, subject or agent" {...typed('search')} />
        </label>
        <label>
          Status{' '}
          <select value={query.decision ?? ''} onChange={({ currentTarget }) => choose(currentTarget.value)}>
            <option value="">all</option>
            {PHASES.map((phase) => (
              <option key={phase}>{phase}</option>
            ))}
          </select>
        </label>
        <label>
          Error <input placeholder="ERR_POLICY" size={14} {...typed('error')} />
        </label>
        <label>
          Agent <input size={10} {...typed('agent')} />
        </label>
        <label>
          Subject <input size={10} {...typed('subject')} />
        </label>
        <label>
          Changed{' '}
          <select
            value={query.since === undefined ? '' : age}
            onChange={({ currentTarget: { value } }) => {
              setAge(value);
              go({ since: value === '' ? '' : String(Date.now() - Number(value)) });
            }}
          >
            {AGES.map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <a class="button" href={sessionsLink()}>
          Clear
        </a>
      </form>
    </search>
  );
}

const PHASES = ['open', 'waiting', 'done', 'aborted', 'halted'] as const;
