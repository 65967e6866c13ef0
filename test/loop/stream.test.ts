import { describe, expect, it } from 'vitest';
import type { LoopProgress } from '../../src/loop/progress.ts';
import { stream } from '../../src/loop/stream.ts';
import { programAgent, reply, USERDATA } from './fake.ts';
import { controller, run } from './host.ts';

async function all<T>(events: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const event of events) found.push(event);
  return found;
}
const options = (agent = programAgent('continue', 'done'), more = {}) => run(agent, more);

describe('a session as a stream of events', () => {
  it('AL3-0-1: tells the whole story in order, and ends with the result', async () => {
    const { loop } = controller();
    const events = await all(loop.stream(options()));
    expect(events.map(({ type }) => type)).toEqual(
      [['asked', 'replied', 'state', 'output', 'state', 'state', 'state', 'decided']].flatMap((turn) => [
        ...turn,
        ...turn,
        'ended',
      ]),
    );
    expect(events.at(-1)).toMatchObject({ type: 'ended', result: { sid: 's', decision: 'DONE', turns: { length: 2 } } });
  });

  it('returns the result too', async () => {
    const events = controller().loop.stream(options());
    let next = await events.next();
    while (next.done !== true) next = await events.next();
    expect(next.value).toMatchObject({ decision: 'DONE' });
  });

  it('does nothing before it is read, and then waits for its reader between two turns', async () => {
    const agent = programAgent('continue', 'continue', 'done');
    const { loop, store } = controller();
    const events = loop.stream(options(agent));
    await new Promise((done) => setTimeout(done, 20));
    expect(await store.read('s')).toBeNull();
    let event: LoopProgress | undefined;
    while (event?.type !== 'decided') event = (await events.next()).value as LoopProgress;
    await new Promise((done) => setTimeout(done, 20));
    expect(agent.prompts).toHaveLength(1);
    await events.next();
    expect(agent.prompts).toHaveLength(2);
    await events.return({} as never);
  });

  it('a reader that leaves cancels the session, and waits for its end', async () => {
    const { loop, store, log } = controller();
    for await (const event of loop.stream(options(programAgent('continue')))) if (event.type === 'decided') break;
    expect(await store.read('s')).toMatchObject({ status: 'halted', reason: 'ERR_CANCELLED', nextTurn: 2 });
    expect(log.entries).toMatchObject([{ decision: 'CONTINUE' }, { turn_index: 2, decision: 'HALT', reason: 'ERR_CANCELLED' }]);
    expect((await store.list())[0]?.lease).toBeNull();
  });

  it('a reader that leaves while the agent thinks does so too', async () => {
    const { loop, store } = controller();
    const agent = { reply: () => new Promise<string>(() => {}) };
    for await (const _ of loop.stream(run(agent))) break;
    expect(await store.read('s')).toMatchObject({ status: 'halted', reason: 'ERR_CANCELLED' });
  });

  it('a reader that throws gets its own error, and the session is cancelled', async () => {
    const { loop, store } = controller();
    const reading = async () => {
      for await (const event of loop.stream(options(programAgent('continue'))))
        if (event.type === 'decided') throw new Error('mine');
    };
    await expect(reading()).rejects.toThrow('mine');
    expect(await store.read('s')).toMatchObject({ status: 'halted' });
  });

  it('a signal ends it with a result', async () => {
    const { loop } = controller();
    const stop = new AbortController();
    const events: LoopProgress[] = [];
    for await (const event of loop.stream(options(programAgent('continue'), { signal: stop.signal }))) {
      events.push(event);
      if (event.type === 'decided') stop.abort();
    }
    expect(events.at(-1)).toMatchObject({ type: 'ended', result: { reason: 'ERR_CANCELLED' } });
  });

  it('rejects as runLoop does', async () => {
    const { loop } = controller();
    await loop.open(USERDATA, 's');
    await expect(all(loop.stream(options()))).rejects.toMatchObject({ code: 'ERR_SESSION_EXISTS' });
    expect(() => loop.stream({ ...options(), maxTurns: 0 })).toThrow('maxTurns');
    await expect(all(loop.streamResume('nobody', { agent: programAgent('done') }))).rejects.toMatchObject({
      code: 'ERR_SESSION_STATE',
    });
  });

  it('resumes a session', async () => {
    const { loop } = controller();
    await loop.open(USERDATA, 's');
    const events = await all(loop.streamResume('s', { agent: { reply: async () => reply('program done') } }));
    expect(events.at(-1)).toMatchObject({ type: 'ended', result: { decision: 'DONE' } });
  });
});

describe('a stream whose reader is slow', () => {
  it('keeps a thousand events of a turn’s middle, and tells how many it left out', async () => {
    const events = await all(
      stream<number, string>({
        signal: undefined,
        minor: (event) => event > 0,
        async run({ onEvent }) {
          for (let event = 1; event <= 100_000; event++) onEvent(event);
          onEvent(0);
          onEvent(-1);
          return 'end';
        },
      }),
    );
    expect(events).toHaveLength(1000 + 4);
    expect(events.slice(0, 1000)).toEqual(Array.from({ length: 1000 }, (_, index) => index + 1));
    expect(events.slice(1000)).toEqual([{ type: 'dropped', events: 99_000 }, 0, -1, { type: 'ended', result: 'end' }]);
  });
});
