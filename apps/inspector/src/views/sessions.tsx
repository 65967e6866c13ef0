import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ChangeView, SessionRow, SessionsQuery } from '../../../../src/ui/views.ts';
import { printable } from '../../../../src/wire/text/printable.ts';
import { messageOf, useChanges, useWorld } from '../data/use.ts';
import { ago, clockTime, counted, duration, grouped, usdColumn } from '../format.ts';
import { Pending, SessionName, Status } from '../parts/marks.tsx';
import { Rows } from '../parts/rows.tsx';
import { Foreign } from '../parts/text.tsx';
import { sessionLink } from '../route.ts';
import { Query } from './query.tsx';

/** Most rows that the page keeps. */
const KEPT = 10_000;
/** Sessions of the first page, which should be there at once, and of the others. */
const [FIRST, PAGE] = [50, 200];

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
function useSessions(query: SessionsQuery, all: boolean): List & { readonly onSight: (to: number) => void } {
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
      const page = await source.sessions({
        ...query,
        limit: String(after === null ? FIRST : PAGE),
        ...(after === null ? {} : { after }),
      });
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
    if (list.of === of && next !== null && rows.length < KEPT && (all || sight.current > rows.length - 40)) void ask(next);
  };
  // Each answer may leave the end in sight: a page may be empty, and nothing is asked while a request is on its way.
  useEffect(() => {
    if (list.problem === null) fill();
  }, [list, all]);
  const shown = list.of === of ? list : { of, rows: [], next: null, problem: list.problem };
  const onSight = (to: number) => {
    sight.current = to;
    fill();
  };
  return { ...shown, onSight };
}

/** A column by which the list can be sorted; the greatest first, but texts by the alphabet. */
const COLUMNS = {
  turns: ['turns', ({ turns }: SessionRow) => turns],
  code: ['code', ({ last }: SessionRow) => last?.code ?? null],
  ms: ['took', ({ last }: SessionRow) => last?.ms ?? null],
  tokens: ['tokens', ({ last }: SessionRow) => last?.tokens ?? null],
  cost: ['cost', ({ last }: SessionRow) => last?.cost ?? null],
  attempts: ['attempts', ({ last }: SessionRow) => last?.attempts ?? null],
  changed: ['changed', ({ updatedAt }: SessionRow) => updatedAt],
} as const;
type Column = keyof typeof COLUMNS;
/** The columns that tell of the last turn alone; they stand beside each other. */
const OF_LAST: readonly Column[] = ['code', 'ms', 'tokens', 'cost', 'attempts'];

/** Rows by a column. Those without a value stand at the end. */
function sorted(rows: readonly SessionRow[], column: Column): readonly SessionRow[] {
  if (column === 'changed') return rows;
  const [, cellOf] = COLUMNS[column];
  return rows.toSorted((a, b) => {
    const [x, y] = [cellOf(a), cellOf(b)];
    if (x === null || y === null) return Number(x === null) - Number(y === null);
    return typeof x === 'string' ? x.localeCompare(String(y), 'en') : Number(y) - x;
  });
}

export function Sessions({ query }: { readonly query: SessionsQuery }) {
  const { about } = useWorld();
  const [column, setColumn] = useState<Column>('changed');
  const { rows: found, next, problem, onSight } = useSessions(query, column !== 'changed');
  const rows = useMemo(() => sorted(found, column), [found, column]);
  const usd = useMemo(() => usdColumn(rows.map(({ last }) => last?.cost ?? 0)), [rows]);
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => setNow(Date.now()), [rows]);
  return (
    <>
      <div class="head">
        <h1>Sessions</h1>
        <p class="faint" role="status">
          {problem === null && counted(rows.length, 'session')}
          {next === null ? '' : ' and more'}
          {about !== null && (
            <>
              {' '}
              in <Foreign text={about.store} />
            </>
          )}
        </p>
      </div>
      <Query query={query} rows={rows} />
      {problem !== null && <Pending problem={problem} what="sessions" />}
      {rows.length === 0 && problem === null && (
        <p class="none">
          {(query.q ?? '') === '' ? (
            <>
              There is no session yet. One appears here as soon as <code>neuroscript loop</code> stores it in this store.
            </>
          ) : (
            'No session matches.'
          )}
        </p>
      )}
      {rows.length > 0 && (
        <>
          <div class="row row-titles in-sessions">
            <span>status</span>
            <span>session</span>
            <span>subject</span>
            <span>agent</span>
            {(Object.keys(COLUMNS) as readonly Column[]).map((key) => (
              <button
                key={key}
                type="button"
                class="quiet sort"
                aria-pressed={key === column}
                title={`sort by ${COLUMNS[key][0]}${OF_LAST.includes(key) ? ' of the last turn' : ''}`}
                onClick={() => setColumn(key)}
              >
                {COLUMNS[key][0]}
                {key === column && <span aria-hidden="true"> ↓</span>}
              </button>
            ))}
            <span class="of-last">last turn</span>
          </div>
          <Rows
            label="Sessions"
            count={rows.length}
            height={[40, 64]}
            href={(index) => sessionLink(rows[index]?.sid ?? '')}
            onSight={(_, to) => onSight(to)}
            row={(index) => {
              const row = rows[index];
              return row === undefined ? null : <Line row={row} now={now} usd={usd} />;
            }}
          />
        </>
      )}
    </>
  );
}

/** A text that a narrow column may cut, for those who point at it. */
const titleOf = (text: string | null): string | undefined => (text === null ? undefined : printable(text));

interface LineProps {
  readonly row: SessionRow;
  readonly now: number;
  readonly usd: (amount: number) => string;
}

function Line({ row, now, usd }: LineProps) {
  const { last } = row;
  const code = last?.code ?? row.reason;
  return (
    <span class="in-sessions">
      <span>
        <Status row={row} />
      </span>
      <span class="strong" title={printable(row.sid)}>
        <SessionName row={row} />
        {row.damaged !== null && <span class="problem"> damaged</span>}
        {last?.changed && (
          <span class="problem" title="the record of the last turn was changed after it was sealed">
            {' '}
            record changed
          </span>
        )}
      </span>
      <span title={titleOf(row.subject)}>{row.subject !== null && <Foreign text={row.subject} />}</span>
      <span class="faint" title={titleOf(row.agent)}>
        {row.agent !== null && <Foreign text={row.agent} />}
      </span>
      <span class="number">{grouped(row.turns)}</span>
      <span class="reason" title={titleOf(code === row.reason ? code : `${row.reason ?? ''} ${code}`.trim())}>
        {code !== null && <Foreign text={code} />}
      </span>
      <span class="number" title="time of the last turn, without its agent's">
        {last !== null && duration(last.ms)}
      </span>
      <span class="number">{last !== null && last.tokens > 0 && grouped(last.tokens)}</span>
      <span class="number" title="cost of the last turn">
        {last !== null && last.cost > 0 && usd(last.cost)}
      </span>
      <span class="number">{last !== null && last.attempts > 1 && last.attempts}</span>
      <span class="faint number" title={clockTime(row.updatedAt)}>
        {ago(now - row.updatedAt)}
      </span>
    </span>
  );
}
