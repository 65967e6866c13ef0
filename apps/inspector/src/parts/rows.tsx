import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Rows that stand ready above and below those in sight. */
const OVERSCAN = 8;

interface RowsProps {
  readonly label: string;
  readonly count: number;
  /** Pixels of one row, on a wide page and on a narrow one. */
  readonly height: readonly [wide: number, narrow: number];
  /** Where a row leads to; null for one whose data is not there yet. */
  readonly href: (index: number) => string | null;
  readonly row: (index: number) => ComponentChildren;
  /** Called with the rows in sight. */
  readonly onSight?: (from: number, to: number) => void;
  /** Whether the list begins at its end and stays there while rows are added, until the reader scrolls away. */
  readonly follow?: boolean;
}

const NARROW = matchMedia('(max-width: 700px)');

/** Whether the page is as narrow as a phone now. */
export const isNarrow = (): boolean => NARROW.matches;

function useNarrow(): boolean {
  const [narrow, setNarrow] = useState(NARROW.matches);
  useEffect(() => {
    const follow = () => setNarrow(NARROW.matches);
    NARROW.addEventListener('change', follow);
    return () => NARROW.removeEventListener('change', follow);
  }, []);
  return narrow;
}

/**
 * A list of any length, of which only the rows in sight are in the page. One row takes part in the order of the Tab key; the arrow
 * keys, Page Up, Page Down, Home and End move from row to row.
 */
export function Rows({ label, count, height: heights, href, row, onSight, follow = false }: RowsProps) {
  const height = heights[useNarrow() ? 1 : 0];
  const frame = useRef<HTMLDivElement>(null);
  const [sight, setSight] = useState({ top: 0, tall: 600 });
  const [active, setActive] = useState(0);
  const moved = useRef(false);
  const atEnd = useRef(true);

  const measure = () => {
    const { current } = frame;
    if (current === null) return;
    const { scrollTop: top, clientHeight: tall } = current;
    atEnd.current = top + tall >= current.scrollHeight - height;
    setSight((last) => (last.top === top && last.tall === tall ? last : { top, tall }));
  };
  useLayoutEffect(() => {
    const { current } = frame;
    if (!follow || !atEnd.current || current === null) return;
    current.scrollTop = current.scrollHeight;
    measure();
  }, [count, follow]);
  useLayoutEffect(() => {
    const { current } = frame;
    if (current === null) return undefined;
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    return () => observer.disconnect();
  }, []);

  const from = Math.max(0, Math.floor(sight.top / height) - OVERSCAN);
  const to = Math.min(count, Math.ceil((sight.top + sight.tall) / height) + OVERSCAN);
  useEffect(() => onSight?.(from, to), [from, to]);
  // A row that was scrolled away cannot hold the place in the order of the Tab key.
  const stop = active >= from && active < to ? active : Math.min(count - 1, Math.ceil(sight.top / height));

  useLayoutEffect(() => {
    if (!moved.current) return;
    moved.current = false;
    frame.current?.querySelector<HTMLElement>(`[data-row="${active}"]`)?.focus({ preventScroll: true });
  });

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(sight.tall / height) - 1);
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: stop + 1,
      ArrowUp: stop - 1,
      j: stop + 1,
      k: stop - 1,
      PageDown: stop + page,
      PageUp: stop - page,
      Home: 0,
      End: count - 1,
    };
    const wanted = steps[event.key];
    const { current } = frame;
    if (wanted === undefined || current === null) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(count - 1, wanted));
    if (next * height < current.scrollTop) current.scrollTop = next * height;
    else if ((next + 1) * height > current.scrollTop + current.clientHeight)
      current.scrollTop = (next + 1) * height - current.clientHeight;
    moved.current = true;
    setActive(next);
    measure();
  };

  // From anywhere in the page, j and k go to the list.
  useEffect(() => {
    const begin = (event: Event) => {
      if (!(event instanceof CustomEvent)) return;
      if (frame.current?.contains(document.activeElement)) onKeyDown(new KeyboardEvent('keydown', { key: String(event.detail) }));
      else frame.current?.querySelector<HTMLElement>(`[data-row="${stop}"]`)?.focus();
    };
    addEventListener('rows', begin);
    return () => removeEventListener('rows', begin);
  });

  const indices = Array.from({ length: Math.max(0, to - from) }, (_, offset) => from + offset);
  return (
    <div class="rows" ref={frame} onScroll={measure}>
      <ul class="rows-space" aria-label={label} style={{ height: `${count * height}px` }} onKeyDown={onKeyDown}>
        {indices.map((index) => {
          const link = href(index);
          return (
            <li
              key={index}
              aria-setsize={count}
              aria-posinset={index + 1}
              class="row-place"
              style={{ top: `${index * height}px`, height: `${height}px` }}
            >
              {link === null ? (
                <span class="row is-absent" data-row={index} tabIndex={index === stop ? 0 : -1}>
                  …
                </span>
              ) : (
                <a class="row" href={link} data-row={index} tabIndex={index === stop ? 0 : -1} onFocus={() => setActive(index)}>
                  {row(index)}
                </a>
              )}
            </li>
          );
        })}
      </ul>
    </div>
  );
}
