import { chained, GENESIS, hashOfLine } from '../loop/index.ts';
import type { Database } from './database.ts';
import { lock } from './tables.ts';

/** Entries that one transaction chains. */
const PAGE = 500;

/** Milliseconds after a commit in which other entries may join its chaining. */
const GATHER_MS = 200;

/**
 * Chains the entries of the decision log. A commit adds an entry without waiting for others. Whoever chains takes a lock that one process
 * has at a time, and chains the entries in the order of their numbers; a session's entries are therefore in the order of its turns.
 */
export class Chaining {
  readonly #database: Database;
  #timer: NodeJS.Timeout | null = null;
  #underWay: Promise<void> = Promise.resolve();

  constructor(database: Database) {
    this.#database = database;
  }

  /** Chains in a moment. A failure is left to the next chaining, of this process or another one. */
  soon(): void {
    this.#timer ??= setTimeout(() => {
      // One at a time: each may wait for another process, on a connection that turns need.
      this.#underWay = this.#underWay
        .then(() => {
          this.#timer = null;
          return this.now();
        })
        .catch(() => {});
    }, GATHER_MS).unref();
  }

  /** Chains all entries that are not chained yet. */
  async now(): Promise<void> {
    while ((await this.#page()) === PAGE);
  }

  /** Ends the chaining under way. */
  async close(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    await this.#underWay;
  }

  #page(): Promise<number> {
    const { schema } = this.#database.dialect;
    const decisions = `${schema}.decisions`;
    return this.#database.transaction(async (query) => {
      await lock(query, schema, 'log');
      const rows = await query(`SELECT number, text FROM ${decisions} WHERE line IS NULL ORDER BY number LIMIT ${PAGE}`);
      if (rows.length === 0) return 0;
      const [last] = await query(`SELECT line, text FROM ${decisions} WHERE line IS NOT NULL ORDER BY line DESC LIMIT 1`);
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
        rows.map(({ number }) => Number(number)),
        rows.map((_, index) => first + index),
        texts,
      );
      return rows.length;
    });
  }
}
