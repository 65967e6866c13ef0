import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { grouped, percent } from '../format.ts';
import { Scroll } from '../parts/scroll.tsx';
import { lines } from '../parts/text.tsx';
import { type Cost, QUANTITIES, type Quantity, spentText } from './heat.tsx';

/** Most lines of a program that the page shows. */
const MOST = 5000;

interface ListingProps {
  readonly text: string;
  /** Null for a listing without costs. */
  readonly heat: ReadonlyMap<number, Cost> | null;
  readonly quantity: Quantity;
  /** The line to which the listing scrolls. */
  readonly marked: number | null;
  /** What stands below a line, such as its error. */
  readonly below?: { readonly line: number; readonly content: ComponentChildren } | null;
  /** Where a line number leads to. */
  readonly href?: (line: number) => string;
  readonly label: string;
}

/** A program with its line numbers and the heat of each line. */
export function Listing({ text, heat, quantity, marked, below = null, href, label }: ListingProps) {
  const place = useRef<HTMLTableRowElement>(null);
  useEffect(() => place.current?.scrollIntoView({ block: 'nearest' }), [marked]);
  const all = text.replace(/\n$/, '').split('\n');
  const most = Math.max(1, ...(heat === null ? [] : Array.from(heat.values(), (each) => each.amount)));
  const sum = heat === null ? 0 : heat.values().reduce((total, each) => total + each.amount, 0);
  return (
    <Scroll class="listing" label={label}>
      <table>
        <thead>
          <tr>
            <th scope="col">line</th>
            {heat !== null && <th scope="col">{QUANTITIES[quantity]}</th>}
            {heat !== null && <th scope="col">{quantity === 'recorded' ? 'calls' : 'visits'}</th>}
            <th scope="col">program</th>
          </tr>
        </thead>
        <tbody>
          {all.slice(0, MOST).map((code, index) => {
            const line = index + 1;
            const spent = heat?.get(line);
            const own = spent?.amount ?? 0;
            return (
              <>
                <tr
                  key={line}
                  class={`${line === marked ? 'is-marked' : ''}${below?.line === line ? ' is-wrong' : ''}`}
                  {...(line === marked ? { ref: place, 'aria-current': 'true' as const } : {})}
                >
                  <th scope="row" class="number">
                    {href !== undefined ? <a href={href(line)}>{line}</a> : line}
                  </th>
                  {heat !== null && (
                    <td class="heat number" title={spent === undefined ? '' : `${percent(own, sum)} of all lines`}>
                      {spent !== undefined && (
                        <>
                          <span class="fill" aria-hidden="true" style={{ width: `${(own / most) * 100}%` }} />
                          <span>{spentText(quantity, own)}</span>
                        </>
                      )}
                    </td>
                  )}
                  {heat !== null && <td class="number faint">{spent === undefined ? '' : grouped(spent.times)}</td>}
                  <td class="code">
                    <code>{lines(code)}</code>
                  </td>
                </tr>
                {below?.line === line && (
                  <tr class="below">
                    <td colSpan={heat === null ? 2 : 4}>{below.content}</td>
                  </tr>
                )}
              </>
            );
          })}
        </tbody>
      </table>
      {all.length > MOST && <p class="faint">and {grouped(all.length - MOST)} more lines</p>}
    </Scroll>
  );
}
