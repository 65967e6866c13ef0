import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { printable } from '../../../../src/report/text.ts';
import type { SeriesView } from '../../../../src/ui/logviews.ts';
import { useAnswer, useChanges, useWorld } from '../data/use.ts';
import { clockTime, duration, grouped } from '../format.ts';
import { Pending, Section } from '../parts/marks.tsx';
import { Scroll } from '../parts/scroll.tsx';

const SPANS = [
  [3_600_000, 'last hour'],
  [86_400_000, 'last day'],
  [604_800_000, 'last week'],
  [null, 'everything'],
] as const;

/** A curve of a chart. */
interface Curve {
  readonly name: string;
  readonly values: readonly (number | null)[];
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

const curvesOf = (counts: Readonly<Record<string, readonly number[]>>): readonly Curve[] =>
  Object.entries(counts).map(([name, values]) => ({ name: printable(name), values }));

function Charts({ series }: { readonly series: SeriesView }) {
  const { times, decisions, errors, latency, stepMs, source } = series;
  const charts = [
    ['decisions', 'Decisions', curvesOf(decisions), grouped],
    ['errors', 'Reasons of HALT', curvesOf(errors), grouped],
    [
      'latency',
      'Time to decide',
      [
        { name: 'median', values: latency.median },
        { name: '95 %', values: latency.p95 },
        { name: 'most', values: latency.most },
      ],
      duration,
    ],
  ] as const;
  return (
    <>
      <p class="faint">
        {source === 'log' ? 'From the decision log.' : 'From the sessions that changed last: the server has no log.'} One step is{' '}
        {duration(stepMs)}.
      </p>
      {charts.map(([id, title, curves, text]) => (
        <Section key={id} id={`series-${id}`} title={title}>
          {curves.length === 0 ? <p class="none">none</p> : <Chart title={title} times={times} curves={curves} text={text} />}
        </Section>
      ))}
    </>
  );
}

const COLOURS = ['--series-1', '--series-2', '--series-3', '--series-4', '--series-5', '--series-6'] as const;
/** Steps of an axis that counts. */
const WHOLE = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000, 10_000, 100_000, 1_000_000];

const DARK = matchMedia('(prefers-color-scheme: dark)');

/** A time on the axis: the day where the chart spans several, else the time of the day. */
function shortTime(ms: number, times: readonly number[]): string {
  const text = clockTime(ms);
  const span = (times.at(-1) ?? 0) - (times[0] ?? 0);
  return span > 3 * 86_400_000 ? text.slice(0, 10) : span > 86_400_000 ? text.slice(5, 16) : text.slice(11, 16);
}

interface ChartProps {
  readonly title: string;
  readonly times: readonly number[];
  readonly curves: readonly Curve[];
  readonly text: (value: number) => string;
}

/** A chart, and the same numbers as a table. */
function Chart({ title, times, curves, text }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const [round, setRound] = useState(0);
  useEffect(() => {
    const again = () => setRound((count) => count + 1);
    DARK.addEventListener('change', again);
    addEventListener('resize', again);
    return () => {
      DARK.removeEventListener('change', again);
      removeEventListener('resize', again);
    };
  }, []);
  useEffect(() => {
    const { current } = place;
    if (current === null) return;
    const style = getComputedStyle(current);
    const colour = (name: string) => style.getPropertyValue(name).trim();
    const axis = { stroke: colour('--faint'), grid: { stroke: colour('--line'), width: 1 }, ticks: { stroke: colour('--line') } };
    const chart = new uPlot(
      {
        width: current.clientWidth,
        height: 200,
        scales: { y: { range: (_, __, most) => [0, Math.max(1, most * 1.1)] } },
        axes: [
          { ...axis, space: 90, values: (_, seconds) => seconds.map((second) => shortTime(second * 1000, times)) },
          { ...axis, size: 70, values: (_, values) => values.map(text), ...(text === grouped ? { incrs: WHOLE } : {}) },
        ],
        series: [
          { label: 'from', value: (_, second) => (second === null ? '–' : clockTime(second * 1000)) },
          ...curves.map(({ name }, index) => ({
            label: name,
            stroke: colour(COLOURS[index % COLOURS.length] ?? '--fore'),
            width: 2,
            dash: index >= COLOURS.length ? [6, 4] : [],
            value: (_: uPlot, value: number | null) => (value === null ? '–' : text(value)),
            points: { show: times.length < 60 },
          })),
        ],
      },
      [times.map((ms) => ms / 1000), ...curves.map(({ values }) => [...values])],
      current,
    );
    return () => chart.destroy();
  }, [times, curves, round]);
  return (
    <>
      <div
        class="chart"
        ref={place}
        role="img"
        aria-label={`${title}: ${curves.map(({ name }) => name).join(', ')}; the table has the numbers`}
      />
      <details>
        <summary>{title} as a table</summary>
        <Scroll label={`${title} as a table`}>
          <table class="plain">
            <thead>
              <tr>
                <th scope="col">from</th>
                {curves.map(({ name }) => (
                  <th key={name} scope="col">
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
                    <th scope="row">{new Date(ms).toISOString().slice(0, 19)}Z</th>
                    {curves.map(({ name, values }) => {
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
    </>
  );
}
