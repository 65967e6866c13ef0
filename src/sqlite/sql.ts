/** A row: values by column. Databases differ in how they return large numbers. */
export type Row = Readonly<Record<string, unknown>>;

/** Runs one statement, in which `$1` is the first value, and resolves with its rows. */
export type SqlQuery = (text: string, ...values: readonly unknown[]) => Promise<readonly Row[]>;

/** A database that runs the statements of a store. Rejects with `StoreError`. */
export interface Sql {
  /** The words that this database has of its own. */
  readonly dialect: Dialect;
  /** Runs one statement. */
  readonly query: SqlQuery;
  /** As {@link query}, for a statement that may take effect twice: it is repeated when a connection is lost. */
  readonly again: SqlQuery;
  /**
   * Runs several statements as one, and resolves with the rows of the first. Unless the first has a row, the others have no effect; each
   * must contain {@link Dialect.found} as a condition. All see the tables as they were before. It is repeated as {@link again} says.
   */
  change(statements: readonly [string, ...string[]], ...values: readonly unknown[]): Promise<readonly Row[]>;
  /** Runs `work` in one transaction. `work` must wait for nothing else than its statements. */
  transaction<T>(work: (query: SqlQuery) => Promise<T>): Promise<T>;
}

/** How the statements that stores share are completed for a database. */
export interface Dialect {
  /** The schema of all tables. */
  readonly schema: string;
  /** The time by the clock of the store, in Unix milliseconds. */
  readonly now: string;
  /** The condition of a later statement of {@link Sql.change}. */
  readonly found: string;
  /** Ends of a SELECT that keep others from changing its rows until the transaction ends. */
  readonly lock: {
    /** For rows that are only read. */
    readonly share: string;
    /** For rows that are changed. */
    readonly update: string;
    /** For rows that are changed; leaves out those that others have locked. */
    readonly skip: string;
  };
  /** Names the index that reads a table. */
  index(name: string): string;
  /** An item of FROM: the objects of a JSON list, in the column `one`. `one ->> 'name'` is a field as text. */
  items(list: string): string;
  /** A text as JSON; `->> 'name'` behind it is a field as text. */
  json(text: string): string;
  /** The JSON list of the column `one`. */
  readonly gathered: string;
}

/** The words for the columns of a table. */
export interface ColumnWords {
  /** A text whose order is that of its bytes. */
  readonly name: string;
  /** A whole number. */
  readonly whole: string;
  /** A number. */
  readonly real: string;
  /** The end of a table. */
  readonly end: string;
}
