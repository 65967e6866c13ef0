import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { SeriesView } from '../../../../src/ui/logviews.ts';
import { printable } from '../../../../src/wire/text/printable.ts';
import { useAnswer, useChanges, useWorld } from '../data/use.ts';
import { clockTime, counted, duration, grouped } from '../format.ts';
import { Pending, Section } from '../parts/marks.tsx';
import { Scroll } from '../parts/scroll.tsx';
import { sessionsLink } from '../route.ts';

const SPANS = [
  [3_600_000, 'last hour'],
  [86_400_000, 'last day'],
  [604_800_000, 'last week'],
  [null, 'everything'],
] as const;

/** Numbers over time under one name. */
interface Track {
  readonly name: string;
  readonly colour: string;
  readonly values: readonly (number | null)[];
  /** The term of a query for what was counted; null where there is none. */
  readonly term: string | null;
}

/** Decisions, errors and latencies over time, from the decision log. */
export function Series() {
  const { source } = useWorld();
  const [span, setSpan] = useState<number | null>(null);
  const answer = useAnswer(() => source.series(span === null ? null : Date.now() - span), [span]);
  useChanges(null, ({ kind }) => kind === 'log', answer.reload);
  const { value, problem } = answer;
  return (
    <>
      <div class="head">
        <h1>Over time</h1>
        <fieldset class="choice">
          <legend class="hidden">Span</legend>
          {SPANS.map(([ms, name]) => (
            <label key={name}>
              <input type="radio" name="span" checked={span === ms} onChange={() => setSpan(ms)} /> {name}
            </label>
          ))}
        </fieldset>
      </div>
      {value === null ? (
        <Pending problem={problem} what="the series" />
      ) : value.times.length === 0 ? (
        <p class="none">Nothing was decided in this time.</p>
      ) : (
        <Charts series={value} />
      )}
    </>
  );
}

/** A decision has its colour everywhere in the page. */
const DECISIONS: Readonly<Record<string, readonly [colour: string, term: string | null]>> = {
  CONTINUE: ['--accent', null],
  DONE: ['--good', 'status:done'],
  ABORT: ['--wait', 'status:aborted'],
  HALT: ['--bad', 'status:halted'],
};
const REASONS = ['--series-1', '--series-2', '--series-3', '--series-4', '--series-5'] as const;
const OTHERS = '--faint';

type Counts = Readonly<Record<string, readonly number[]>>;

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

const decided = (counts: Counts): readonly Track[] =>
  Object.entries(counts).map(([name, values]) => {
    const [colour, term] = DECISIONS[name] ?? [OTHERS, null];
    return { name: printable(name), colour, values, term };
  });

/** The most frequent reasons, and the rest as one. */
function reasons(counts: Counts): readonly Track[] {
  const all = Object.entries(counts).toSorted(([, a], [, b]) => sumOf(b) - sumOf(a));
  const rest = all.slice(REASONS.length).map(([, values]) => values);
  const [first = []] = rest;
  const others = first.map((_, index) => sumOf(rest.map((values) => values[index] ?? 0)));
  return [
    ...REASONS.flatMap((colour, index): readonly Track[] => {
      const [name, values] = all[index] ?? [];
      return name === undefined || values === undefined
        ? []
        : [{ name: printable(name), colour, values, term: `reason:${name}` }];
    }),
    ...(rest.length === 0 ? [] : [{ name: counted(rest.length, 'other reason'), colour: OTHERS, values: others, term: null }]),
  ];
}

function Charts({ series }: { readonly series: SeriesView }) {
  const { times, decisions, errors, latency, stepMs, source } = series;
  const latencies = [
    { name: 'median', values: latency.median },
    { name: '95%', values: latency.p95 },
    { name: 'longest', values: latency.most },
  ].map((track, index) => ({ ...track, colour: REASONS[index] ?? OTHERS, term: null }));
  const charts = [
    ['decisions', 'Decisions', decided(decisions), true],
    ['errors', 'Reasons of HALT', reasons(errors), true],
    ['latency', 'Time to decide', latencies, false],
  ] as const;
  return (
    <>
      <p class="faint">
        {source === 'log' ? 'From the decision log.' : 'From the sessions that changed last: the server has no log.'} Each step
        covers {duration(stepMs)}; times are UTC. A bar leads to its sessions.
      </p>
      {charts.map(([id, title, tracks, stacked]) => (
        <Section key={id} id={`series-${id}`} title={title}>
          {tracks.length === 0 ? (
            <p class="none">none</p>
          ) : (
            <Chart title={title} times={times} stepMs={stepMs} tracks={tracks} stacked={stacked} />
          )}
        </Section>
      ))}
    </>
  );
}

/** The plot within its picture. The picture is as wide as its place: a unit is a pixel. */
const PLOT = { left: 56, top: 8, height: 150, below: 22 } as const;
/** Pixels of a label below the plot. */
const LABEL = 100;
/** Pixels of the narrowest bar. */
const NARROWEST = 6;

/** Lengths of time between two marks. */
const MARKS = [
  ...[1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200],
  ...[1, 2, 4, 7, 14, 30, 60, 120, 240, 365].map((days) => days * 86_400),
].map((s) => s * 1000);

/** The marks of an axis of time: the hour, with seconds where marks are closer than a minute, and the date where it changes. */
function marksOf(from: number, to: number, most: number): readonly (readonly [at: number, text: string])[] {
  const step = MARKS.find((each) => (to - from) / each <= most) ?? (to - from) / most;
  const first = Math.ceil(from / step) * step;
  const count = Math.max(0, Math.floor((to - first) / step) + 1);
  let day = '';
  return Array.from({ length: count }, (_, index) => {
    const at = first + index * step;
    const [date = '', clock = ''] = clockTime(at).split(' ');
    const time = clock.slice(0, step < 60_000 ? 8 : 5);
    const isNew = date !== day;
    day = date;
    return [at, isNew ? `${date.slice(5)} ${time}` : time];
  });
}

/** 1, 2 or 5 times a power of ten, at least `value`. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5, 10].find((each) => each * power >= value) ?? 10) * power;
}

interface ChartProps {
  readonly title: string;
  readonly times: readonly number[];
  readonly stepMs: number;
  readonly tracks: readonly Track[];
  /** Counts are bars upon one another; measures are marks on one axis, joined where steps follow one another. */
  readonly stacked: boolean;
}

function useWidth(): readonly [RefObject<HTMLElement | null>, number] {
  const place = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const measure = () => setWidth(place.current?.clientWidth ?? 0);
    measure();
    addEventListener('resize', measure);
    return () => removeEventListener('resize', measure);
  }, []);
  return [place, width];
}

/** A chart, and the same numbers as a table. */
function Chart({ title, times, stepMs, tracks, stacked }: ChartProps) {
  const [place, width] = useWidth();
  const inner = Math.max(1, width - PLOT.left - 8);
  // Steps are joined where a bar would be too narrow to be seen and clicked.
  const joined = stacked ? Math.max(1, Math.ceil((times.length * NARROWEST) / inner)) : 1;
  const bins = Math.ceil(times.length / joined);
  const binned = tracks.map((track) => ({
    ...track,
    bins: Array.from({ length: bins }, (_, bin) => {
      const own = track.values.slice(bin * joined, (bin + 1) * joined);
      return stacked ? sumOf(own.map((value) => value ?? 0)) : (own[0] ?? null);
    }),
  }));
  const heights = Array.from({ length: bins }, (_, bin) => {
    const values = binned.map((track) => track.bins[bin] ?? 0);
    return stacked ? sumOf(values) : Math.max(...values);
  });
  const most = roundUp(Math.max(1, ...heights));
  const from = times[0] ?? 0;
  const to = (times.at(-1) ?? 0) + stepMs;
  const x = (at: number) => PLOT.left + ((at - from) / (to - from)) * inner;
  const y = (value: number) => PLOT.top + PLOT.height * (1 - value / most);
  const text = stacked ? grouped : duration;
  const marks = marksOf(from, to, inner / LABEL).filter(([at]) => x(at) + LABEL <= width);
  const timeOf = (bin: number) => times[bin * joined] ?? from;
  return (
    <>
      <p class="legend">
        {tracks.map(({ name, colour, term, values }) => (
          <span key={name}>
            <span class="swatch" style={{ background: `var(${colour})` }} aria-hidden="true" />{' '}
            {term === null ? name : <a href={sessionsLink({ q: term })}>{name}</a>}
            {stacked && <span class="faint"> {grouped(sumOf(values.map((value) => value ?? 0)))}</span>}
          </span>
        ))}
      </p>
      <figure
        class="chart"
        ref={place}
        aria-label={`${title}: ${tracks.map(({ name }) => name).join(', ')}; the table has the numbers`}
      >
        {/* biome-ignore lint/a11y/noSvgWithoutTitle: the figure around it has the name */}
        <svg width={width} height={PLOT.top + PLOT.height + PLOT.below}>
          {[0, most / 2, most]
            .filter((value) => !stacked || Number.isInteger(value))
            .map((value) => (
              <g key={value}>
                <line class="grid" x1={PLOT.left} x2={PLOT.left + inner} y1={y(value)} y2={y(value)} />
                <text x={PLOT.left - 6} y={y(value) + 4} text-anchor="end">
                  {text(value)}
                </text>
              </g>
            ))}
          {(marks.length > 0 ? marks : marksOf(from, from, 1)).map(([at, label]) => (
            <text key={at} x={x(at)} y={PLOT.top + PLOT.height + 16}>
              {label}
            </text>
          ))}
          {stacked
            ? Array.from({ length: bins }, (_, bin) => {
                let below = 0;
                return binned.map(({ name, colour, term, bins: counts }) => {
                  const count = counts[bin] ?? 0;
                  const [low, high] = [below, below + count];
                  below = high;
                  if (count === 0) return null;
                  const since = `since:${new Date(timeOf(bin)).toISOString().slice(0, 16)}Z`;
                  const said = `${clockTime(timeOf(bin))}: ${grouped(count)} ${name}`;
                  return (
                    <a
                      key={`${bin} ${name}`}
                      href={sessionsLink({ q: term === null ? since : `${term} ${since}` })}
                      aria-label={said}
                      tabindex={-1}
                    >
                      <title>{said}</title>
                      <rect
                        class="chart-bar"
                        x={x(timeOf(bin)) + 0.5}
                        width={Math.max(1, (inner * joined * stepMs) / (to - from) - 1)}
                        y={y(high)}
                        height={y(low) - y(high)}
                        style={{ fill: `var(${colour})` }}
                      />
                    </a>
                  );
                });
              })
            : binned.map(({ name, colour, bins: values }) => (
                <g key={name} style={{ stroke: `var(${colour})`, fill: `var(${colour})` }}>
                  <path d={pathOf(values, (bin) => x(timeOf(bin) + stepMs / 2), y)} />
                  {values.map((value, bin) =>
                    value === null ? null : (
                      <circle key={timeOf(bin)} cx={x(timeOf(bin) + stepMs / 2)} cy={y(value)} r={2}>
                        <title>{`${clockTime(timeOf(bin))}: ${name} ${duration(value)}`}</title>
                      </circle>
                    ),
                  )}
                </g>
              ))}
        </svg>
      </figure>
      <Numbers title={title} times={times} tracks={tracks} text={text} />
    </>
  );
}

/** Lines between steps that follow one another. */
function pathOf(values: readonly (number | null)[], x: (bin: number) => number, y: (value: number) => number): string {
  return values
    .map((value, bin) =>
      value === null ? '' : `${(values[bin - 1] ?? null) === null ? 'M' : 'L'}${x(bin).toFixed(1)} ${y(value).toFixed(1)}`,
    )
    .join('');
}

interface NumbersProps extends Pick<ChartProps, 'title' | 'times' | 'tracks'> {
  readonly text: (value: number) => string;
}

function Numbers({ title, times, tracks, text }: NumbersProps) {
  return (
    <details>
      <summary>{title} as a table</summary>
      <Scroll label={`${title} as a table`}>
        <table class="plain">
          <thead>
            <tr>
              <th scope="col">from</th>
              {tracks.map(({ name }) => (
                <th key={name} scope="col" class="number">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {times.slice(-500).map((ms, index) => {
              const at = Math.max(0, times.length - 500) + index;
              return (
                <tr key={ms}>
                  <th scope="row">{clockTime(ms)}</th>
                  {tracks.map(({ name, values }) => {
                    const value = values[at] ?? null;
                    return (
                      <td key={name} class="number">
                        {value === null ? '–' : text(value)}
                      </td>
                    );
                  })}
                </tr>
              );
            })}
          </tbody>
        </table>
      </Scroll>
    </details>
  );
}
