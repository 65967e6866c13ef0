// @module-tag slow
import { expect, it } from 'vitest';
import { crash } from './crash.ts';
import { expectWhole } from './whole.ts';

it('AL3-11-6 AL3-1-1: killed at random instants, every turn is committed and logged exactly once, and all sessions end', async () => {
  const plan = { sessions: 40, turns: 4, kills: 10, leaseMs: 150, processes: 1 };
  const report = await crash(plan);
  expect(report.killed).toBeGreaterThan(0);
  expectWhole(report, plan);
}, 90_000);

it('AL3-3-1 A3-2-2: two processes on one store run no turn twice', async () => {
  const plan = { sessions: 30, turns: 4, kills: 0, leaseMs: 15_000, processes: 2 };
  const report = await crash(plan);
  expectWhole(report, plan);
  // 24 sessions of 4 turns, and 6 that end before their last
  expect(report.runs).toBe(24 * 4 + 6 * 3);
}, 60_000);
