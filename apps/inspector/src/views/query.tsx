import { useEffect, useRef, useState } from 'preact/hooks';
import type { SessionRow, SessionsQuery } from '../../../../src/ui/views.ts';
import { grouped } from '../format.ts';
import { statusOf } from '../parts/marks.tsx';
import { isNarrow } from '../parts/rows.tsx';
import { Foreign } from '../parts/text.tsx';
import { sessionsLink } from '../route.ts';

/** Most terms of a kind that are offered. */
const CHOICES = 5;

/** The words with which a query names what the rows have in common, with the number of rows: the most frequent of each kind. */
function choicesOf(rows: readonly SessionRow[]): readonly (readonly [term: string, count: number])[] {
  const kinds: readonly (readonly [key: string, of: (row: SessionRow) => string | null])[] = [
    ['status', statusOf],
    ['reason', ({ reason }) => reason],
    ['agent', ({ agent }) => agent],
  ];
  return kinds.flatMap(([key, of]) => {
    const counts = new Map<string, number>();
    for (const row of rows) {
      const text = of(row);
      if (text !== null) counts.set(text, (counts.get(text) ?? 0) + 1);
    }
    const most = [...counts].sort(([, a], [, b]) => b - a).slice(0, CHOICES);
    return most.map(([text, count]): readonly [string, number] => [termOf(key, text), count]);
  });
}

const termOf = (key: string, text: string): string => `${key}:${/[\s:"]/.test(text) ? `"${text.replaceAll('"', '')}"` : text}`;

/** The query; each change is a new address, so that a filtered list can be kept and shared. */
export function Query({ query, rows }: { readonly query: SessionsQuery; readonly rows: readonly SessionRow[] }) {
  const { q = '' } = query;
  const [text, setText] = useState(q);
  useEffect(() => setText(q), [q]);
  const go = (words: string) => {
    location.hash = sessionsLink({ q: words.trim() });
  };
  const timer = useRef<number | null>(null);
  const typed = (words: string) => {
    setText(words);
    if (timer.current !== null) clearTimeout(timer.current);
    timer.current = window.setTimeout(() => go(words), 250);
  };
  const terms = q.split(/\s+/);
  const choices = choicesOf(rows).filter(([term]) => !terms.includes(term));
  return (
    <search aria-label="Query of sessions">
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label class="wide">
          Find{' '}
          <input
            type="search"
            id="search"
            placeholder="status:halted error:timeout tool:mail.Send agent:qwen since:2h words"
            value={text}
            onInput={({ currentTarget }) => typed(currentTarget.value)}
          />
        </label>
        {q !== '' && (
          <a class="button" href={sessionsLink()}>
            Clear
          </a>
        )}
      </form>
      {choices.length > 0 && (
        <details class="choices" open={!isNarrow()}>
          <summary class="faint">Narrow by</summary>
          <ul aria-label="Narrow the sessions that are shown">
            {choices.map(([term, count]) => (
              <li key={term}>
                <a class="term" href={sessionsLink({ q: `${q} ${term}`.trim() })}>
                  <Foreign text={term} most={60} /> <span class="faint">{grouped(count)}</span>
                </a>
              </li>
            ))}
          </ul>
        </details>
      )}
    </search>
  );
}
