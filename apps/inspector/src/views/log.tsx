import { useState } from 'preact/hooks';
import type { LogRow, LogView } from '../../../../src/ui/logviews.ts';
import { printable } from '../../../../src/wire/text/printable.ts';
import { useAnswer, useChanges, useWorld } from '../data/use.ts';
import { counted, duration, grouped } from '../format.ts';
import { Badge, Moment, Pending, SessionName } from '../parts/marks.tsx';
import { Scroll } from '../parts/scroll.tsx';
import { Foreign, lines } from '../parts/text.tsx';
import { sessionLink, turnLink } from '../route.ts';

/** Lines of one page, as many as the server gives. */
const PAGE = 100;

/** The decision log: whether each line follows from the one before, and where the chain breaks. */
export function Log() {
  const { source } = useWorld();
  const [after, setAfter] = useState<number | null>(null);
  const answer = useAnswer(() => source.log(after), [after]);
  useChanges(null, ({ kind }) => kind !== 'session', answer.reload);
  const { value: log, problem } = answer;
  return (
    <>
      <div class="head">
        <h1>Decision log</h1>
        {log?.log && (
          <p class="faint">
            <Foreign text={log.log} />
          </p>
        )}
      </div>
      {log === null ? (
        <Pending problem={problem} what="the log" />
      ) : log.log === null ? (
        <p class="none">
          This server was started without a log. <code>neuroscript loop --log FILE</code> writes one; start{' '}
          <code>neuroscript ui --log FILE</code>.
        </p>
      ) : (
        <>
          <Chain log={log} />
          {log.total > 0 && <Pages log={log} go={setAfter} />}
          {log.total > 0 && <Lines log={log} />}
        </>
      )}
    </>
  );
}

function Chain({ log }: { readonly log: LogView }) {
  const { whole, total, head, broken, repeated } = log;
  return (
    <section class={`ending ${broken === null ? 'is-done' : 'is-halt'}`} aria-label="The chain">
      {broken === null ? (
        <p class={total === 0 ? '' : 'good'}>
          {total === 0
            ? 'It has no line yet: no turn was decided.'
            : `✓ ${counted(total, 'line')}, each follows from the one before`}
        </p>
      ) : (
        <p class="problem">
          ✕ The chain breaks in line {grouped(broken.line)} of <Foreign text={broken.file} />: <Foreign text={broken.why} />. The{' '}
          {counted(whole, 'line')} before it follow one another; nothing behind it is vouched for.
        </p>
      )}
      {repeated !== null && (
        <p class="problem">
          Line {grouped(repeated.line)} of <Foreign text={repeated.file} /> decides a turn again: <Foreign text={repeated.why} />
        </p>
      )}
      {total > 0 && (
        <p class="faint">
          head{' '}
          <code>
            <Foreign text={head} />
          </code>
        </p>
      )}
    </section>
  );
}

function Pages({ log, go }: { readonly log: LogView; readonly go: (after: number | null) => void }) {
  const { total, broken } = log;
  const first = log.lines[0]?.line ?? 1;
  const last = log.lines.at(-1)?.line ?? 0;
  const button = (label: string, after: number | null, useful: boolean) => (
    <button type="button" disabled={!useful} onClick={() => go(after)}>
      {label}
    </button>
  );
  return (
    <div class="toolbar">
      {button('First', 0, first > 1)}
      {button('Earlier', Math.max(0, first - 1 - PAGE), first > 1)}
      {button('Later', last, last < total)}
      {button('Last', null, last < total)}
      {broken !== null && button('Broken line', Math.max(0, broken.place - 10), true)}
      <span role="status">
        {log.lines.length === 0 ? 'no lines' : `lines ${grouped(first)} to ${grouped(last)} of ${grouped(total)}`}
      </span>
    </div>
  );
}

const STATES = { follows: '✓', broken: '✕ breaks here', behind: '? after the break' } as const;

function Lines({ log }: { readonly log: LogView }) {
  return (
    <Scroll label="Lines of the log">
      <table class="plain log">
        <thead>
          <tr>
            <th scope="col" class="number">
              line
            </th>
            <th scope="col">chain</th>
            <th scope="col">time</th>
            <th scope="col">session</th>
            <th scope="col" class="number">
              turn
            </th>
            <th scope="col">decision</th>
            <th scope="col" class="number">
              took
            </th>
          </tr>
        </thead>
        <tbody>
          {log.lines.map((row) => (
            <Line key={row.line} row={row} />
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

/** The time that a line has written, in the style of the page; a foreign log may have any text. */
function Written({ ts }: { readonly ts: string }) {
  const at = Date.parse(ts);
  return Number.isNaN(at) ? <Foreign text={ts} most={40} /> : <Moment at={at} />;
}

function Line({ row: { line, state, text, entry } }: { readonly row: LogRow }) {
  return (
    <tr class={`is-${state}`}>
      <th scope="row" class="number">
        {grouped(line)}
      </th>
      <td class={state === 'follows' ? 'good' : 'problem'}>
        {STATES[state]}
        <span class="hidden">{state === 'follows' ? 'follows' : ''}</span>
      </td>
      {entry === null ? (
        <td colSpan={5}>
          <code>{lines(text.slice(0, 400))}</code>
        </td>
      ) : (
        <>
          <td>
            <Written ts={entry.ts} />
          </td>
          <td>
            <span class="one-line" title={printable(entry.subject ?? '')}>
              <a href={sessionLink(entry.sid)}>
                <SessionName row={entry} />
              </a>{' '}
              {entry.subject !== null && entry.above.length === 0 && (
                <span class="faint">
                  <Foreign text={entry.subject} />
                </span>
              )}
            </span>
          </td>
          <td class="number">
            <a href={turnLink(entry.sid, entry.turn)}>{entry.turn}</a>
          </td>
          <td>
            <Badge word={entry.decision} /> {entry.reason !== null && <Foreign text={entry.reason} most={60} />}
          </td>
          <td class="number">{duration(entry.latencyMs)}</td>
        </>
      )}
    </tr>
  );
}
