import { chained, GENESIS, hashOfLine } from '../loop/index.ts';
import { StoreError } from '../sqlite/error.ts';
import type { Database } from './database.ts';

/** SQLSTATE of two rows with one value. */
const UNIQUE_VIOLATION = '23505';

/** Entries that one request chains. */
const PAGE = 500;

/** Milliseconds after a commit in which other entries may join its chaining. */
const GATHER_MS = 200;

/**
 * Chains the entries of the decision log. A commit adds an entry without waiting for others. Whoever chains does so in the order of their
 * numbers; a session's entries are therefore in the order of its turns. No lock is needed: a line is unique, and an entry that has one keeps
 * it. Of two processes that chain at once, the later one changes nothing, or only adds lines to what the other has chained in the same way.
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
    while ((await this.#page()) !== 'done');
  }

  /** Ends the chaining under way. */
  async close(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    await this.#underWay;
  }

  /** Chains the next entries: one request reads them with the end of the chain, and one writes them. */
  async #page(): Promise<'done' | 'more'> {
    const { schema } = this.#database.dialect;
    const decisions = `${schema}.decisions`;
    const found = await this.#database.query(
      `(SELECT number, line, text FROM ${decisions} WHERE line IS NOT NULL ORDER BY line DESC LIMIT 1)
       UNION ALL (SELECT number, line, text FROM ${decisions} WHERE line IS NULL ORDER BY number LIMIT ${PAGE})`,
    );
    const last = found.find(({ line }) => line !== null);
    const rows = found.filter(({ line }) => line === null).toSorted((a, b) => Number(a['number']) - Number(b['number']));
    if (rows.length === 0) return 'done';
    const first = Number(last?.['line'] ?? 0) + 1;
    let hash = last === undefined ? GENESIS : hashOfLine(last['text'], first - 1);
    const texts = rows.map(({ text }) => {
      const entry: object = JSON.parse(String(text));
      const link = chained(entry, hash);
      hash = link.hash;
      return link.text;
    });
    try {
      await this.#database.query(
        `UPDATE ${decisions} AS d SET line = new.line, text = new.text
         FROM unnest($1::bigint[], $2::bigint[], $3::text[]) AS new (number, line, text) WHERE d.number = new.number AND d.line IS NULL`,
        rows.map(({ number }) => Number(number)),
        rows.map((_, index) => first + index),
        texts,
      );
    } catch (error) {
      if (!(error instanceof StoreError) || !isTaken(error.cause)) throw error;
      return 'more';
    }
    return rows.length === PAGE ? 'more' : 'done';
  }
}

/** Whether another process has given a line to other entries meanwhile. */
function isTaken(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === UNIQUE_VIOLATION;
}
