import { useRef } from 'preact/hooks';
import { duration } from '../format.ts';

/** What part of the time since the beginning of a turn the lanes show. */
export interface Axis {
  /** Milliseconds at the left end. */
  readonly from: number;
  /** Milliseconds at the right end; null for the end of the longest turn in sight. */
  readonly to: number | null;
  readonly isLogarithmic: boolean;
}

/** Where times stand on an axis. */
export interface Scale {
  /** The place of a time, from 0 at the left end to 1 at the right; times outside stand at the ends. */
  readonly at: (ms: number) => number;
  /** The time at a place. */
  readonly timeAt: (place: number) => number;
  /** Round times to mark. */
  readonly ticks: readonly number[];
  readonly from: number;
  readonly to: number;
}

/** Most steps between the marks of an axis: their texts stand side by side in the narrowest one. */
const MARKS = 3;

/** The scale of an axis whose longest turn takes `longest` milliseconds. */
export function scaleOf({ from, to, isLogarithmic }: Axis, longest: number): Scale {
  const end = Math.max(to ?? longest, from + 1e-3);
  const along = (ms: number): number => (isLogarithmic ? Math.log1p(ms) : ms);
  const back = (value: number): number => (isLogarithmic ? Math.expm1(value) : value);
  const [first, last] = [along(from), along(end)];
  const at = (ms: number): number => Math.min(1, Math.max(0, (along(ms) - first) / (last - first)));
  const round = isLogarithmic ? decades(from, end) : steps(from, end);
  return { at, timeAt: (place) => back(first + place * (last - first)), ticks: round, from, to: end };
}

/** Multiples of 1, 2 or 5 times a power of ten. */
function steps(from: number, to: number): readonly number[] {
  const rough = (to - from) / MARKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((each) => each * power >= rough) ?? 10) * power;
  const first = Math.ceil(from / step);
  return Array.from({ length: Math.floor(to / step) - first + 1 }, (_, index) => (first + index) * step);
}

/** Powers of ten, and zero. */
function decades(from: number, to: number): readonly number[] {
  const powers = Array.from({ length: 12 }, (_, index) => 10 ** index);
  return [0, ...powers].filter((each) => each >= from && each <= to);
}

interface TimeAxisProps {
  readonly axis: Axis;
  readonly scale: Scale;
  readonly change: (axis: Axis) => void;
}

/** The axis above the lanes of turns. Dragging shows a part of it; the keys + and - show less and more, the arrows move it, 0 shows all. */
export function TimeAxis({ axis, scale, change }: TimeAxisProps) {
  const begun = useRef<number | null>(null);
  const { from, to } = scale;
  const show = (left: number, right: number): void => change({ ...axis, from: Math.max(0, left), to: right });
  const all = (): void => change({ ...axis, from: 0, to: null });
  const placeOf = ({ currentTarget, clientX }: { readonly currentTarget: HTMLElement; readonly clientX: number }): number => {
    const { left, width } = currentTarget.getBoundingClientRect();
    return Math.min(1, Math.max(0, (clientX - left) / width));
  };
  const keys: Readonly<Record<string, () => void>> = {
    '+': () => show(from, from + (to - from) / 2),
    '-': () => (axis.to === null ? all() : show(from, from + (to - from) * 2)),
    ArrowRight: () => show(from + (to - from) / 4, to + (to - from) / 4),
    ArrowLeft: () => show(from - Math.min(from, (to - from) / 4), to - Math.min(from, (to - from) / 4)),
    '0': all,
    Escape: all,
  };
  const help = `Time since the beginning of each turn, ${duration(from)} to ${duration(to)}. Drag to enlarge a part; + and -, the arrow keys and 0 do so by keyboard.`;
  return (
    <div class="row row-axis">
      <div class="in-turns axis-row">
        <span class="axis-choice">
          <label>
            <input
              type="checkbox"
              checked={axis.isLogarithmic}
              onChange={({ currentTarget }) => change({ ...axis, isLogarithmic: currentTarget.checked })}
            />{' '}
            logarithmic
          </label>
          {axis.to !== null && (
            <button type="button" onClick={all}>
              Show all
            </button>
          )}
        </span>
        <div
          class="axis"
          role="slider"
          tabIndex={0}
          aria-label={help}
          aria-valuemin={0}
          aria-valuemax={to}
          aria-valuenow={from}
          title={help}
          onKeyDown={(event) => {
            const { [event.key]: act } = keys;
            if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
            event.preventDefault();
            event.stopPropagation();
            act();
          }}
          onPointerDown={(event) => {
            begun.current = placeOf(event);
            event.currentTarget.setPointerCapture(event.pointerId);
          }}
          onPointerUp={(event) => {
            const start = begun.current;
            begun.current = null;
            const end = placeOf(event);
            if (start !== null && Math.abs(end - start) > 0.02)
              show(scale.timeAt(Math.min(start, end)), scale.timeAt(Math.max(start, end)));
          }}
        >
          {scale.ticks.map((tick) => (
            <span key={tick} class="tick" style={{ left: `${scale.at(tick) * 100}%` }}>
              {duration(tick)}
            </span>
          ))}
        </div>
        <span class="faint axis-limits">used of limits</span>
      </div>
    </div>
  );
}
