import { expect, it } from 'vitest';
import { Resting } from '../../src/loop/sessions/resting.ts';
import { MemoryStore } from '../../src/loop/sessions/sqlite.ts';
import { newSession } from '../../src/loop/sessions/store.ts';
import { TestClock } from './fake.ts';

/** A session that a process has set aside for 900 ms. */
async function resting() {
  const clock = new TestClock();
  const store = new MemoryStore({ clock });
  await store.create(newSession('s', '{}', null), clock.ms);
  const { fence } = await store.claim('s', { owner: 'a', ms: 900 });
  const ended: string[] = [];
  const rest = new Resting({ store, clock, leaseMs: 900, end: async (sid) => ended.push(sid) });
  rest.add({ sid: 's', fence });
  const pass = (ms: number): void => {
    clock.ms += ms;
    clock.elapsed += ms;
  };
  return { store, rest, ended, pass, ready: () => store.find({ kind: 'ready', owner: 'b' }, 10) };
}

it('a session at rest is nobody else’s for the length of a lease, and then ready', async () => {
  const { rest, pass, ready, ended } = await resting();
  for (let looks = 0; looks < 3; looks++) {
    await rest.look();
    expect(await ready()).toEqual([]);
    // A look may be late.
    pass(looks === 1 ? 500 : 200);
  }
  await rest.look();
  expect(await ready()).toEqual(['s']);
  expect(ended).toEqual([]);
});

it('it ends when that is requested, and once; a later claim is left alone', async () => {
  const { store, rest, ended } = await resting();
  await store.cancel('s');
  await rest.look();
  await rest.look();
  expect(ended).toEqual(['s']);
  const other = await resting();
  await other.store.claim('s', { owner: 'a', ms: 900 });
  await other.store.cancel('s');
  await other.rest.look();
  expect(other.ended).toEqual([]);
});
