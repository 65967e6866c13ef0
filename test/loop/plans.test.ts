import { expect, it } from 'vitest';
import { SqliteEngine } from '../../src/loop/sessions/sqliteengine.ts';
import { statementsOf } from '../../src/loop/sessions/statements.ts';
import { SESSIONS } from '../../src/loop/sessions/tables.ts';
import { SqliteFile } from '../../src/sqlite/file.ts';

/** Statements that read in the order of an index until their limit, or the whole store. */
const READ_ON: Readonly<Record<string, string>> = {
  commit: 'the last line of the log',
  append: 'the last line of the log',
  leased: 'the sessions under a lease',
  ready: 'the sessions that are ready',
  census: 'the open sessions, by what they do',
  open: 'open sessions, no more than admission allows',
  forgetGone: 'the hosts, which are few',
  hosts: 'the hosts, which are few',
  summaries: 'it is completed with conditions',
  old: 'the sessions that ended before a day, in the order of their ids',
};

it('the cost of a statement does not grow with the store: SQLite finds its rows in an index', async () => {
  using engine = new SqliteEngine(':memory:', () => SqliteFile.memory(SESSIONS), { now: () => 0 });
  const reading = new Set<string>();
  for (const [name, statements] of Object.entries(statementsOf(engine.sql.dialect)))
    for (const text of [statements].flat()) {
      const values = Array.from({ length: 21 }, () => null);
      const plan = await engine.sql.query(`EXPLAIN QUERY PLAN ${text}`, ...values);
      if (plan.some(({ detail }) => /SCAN (?:main|s\b)|TEMP B-TREE/.test(String(detail)))) reading.add(name);
    }
  expect([...reading].sort()).toEqual(Object.keys(READ_ON).sort());
});
