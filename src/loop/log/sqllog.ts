import { StoreError } from '../../sqlite/error.ts';
import type { Row } from '../../sqlite/sql.ts';
import type { SessionsEngine } from '../sessions/engine.ts';
import type { Statements } from '../sessions/statements.ts';
import { readLink } from './chain.ts';
import type { LogEntry, LogText, StoredLog } from './log.ts';

/** Lines of a page of {@link SqlLog.lines}. */
const PAGE = 500;

/** The decision log in the database of a store. Its lines are chained as those of a file are. */
export class SqlLog implements StoredLog {
  readonly #engine: SessionsEngine;
  readonly #statements: Statements;

  constructor(engine: SessionsEngine, statements: Statements) {
    this.#engine = engine;
    this.#statements = statements;
  }

  async append(entry: LogEntry): Promise<void> {
    await this.#engine.sql.query(this.#statements.append, entry.SID, entry.turn_index, JSON.stringify(entry));
    this.#engine.logged();
  }

  async has(sid: string, turn: number): Promise<boolean> {
    return (await this.#engine.sql.again(this.#statements.hasDecision, sid, turn)).length > 0;
  }

  async *lines(from = 0): AsyncGenerator<LogText> {
    await this.#engine.seal();
    for (let after = from; ; ) {
      const rows: readonly Row[] = await this.#engine.sql.again(this.#statements.decisions, after, PAGE);
      for (const { line, text } of rows) yield { line: Number(line), text: String(text) };
      if (rows.length < PAGE) return;
      after = Number(rows.at(-1)?.['line']);
    }
  }
}

/** The hash of a stored line. Throws {@link StoreError} (`damaged`) for a text that is not a line of a log. */
export function hashOfLine(text: unknown, line: number): string {
  const link = readLink(String(text));
  if (typeof link !== 'string') return link.hash;
  throw new StoreError('damaged', `the decision log in the store cannot be continued, because of line ${line}: ${link}`);
}
