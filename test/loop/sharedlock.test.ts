import { expect, it } from 'vitest';
import { MemoryStore } from '../../src/loop/sessions/sqlite.ts';
import { SharedLock } from '../../src/loop/sharedlock.ts';
import { CallScope } from '../../src/tools/dispatch/callscope.ts';
import { BusyError } from '../../src/wire/errors.ts';
import { fakeExecutor, type Program, programAgent, TestClock, USERDATA } from './fake.ts';
import { controller, run } from './host.ts';

/** Work that says when it begins and ends when it is told. */
function works(seen: string[]) {
  return (name: string) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const work = async (): Promise<void> => {
      seen.push(name);
      await promise;
    };
    return { work, end: resolve };
  };
}

/** Does the work under the lock. */
async function under(
  lock: SharedLock,
  alone: boolean,
  signal: AbortSignal | undefined,
  work: () => Promise<void>,
): Promise<void> {
  using _held = await lock.hold(alone, signal);
  await work();
}

/** Lets everything happen that can happen now. */
const settle = () => new Promise<void>((resolve) => void setImmediate(resolve));

it('finding 10: a lock is held together or alone, in the order of arrival', async () => {
  const lock = new SharedLock();
  const seen: string[] = [];
  const make = works(seen);
  const [a, b, alone, c] = [make('a'), make('b'), make('alone'), make('c')];
  const all = [under(lock, false, undefined, a.work), under(lock, false, undefined, b.work)];
  all.push(under(lock, true, undefined, alone.work), under(lock, false, undefined, c.work));
  await settle();
  expect(seen).toEqual(['a', 'b']);
  a.end();
  await settle();
  expect(seen).toEqual(['a', 'b']);
  b.end();
  await settle();
  expect(seen).toEqual(['a', 'b', 'alone']);
  alone.end();
  await settle();
  expect(seen).toEqual(['a', 'b', 'alone', 'c']);
  c.end();
  await Promise.all(all);
});

it('finding 10: cancelled work leaves the queue and holds up nobody', async () => {
  const lock = new SharedLock();
  const seen: string[] = [];
  const make = works(seen);
  const [holder, cancelled, next] = [make('holder'), make('cancelled'), make('next')];
  const cancel = new AbortController();
  const held = under(lock, false, undefined, holder.work);
  const gone = under(lock, true, cancel.signal, cancelled.work);
  const last = under(lock, false, undefined, next.work);
  await settle();
  expect(seen).toEqual(['holder']);
  cancel.abort();
  await settle();
  expect(seen).toEqual(['holder', 'cancelled', 'next']);
  for (const { end } of [holder, cancelled, next]) end();
  await Promise.all([held, gone, last]);
  let free = false;
  await under(lock, true, undefined, async () => {
    free = true;
  });
  expect(free).toBe(true);
});

/** Opens a session `s` whose first turn was started by a process that is dead. */
async function interrupted(attempt: number) {
  const clock = new TestClock();
  const store = new MemoryStore({ clock });
  const keep = store.commit.bind(store);
  store.commit = () => Promise.reject(new Error('killed'));
  await expect(controller({ clock, store }).loop.runLoop(run(programAgent('done')))).rejects.toThrow('killed');
  store.commit = keep;
  const { next, fence } = await store.claim('s', { owner: 'dead', ms: 1 });
  if (next.kind !== 'interrupted') throw new Error('the turn was not started');
  await store.start({ ...next.started, attempt }, fence);
  await store.release('s', fence);
  return { store, clock };
}

it('finding 10: the turns that a tool of a turn takes do not wait for that turn, even if it runs alone', async () => {
  const { store, clock } = await interrupted(1);
  const asking: Program = async ({ emit, magic }) => {
    const ask = () => controller().loop.runLoop({ userdata: USERDATA, agent: programAgent('done') });
    emit((await new CallScope(1).run(ask)).decision);
    emit(await magic('done'));
  };
  const { loop } = controller({ clock, store, executor: fakeExecutor({ done: asking }) });
  expect(await loop.resume('s', { agent: programAgent() })).toMatchObject({ decision: 'DONE' });
});

it('finding 10: a turn that got no worker keeps the attempts that the store has counted', async () => {
  const { store, clock } = await interrupted(2);
  const busy: Program = () => {
    throw new BusyError('no worker is free');
  };
  const { loop } = controller({ clock, store, executor: fakeExecutor({ done: busy }) });
  await expect(loop.resume('s', { agent: programAgent() })).rejects.toThrow(BusyError);
  const { next } = await store.claim('s', { owner: 'x', ms: 1 });
  expect(next).toMatchObject({ kind: 'interrupted', started: { attempt: 2 } });
});
