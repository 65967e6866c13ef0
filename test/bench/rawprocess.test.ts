// @module-tag slow
import { expect, it } from 'vitest';
import { floorCalls } from '../../bench/floor.ts';
import { RawProcess } from '../../bench/rawprocess.ts';
import { GROWING } from '../../bench/sizes.ts';

it('a raw process runs a script, sleeps, ends a loop at its limit, and is killed', async () => {
  await using raw = await RawProcess.open();
  const { value, ms, insideMs, usedMs } = await raw.run('20 + 1');
  expect(value).toBe(21);
  expect(ms).toBeGreaterThan(insideMs);
  expect(insideMs).toBeGreaterThan(usedMs);
  expect((await raw.run('missing')).value).toBe('ReferenceError: missing is not defined');
  expect(await raw.sleep(10)).toBeGreaterThanOrEqual(9);
  expect(await raw.spin(10)).toBeGreaterThanOrEqual(9);
  expect(await raw.killAfter(10)).toBeGreaterThanOrEqual(9);
  await expect(raw.run('1')).rejects.toThrow();
});

it('the smallest interpreter calls procedures', async () => {
  await using raw = await RawProcess.open();
  expect((await raw.run(floorCalls(50))).value).toBe(49);
});

it.each(GROWING)('the smallest interpreter does the work of $name', async ({ floor, name }) => {
  await using raw = await RawProcess.open();
  expect((await raw.run(floor(50))).value).toBe(name === 'text parts' ? 6 * 50 : 50);
});
