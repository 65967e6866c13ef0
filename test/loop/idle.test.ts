// @module-tag slow
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { USERDATA } from './fake.ts';
import { controller } from './host.ts';

const SESSIONS = 10_000;

it('10,000 idle sessions have no timer, and cost less than 2 KB each', async () => {
  const { loop, store } = controller();
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  // Only a new context sees what is exposed at run time.
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  collect();
  const before = { timers: timers(), heap: process.memoryUsage().heapUsed };
  for (let index = 0; index < SESSIONS; index++) await loop.open(USERDATA, `idle-${index}`);
  collect();
  expect(timers()).toBeLessThanOrEqual(before.timers);
  expect((process.memoryUsage().heapUsed - before.heap) / SESSIONS).toBeLessThan(2048);
  expect(await store.list()).toHaveLength(SESSIONS);
});
