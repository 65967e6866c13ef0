// @module-tag slow
import { expect, it } from 'vitest';
import { crash } from '../loop/crash.ts';
import { expectWhole } from '../loop/whole.ts';

it('AL3-11-6: 500 sessions whose process is killed 200 times lose nothing, and do nothing twice', async () => {
  const plan = { sessions: 500, turns: 5, kills: 200, leaseMs: 150, processes: 2 };
  const report = await crash(plan);
  expect(report.killed).toBeGreaterThan(150);
  expectWhole(report, plan);
}, 900_000);
