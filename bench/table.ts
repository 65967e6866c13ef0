import type { Summary } from './stats.ts';

/** What a table shows, whatever it is set as. */
export interface Table {
  readonly head: readonly string[];
  readonly cells: readonly (readonly string[])[];
}

/** Sets rows of cells in columns: the first column to the left, all others to the right. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
      .trimEnd();
  return [line(head), widths.map((width) => '-'.repeat(width)).join('  '), ...rows.map(line)].join('\n');
}

/** A number with about three significant digits; `-` for none. */
export function short(value: number | null): string {
  if (value === null) return '-';
  if (value !== 0 && Math.abs(value) < 1) return value.toPrecision(2);
  return Math.abs(value) < 100 ? value.toFixed(2) : Math.round(value).toString();
}

/** The middle half of a series, `q1–q3`. */
export function spread(summary: Summary | null): string {
  return summary === null ? '-' : `${short(summary.q1)}–${short(summary.q3)}`;
}
