// @module-tag slow
import { expect, it } from 'vitest';
import { busier, loadText, measureLoad } from '../../bench/load.ts';

it('issue 19, 4: the load is named in one phrase, with what follows from it', () => {
  const idle = { average: 0.4, cores: 2, stretch: 1.02 };
  const shared = { average: 2.1, cores: 2, stretch: 1.9 };
  expect(loadText(idle)).toBe('load average 0.4 on 2 cores, calibration 1.0 times its CPU time: an idle machine');
  expect(loadText(busier(idle, shared))).toBe(
    'load average 2.1 on 2 cores, calibration 1.9 times its CPU time: a busy machine: promises are ratios, its times do not count',
  );
});

it('issue 19, 4: the calibration never takes less time than CPU', () => {
  const { average, cores, stretch } = measureLoad();
  expect(average).toBeGreaterThanOrEqual(0);
  expect(cores).toBeGreaterThan(0);
  expect(stretch).toBeGreaterThan(0.9);
});
