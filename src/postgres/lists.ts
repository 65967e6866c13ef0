import { type SessionSummary, summaryOf } from '../loop/index.ts';
import type { Database } from './database.ts';
import { NOW } from './tables.ts';

/** Reads the columns of summaries; condition and order follow. */
export function summariesSql(schema: string): string {
  return `SELECT sid, status, reason, next_turn, created_at, updated_at, lease_owner, lease_until, end_owed, owed, tenant, profile, engine, reader,
      state, waits, started_turn AS started, ${NOW} AS now FROM ${schema}.sessions AS s`;
}

/** The summaries of the sessions that the rest of a statement selects and orders. */
export async function summaries(
  database: Database,
  schema: string,
  rest: string,
  ...values: readonly unknown[]
): Promise<readonly SessionSummary[]> {
  const rows = await database.again(`${summariesSql(schema)} ${rest}`, ...values);
  return rows.map((row) => summaryOf(row, Number(row['now'])));
}
