// @module-tag slow
import { expect, it } from 'vitest';
import { crash } from './crash.ts';
import { expectWhole } from './whole.ts';

/** Number of processes to kill. Two hundred take minutes, so they must be requested (`CRASH_KILLS=200`). */
const KILLS = Number(process.env['CRASH_KILLS'] ?? 12);

it('AL3-11-6 AL3-1-1: killed at random instants, every turn is committed and logged exactly once, and all sessions end', async () => {
  const plan = { sessions: 20 + KILLS * 2, turns: 4, kills: KILLS, leaseMs: 150, processes: 2 };
  const report = await crash(plan);
  expect(report.killed).toBeGreaterThan(KILLS / 2);
  expectWhole(report, plan);
}, 900_000);

it('AL3-3-1 A3-2-2: two processes on one store run no turn twice', async () => {
  const plan = { sessions: 30, turns: 4, kills: 0, leaseMs: 15_000, processes: 2 };
  const report = await crash(plan);
  expectWhole(report, plan);
  // 24 sessions of 4 turns, and 6 that end before their last
  expect(report.runs).toBe(24 * 4 + 6 * 3);
}, 60_000);
