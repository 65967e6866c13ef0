import { expect } from 'vitest';
import type { CrashPlan, CrashReport } from './crash.ts';
import { isMute } from './mute.ts';

/** Nothing is lost, nothing is there twice, and every session has ended: also those that ended between two turns. */
export function expectWhole(report: CrashReport, { sessions, turns }: CrashPlan): void {
  const upTo = (most: number) => Array.from({ length: most }, (_, index) => index + 1);
  const decided = (sid: string) => (isMute(sid) ? turns - 1 : turns);
  expect(report.sessions).toHaveLength(sessions);
  for (const session of report.sessions) {
    const { sid } = session;
    const ended = isMute(sid) ? { status: 'halted', reason: 'ERR_AGENT' } : { status: 'done', reason: null };
    expect(session).toMatchObject({ ...ended, turns: decided(sid), started: null, lease: null, owed: 0 });
    expect(report.turns.get(sid)?.map(({ turn }) => turn)).toEqual(upTo(decided(sid)));
  }
  // One line for every turn, and one for every end between two turns.
  const lines = report.sessions.flatMap(({ sid }) => upTo(turns).map((turn) => `${sid} ${turn}`));
  expect([...report.logged].sort()).toEqual(lines.sort());
  expect(report.chain).toMatchObject({ ok: true, lines: sessions * turns });
  expect(report.cells).toHaveLength(sessions);
  for (const cell of report.cells) expect(cell).toMatchObject({ value: decided(cell.sid), effects: decided(cell.sid) });
}
