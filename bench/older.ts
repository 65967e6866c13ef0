import { readFileSync } from 'node:fs';
import { isRecord } from '../src/wire/unknown.ts';
import { short, table } from './table.ts';

/** One number of a report beside the same number of an older report. */
export interface Change {
  readonly what: string;
  readonly before: number;
  readonly now: number;
  /** Now divided by before; null when that was 0. */
  readonly ratio: number | null;
}

/** Which fields of a row name it, and which of its fields are compared: numbers, or summaries, of which the median counts. */
export interface Comparison {
  readonly names: readonly string[];
  readonly values: readonly string[];
}

/** An older report cannot be read. */
export class OlderReportError extends Error {}

type Row = Readonly<Record<string, unknown>>;

/** The rows of an older report, `bench NAME --json`. Throws {@link OlderReportError}. */
export function olderRows(file: string, bench: string): readonly Row[] {
  let report: unknown;
  try {
    report = JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw new OlderReportError(`--compare: ${file} cannot be read as JSON`, { cause });
  }
  const rows = isRecord(report) && report['bench'] === bench ? report['rows'] : null;
  if (!Array.isArray(rows)) throw new OlderReportError(`--compare: ${file} is no report of 'bench ${bench} --json'`);
  return rows.filter(isRecord);
}

/** What changed in the rows that both reports have. */
export function changes(rows: readonly object[], older: readonly Row[], { names, values }: Comparison): Change[] {
  const nameOf = (row: Row): string => names.map((name) => String(row[name])).join(', ');
  const before = new Map(older.map((row) => [nameOf(row), row]));
  return rows.filter(isRecord).flatMap((row) =>
    values.flatMap((field) => {
      const [was, now] = [numberOf(before.get(nameOf(row))?.[field]), numberOf(row[field])];
      if (was === null || now === null) return [];
      return [{ what: `${nameOf(row)}: ${field}`, before: was, now, ratio: was === 0 ? null : now / was }];
    }),
  );
}

export function renderChanges(found: readonly Change[]): string {
  const cells = found.map(({ what, before, now, ratio }) => [
    what,
    short(before),
    short(now),
    ratio === null ? '-' : `${short(ratio)}x`,
  ]);
  return `\n${table(['beside the older report', 'before', 'now', 'now ÷ before'], cells)}\n`;
}

function numberOf(value: unknown): number | null {
  const number = isRecord(value) ? value['median'] : value;
  return typeof number === 'number' ? number : null;
}
