import { chained, GENESIS, hashOfLine, type LogEntry, type LogText, type StoredLog } from '../loop/index.ts';
import type { PostgresRow } from './clients.ts';
import type { Database } from './database.ts';
import { lock } from './tables.ts';

/** Entries that one transaction seals, and lines that one query reads. */
const PAGE = 500;

/** Milliseconds after a commit in which other entries may join its sealing. */
const GATHER_MS = 200;

/**
 * The decision log in the database of a store. A commit adds an entry without waiting for others. Whoever seals takes a lock that one
 * process has at a time, and chains the entries in the order of their numbers; a session's entries are therefore in the order of its turns.
 */
export class PostgresLog implements StoredLog {
  readonly #database: Database;
  readonly #schema: string;
  #timer: NodeJS.Timeout | null = null;
  #sealing: Promise<void> = Promise.resolve();

  constructor(database: Database, schema: string) {
    this.#database = database;
    this.#schema = schema;
  }

  async append(entry: LogEntry): Promise<void> {
    await this.#database.query(
      `INSERT INTO ${this.#schema}.decisions (sid, turn, text) VALUES ($1, $2, $3)`,
      ...[entry.SID, entry.turn_index, JSON.stringify(entry)],
    );
    this.sealSoon();
  }

  async has(sid: string, turn: number): Promise<boolean> {
    const text = `SELECT 1 FROM ${this.#schema}.decisions WHERE sid = $1 AND turn = $2 LIMIT 1`;
    return (await this.#database.again(text, sid, turn)).length > 0;
  }

  /** Seals what was added until now, then reads. */
  async *lines(from = 0): AsyncGenerator<LogText> {
    await this.seal();
    for (let after = from; ; ) {
      const text = `SELECT line, text FROM ${this.#schema}.decisions WHERE line > $1 ORDER BY line LIMIT ${PAGE}`;
      const rows: readonly PostgresRow[] = await this.#database.again(text, after);
      for (const row of rows) yield { line: Number(row['line']), text: String(row['text']) };
      if (rows.length < PAGE) return;
      after = Number(rows.at(-1)?.['line']);
    }
  }

  /** Seals in a moment. A failure is left to the next sealing, of this process or another one. */
  sealSoon(): void {
    this.#timer ??= setTimeout(() => {
      // One sealing at a time: each may wait for another process, on a connection that turns need.
      this.#sealing = this.#sealing
        .then(() => {
          this.#timer = null;
          return this.seal();
        })
        .catch(() => {});
    }, GATHER_MS).unref();
  }

  /** Chains all entries that are not chained yet. */
  async seal(): Promise<void> {
    while ((await this.#sealPage()) === PAGE);
  }

  /** Ends the sealing under way. */
  async close(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    await this.#sealing;
  }

  #sealPage(): Promise<number> {
    const decisions = `${this.#schema}.decisions`;
    return this.#database.transaction(async (query) => {
      await lock(query, this.#schema, 'log');
      const { rows } = await query(`SELECT number, text FROM ${decisions} WHERE line IS NULL ORDER BY number LIMIT ${PAGE}`);
      if (rows.length === 0) return 0;
      const last = (await query(`SELECT line, text FROM ${decisions} WHERE line IS NOT NULL ORDER BY line DESC LIMIT 1`)).rows[0];
      const first = Number(last?.['line'] ?? 0) + 1;
      let hash = last === undefined ? GENESIS : hashOfLine(last['text'], first - 1);
      const texts = rows.map(({ text }) => {
        const entry: object = JSON.parse(String(text));
        const link = chained(entry, hash);
        hash = link.hash;
        return link.text;
      });
      await query(
        `UPDATE ${decisions} AS d SET line = new.line, text = new.text
         FROM unnest($1::bigint[], $2::bigint[], $3::text[]) AS new (number, line, text) WHERE d.number = new.number`,
        [rows.map(({ number }) => Number(number)), rows.map((_, index) => first + index), texts],
      );
      return rows.length;
    });
  }
}
