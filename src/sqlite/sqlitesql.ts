import type { SQLInputValue } from 'node:sqlite';
import type { SqliteFile, SqliteRow } from './file.ts';
import type { ColumnWords, Dialect, Row, Sql, SqlQuery } from './sql.ts';

export const SQLITE_DIALECT: Dialect = {
  schema: 'main',
  now: 'now_ms()',
  found: 'TRUE',
  // A transaction that writes has the file to itself.
  lock: { share: '', update: '', skip: '' },
  index: (name) => `INDEXED BY ${name}`,
  json: (text) => text,
  items: (list) => `(SELECT value AS one FROM json_each(${list})) AS item`,
  gathered: 'json_group_array(json(one))',
};

export const SQLITE_COLUMNS: ColumnWords = { name: 'TEXT', whole: 'INTEGER', real: 'REAL', end: ' STRICT' };

/** A statement with `?`, and the numbers of its values in their order. */
interface Compiled {
  readonly text: string;
  readonly order: readonly number[];
}

/**
 * Runs the statements of a store on a SQLite file, which is opened when it is needed. Statements of this object wait while one of its
 * transactions is under way, because they share its connection.
 */
export class SqliteSql<Words extends Dialect = Dialect> implements Sql, Disposable {
  readonly dialect: Words;
  readonly #open: () => SqliteFile;
  readonly #now: () => number;
  readonly #compiled = new Map<string, Compiled>();
  #file: SqliteFile | null = null;
  /** Resolves when the transaction under way ends. */
  #over: Promise<void> | null = null;

  /** `now` gives the time of the store in Unix milliseconds. */
  constructor(dialect: Words, open: () => SqliteFile, now: () => number) {
    this.dialect = dialect;
    this.#open = open;
    this.#now = now;
  }

  /** The file; opens it. */
  get file(): SqliteFile {
    if (this.#file !== null) return this.#file;
    const file = this.#open();
    // SQLite keeps the function until the file is closed. It must not keep a store that nobody uses any more.
    const now = new WeakRef(this.#now);
    file.define('now_ms', () => BigInt(Math.floor(now.deref()?.() ?? 0)));
    this.#file = file;
    return file;
  }

  readonly query: SqlQuery = (text, ...values) => this.alone((file) => file.read(() => this.rows(text, values)));

  readonly again: SqlQuery = this.query;

  change([first, ...then]: readonly [string, ...string[]], ...values: readonly unknown[]): Promise<readonly Row[]> {
    return this.alone((file) =>
      file.write(() => {
        const rows = this.rows(first, values);
        if (rows.length > 0) for (const each of then) this.rows(each, values);
        return rows;
      }),
    );
  }

  async transaction<T>(work: (query: SqlQuery) => Promise<T>): Promise<T> {
    // Nothing may come between the last look and the begin.
    while (this.#over !== null) await this.#over;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#over = promise;
    try {
      return await this.file.writeLater(() => work(async (text, ...values) => this.file.read(() => this.rows(text, values))));
    } finally {
      this.#over = null;
      resolve();
    }
  }

  /** Runs `work` when no transaction of this object is under way. */
  async alone<T>(work: (file: SqliteFile) => T): Promise<T> {
    while (this.#over !== null) await this.#over;
    return work(this.file);
  }

  /** The rows of a statement. Call it within a method of the file. */
  rows(text: string, values: readonly unknown[]): readonly SqliteRow[] {
    const { text: own, order } = this.#compile(text);
    // The stores give texts, numbers and null, as the other databases take them.
    return this.file.all(own, ...order.map((index) => (values[index] ?? null) as SQLInputValue));
  }

  /** Closes the file if it was opened. */
  [Symbol.dispose](): void {
    this.#file?.[Symbol.dispose]();
  }

  /** Each `$1` becomes a `?`, because SQLite counts the values of one statement, and a change has one list for all of its statements. */
  #compile(text: string): Compiled {
    const known = this.#compiled.get(text);
    if (known !== undefined) return known;
    const [before = '', ...rest] = text.split('$');
    const numbers = rest.map((part) => Number.parseInt(part, 10));
    const parts = rest.map((part, index) => `?${part.slice(String(numbers[index]).length)}`);
    const made = { text: [before, ...parts].join(''), order: numbers.map((number) => number - 1) };
    this.#compiled.set(text, made);
    return made;
  }
}
