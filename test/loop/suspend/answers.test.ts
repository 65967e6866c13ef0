import { describe, expect, it } from 'vitest';
import { MemoryStore, SqliteStore } from '../../../src/loop/index.ts';
import { TestClock } from '../fake.ts';
import { agentOf, approval, openHost, SESSION } from './stage.ts';

const agent = agentOf(`command
  emit "answered: " + tool.human.Approve("go on")
  emit tool.aeiou.magic("LOOP", {"action": "done"})
endcommand`);

const stores = {
  memory: async (clock: TestClock) => new MemoryStore({ clock }),
  sqlite: (clock: TestClock) => SqliteStore.open(':memory:', { clock }),
} as const;

/** Answers that no reader of a stored turn can read, or that mean nothing. */
const WRONG: readonly (readonly [string, unknown])[] = [
  ['nothing', undefined],
  ['null', null],
  ['a text', 'yes'],
  ['neither result nor error', {}],
  ['no result', { result: undefined }],
  ['an error that is a text', { error: 'denied' }],
  ['an error without a text', { error: { code: 21 } }],
  ['an error whose text is a number', { error: { message: 1 } }],
  ['a code that is a text', { error: { message: 'm', code: '21' } }],
  ['a code that is not whole', { error: { message: 'm', code: 1.5 } }],
  ['a code that is no number', { error: { message: 'm', code: Number.NaN } }],
  ['a code below the first', { error: { message: 'm', code: 0 } }],
  ['both', { result: true, error: { message: 'm' } }],
  ['an unknown key', { result: true, also: 1 }],
];

describe.each(Object.keys(stores) as (keyof typeof stores)[])('a call that waits in a store in %s', (kind) => {
  it('refuses answers of another form, and the session goes on with the next answer', async () => {
    const clock = new TestClock();
    const store = await stores[kind](clock);
    await using host = await openHost([approval({ returns: 'string' })], { store, clock });
    expect(await host.loop.runLoop({ ...SESSION, agent })).toMatchObject({ decision: 'SUSPENDED' });
    for (const [what, answer] of WRONG) {
      const refusal = { code: 'ERR_CONFIG', message: expect.stringContaining('the answer to a call must be') };
      await expect(host.loop.complete('s', '1.1', answer as never), what).rejects.toMatchObject(refusal);
    }
    expect((await host.loop.list())[0]).toMatchObject({
      status: 'open',
      damaged: null,
      waits: { completed: false },
      lease: null,
    });
    await host.loop.complete('s', '1.1', { result: 'yes' });
    const { decision, turns } = await host.loop.resume('s', { agent, keepTurns: true });
    expect([decision, turns[0]?.output]).toEqual(['DONE', expect.stringContaining('answered: yes')]);
  });
});
