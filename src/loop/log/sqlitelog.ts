import { StoreError } from '../../sqlite/error.ts';
import type { SqliteFile } from '../../sqlite/file.ts';
import { chained, GENESIS, readLink } from './chain.ts';
import type { LogEntry, LogText, StoredLog } from './log.ts';

/** Lines of a page of {@link SqliteLog.lines}. */
const PAGE = 500;

/** The decision log in the file of a store. Its lines are chained as those of a file are. */
export class SqliteLog implements StoredLog {
  readonly #file: SqliteFile;

  constructor(file: SqliteFile) {
    this.#file = file;
  }

  async append(entry: LogEntry): Promise<void> {
    this.#file.write(() => this.add(entry));
  }

  /** Chains an entry to the last line, within a transaction of the file. */
  add(entry: LogEntry): void {
    const last = this.#file.get('SELECT line, text FROM decisions ORDER BY line DESC LIMIT 1');
    const link = chained(entry, last === undefined ? GENESIS : hashOfLine(last['text'], Number(last['line'])));
    this.#file.run(
      'INSERT INTO decisions (line, sid, turn, text) VALUES (?, ?, ?, ?)',
      ...[Number(last?.['line'] ?? 0) + 1, entry.SID, entry.turn_index, link.text],
    );
  }

  async has(sid: string, turn: number): Promise<boolean> {
    return this.#file.read(
      () => this.#file.get('SELECT 1 FROM decisions WHERE sid = ? AND turn = ? LIMIT 1', sid, turn) !== undefined,
    );
  }

  async *lines(from = 0): AsyncGenerator<LogText> {
    for (let after = from; ; ) {
      const rows = this.#file.read(() =>
        this.#file.all('SELECT line, text FROM decisions WHERE line > ? ORDER BY line LIMIT ?', after, PAGE),
      );
      for (const { line, text } of rows) yield { line: Number(line), text: String(text) };
      if (rows.length < PAGE) return;
      after = Number(rows.at(-1)?.['line']);
    }
  }
}

/** The hash of a stored line. Throws {@link StoreError} (`damaged`) for a text that is no line of a log. */
export function hashOfLine(text: unknown, line: number): string {
  const link = readLink(String(text));
  if (typeof link !== 'string') return link.hash;
  throw new StoreError('damaged', `the decision log in the store cannot be continued, because of line ${line}: ${link}`);
}
