import { statSync } from 'node:fs';
import { setImmediate as breathe } from 'node:timers/promises';
import { z } from 'zod';
import { parsedJson } from '../files/json.ts';
import { type Ancestry, ChainWalk, LINE_BYTES, logLines, rotatedFiles, type StoredLog } from '../loop/index.ts';
import type { LogPlace, LogRow, LogView } from './logviews.ts';
import { wholeOf } from './request.ts';

/** A line of a decision log, wherever it is. */
interface SourceLine {
  readonly file: string;
  /** From 1 in its file. */
  readonly line: number;
  /** Null for a line that is too long to be one. */
  readonly text: string | null;
  /** Why the line breaks the chain without a look at its text; null when the text decides. */
  readonly fault: string | null;
}

/** Where a decision log is. */
export interface LogSource {
  /** For the reader. */
  readonly name: string;
  lines(signal: AbortSignal): AsyncIterable<SourceLine>;
  /** A text that changes when the log does; null when only the sessions tell. */
  stamp(): string | null;
}

/** The log in a file and in those that were rotated away from it. */
export function fileLog(path: string): LogSource {
  return {
    name: path,
    async *lines(signal) {
      for (const file of [...rotatedFiles(path), path]) {
        let line = 0;
        for await (const { text, finished } of logLines(file, { signal })) {
          line += 1;
          const fault = text === null ? `it is longer than ${LINE_BYTES} bytes` : null;
          yield { file, line, text, fault: fault ?? (finished ? null : 'it was not written to its end') };
        }
      }
    },
    stamp() {
      const { ino, size, mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { ino: 0, size: 0, mtimeMs: 0 };
      return size === 0 ? null : `${ino} ${size} ${mtimeMs}`;
    },
  };
}

/** The log in the database of a store. */
export function storedLog(log: StoredLog, name: string): LogSource {
  return {
    name,
    async *lines(signal) {
      let at = 0;
      for await (const { line, text } of log.lines()) {
        signal.throwIfAborted();
        at += 1;
        yield { file: name, line, text, fault: line === at ? null : 'the line before it is missing' };
        at = line;
      }
    },
    stamp: () => null,
  };
}

/** Lines after which the server answers others. */
const STRETCH = 1000;

/** All lines of a log, with time for other requests between them. A log that does not exist yet is empty. */
export async function* linesOf(source: LogSource, signal: AbortSignal): AsyncGenerator<SourceLine> {
  let read = 0;
  try {
    for await (const line of source.lines(signal)) {
      read += 1;
      if (read % STRETCH === 0) await breathe();
      yield line;
    }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
}

/** Checks the chain of a log, and reads its last lines or those after one of them. The sessions have their names from `ancestry`. */
export async function logView(
  source: LogSource | null,
  ancestry: Ancestry,
  query: URLSearchParams,
  signal: AbortSignal,
): Promise<LogView> {
  const limit = wholeOf(query, 'limit', [1, 1000], 200);
  const after = query.has('after') ? wholeOf(query, 'after', [0, Number.MAX_SAFE_INTEGER], 0) : null;
  const walk = new ChainWalk();
  const rows: (Omit<LogRow, 'entry'> & { readonly entry: LoggedEntry | null })[] = [];
  let [total, broken, repeated]: [number, LogPlace | null, LogPlace | null] = [0, null, null];
  if (source !== null)
    for await (const { file, line, text, fault } of linesOf(source, signal)) {
      total += 1;
      const place = (why: string): LogPlace => ({ place: total, file, line, why });
      let state: LogRow['state'] = 'behind';
      if (broken === null) {
        const why = fault ?? walk.next(text ?? '');
        state = why === null ? 'follows' : 'broken';
        if (why !== null) broken = place(why);
        else if (walk.again !== null) repeated ??= place(walk.again);
      }
      if (after !== null && (total <= after || rows.length === limit)) continue;
      rows.push({ line: total, state, text: text ?? '', entry: entryOf(text) });
      // Twice the limit, so that each line is moved once.
      if (after === null && rows.length === 2 * limit) rows.splice(0, limit);
    }
  const lines: LogRow[] = [];
  for (const row of after === null ? rows.slice(-limit) : rows)
    lines.push({ ...row, entry: row.entry && { ...row.entry, ...(await ancestry.head(row.entry.sid)) } });
  return { log: source?.name ?? null, whole: walk.lines, head: walk.head, broken, repeated, total, lines };
}

const ENTRY = z.looseObject({
  ts: z.string(),
  SID: z.string(),
  turn_index: z.number(),
  decision: z.string(),
  reason: z.string().optional(),
  latency_ms: z.number(),
});

/** What a line itself says. */
type LoggedEntry = Omit<NonNullable<LogRow['entry']>, 'above' | 'subject'>;

/** The fields of a line; null for a line that is no entry. */
export function entryOf(text: string | null): LoggedEntry | null {
  const { data } = ENTRY.safeParse(parsedJson(text ?? ''));
  if (data === undefined) return null;
  const { ts, SID: sid, turn_index: turn, decision, reason = null, latency_ms: latencyMs } = data;
  return { ts, sid, turn, decision, reason, latencyMs };
}
