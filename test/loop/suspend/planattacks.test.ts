import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type LoopControllerOptions, MemoryStore, PLAN, SqliteStore } from '../../../src/loop/index.ts';
import { defineTool } from '../../../src/tools/index.ts';
import { tempFolder } from '../../folder.ts';
import { TestClock } from '../fake.ts';
import { agentOf, openHost, SESSION } from './stage.ts';

const token = (action: string): string => `emit tool.aeiou.magic("LOOP", {"action": "${action}"})`;
const command = (...lines: readonly string[]): string => `command\n${lines.join('\n')}\nendcommand`;
const LINES = ['call tool.t.Send("a")', 'call tool.t.Send("b")', token('done')];
const SENDS = command(...LINES);

/** A host whose turns wait for the approval of their plans, and what it sent. */
async function host(options: Partial<Omit<LoopControllerOptions, 'runtime'>> = {}) {
  const sent: unknown[] = [];
  const send = defineTool({ name: 'tool.t.Send', args: [{ name: 'to', type: 'string' }], run: ({ to }) => void sent.push(to) });
  return { ...(await openHost([send], { approve: 'plan', maxReasks: 0, ...options })), sent };
}

it.each(['yes', 1, null])('issue 47: %j is no answer to a plan, and no refusal', async (result) => {
  await using here = await host();
  const agent = agentOf(SENDS);
  await here.loop.runLoop({ ...SESSION, agent });
  await expect(here.loop.complete('s', PLAN, { result })).rejects.toMatchObject({ code: 'ERR_CALL_TYPE' });
  await here.loop.complete('s', PLAN, { result: true });
  expect(await here.loop.resume('s', { agent })).toMatchObject({ decision: 'DONE' });
  expect(here.sent).toEqual(['a', 'b']);
});

it('issue 47: a plan that expired unanswered allows nothing; what the program then comes to is asked for anew', async () => {
  const clock = new TestClock();
  await using here = await host({ clock, maxWaitMs: 1000, onExpired: 'error' });
  const agent = agentOf(command('on error do', 'emit system_error.message', 'clear_error', 'endon', ...LINES));
  await here.loop.runLoop({ ...SESSION, agent });
  clock.ms += 1000;
  await expect(here.loop.complete('s', PLAN, { result: true })).rejects.toMatchObject({ code: 'ERR_CALL_EXPIRED' });
  expect(await here.loop.resume('s', { agent })).toMatchObject({ decision: 'SUSPENDED', waiting: { call: PLAN } });
  clock.ms += 999;
  await here.loop.complete('s', PLAN, { result: true });
  // An answer that came in time stays good.
  clock.ms += 1_000_000;
  expect(await here.loop.resume('s', { agent })).toMatchObject({ decision: 'DONE' });
  expect(here.sent).toEqual(['b']);
});

it('issue 47: of two hosts that answer a plan, and go on with it, one does', async () => {
  const folder = tempFolder();
  const clock = new TestClock();
  using one = await SqliteStore.open(join(folder, 'jobs.db'), { clock });
  using other = await SqliteStore.open(join(folder, 'jobs.db'), { clock });
  await using here = await host({ clock, store: one });
  await using there = await host({ clock, store: other });
  const agent = agentOf(SENDS);
  await here.loop.runLoop({ ...SESSION, agent });
  const answers = [here, there].map(({ loop }, index) => loop.complete('s', PLAN, { result: index === 0 }));
  const settled = await Promise.allSettled(answers);
  expect(settled.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  await expect(there.loop.complete('s', PLAN, { result: false })).rejects.toMatchObject({ code: 'ERR_CALL_COMPLETED' });
  const ends = await Promise.allSettled([here, there].map(({ loop }) => loop.resume('s', { agent })));
  expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect([...here.sent, ...there.sent]).toEqual(settled[0]?.status === 'fulfilled' ? ['a', 'b'] : []);
});

it('issue 47: the approval of a turn is none of the next one with the same program, nor of another session', async () => {
  const store = new MemoryStore();
  await using here = await host({ store });
  const program = command('call tool.t.Send("a")', token('continue'));
  const agent = agentOf(program, program);
  for (const sid of ['s', 'other']) await here.loop.runLoop({ ...SESSION, sid, agent });
  await here.loop.complete('s', PLAN, { result: true });
  expect(await here.loop.resume('s', { agent })).toMatchObject({ decision: 'SUSPENDED', waiting: { call: PLAN } });
  const [first] = await store.turns('s');
  for (const sid of ['s', 'other']) {
    const { next, fence } = await store.claim(sid, { owner: 'thief', ms: 60_000 });
    if (next.kind !== 'waiting') throw new Error('it does not wait');
    const suspended = { ...next.suspended, completion: { ok: true, value: true } as const };
    await store.start({ ...next.started, suspended, plans: first?.plans }, fence);
    await store.release(sid, fence);
    expect(await here.loop.resume(sid, { agent })).toMatchObject({ decision: 'SUSPENDED', waiting: { call: PLAN } });
  }
  expect(here.sent).toEqual(['a']);
});
