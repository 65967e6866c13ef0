import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { MemoryStore } from '../../src/loop/index.ts';

it('a store in memory that nobody closes is collected, also when its clock knows it', async () => {
  const used = async (): Promise<WeakRef<object>> => {
    const world: { now(): number; store?: MemoryStore } = { now: () => 0 };
    world.store = new MemoryStore({ clock: world });
    await world.store.list();
    return new WeakRef(world);
  };
  const ref = await used();
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const isHeld = (): boolean => {
    collect();
    return ref.deref() !== undefined;
  };
  await expect.poll(isHeld, { timeout: 20_000 }).toBe(false);
});
