import { expect } from 'vitest';
import type { CrashPlan, CrashReport } from './crash.ts';

/** Nothing is lost, nothing is there twice, and every session has ended. */
export function expectWhole(report: CrashReport, { sessions, turns }: CrashPlan): void {
  const all = Array.from({ length: turns }, (_, index) => index + 1);
  expect(report.sessions).toHaveLength(sessions);
  for (const session of report.sessions)
    expect(session).toMatchObject({ status: 'done', turns, started: null, lease: null, owed: 0 });
  for (const records of report.turns.values()) expect(records.map(({ turn }) => turn)).toEqual(all);
  expect([...report.logged].sort()).toEqual(report.sessions.flatMap(({ sid }) => all.map((turn) => `${sid} ${turn}`)).sort());
  expect(report.chain).toMatchObject({ ok: true, lines: sessions * turns });
  expect(report.cells).toHaveLength(sessions);
  for (const cell of report.cells) expect(cell).toMatchObject({ value: turns, effects: turns });
}
