import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRuntime, defineTool, type Runtime, SILENT_LOGGER } from '../../src/entries/index.ts';
import { Deliveries } from '../../src/runtime/deliveries.ts';
import { workerError } from '../../src/wire/errorinfo.ts';
import { type RunResult, refusedResult } from '../../src/wire/result.ts';

const handled: unknown[] = [];
const TOOLS = [
  defineTool({
    name: 'tool.test.Handled',
    args: [{ name: 'what' }],
    run: ({ what }, { turn, forkId }) => void handled.push([what, turn.sessionId, turn.turnIndex, forkId]),
  }),
  defineTool({ name: 'tool.test.Slow', run: () => new Promise((resolve) => setTimeout(resolve, 30)) }),
];

const HANDLERS = `
on event "tick" named "first" as e do
  set x = e["payload"][0]["Payload"]
  call tool.test.Handled(x)
  clear event named "second"
endon
on event "tick" named "second" as e do
  call tool.test.Handled("cleared")
endon
on event "tick" named "third" as e do
  emit [x, e["payload"][0]["ID"]]
  call tool.test.Slow()
endon
on event "broken" named "b" as e do
  fail "no"
endon
on event "broken" named "c" as e do
  call tool.test.Handled("after")
endon
`;

let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({ tools: TOOLS, policy: { allow: ['*'] }, concurrency: 1 });
});
afterAll(() => runtime.close());

describe('events of a root, through the real sandbox', () => {
  it('handlers find the time of the turn as TS, and as ID what no other event of the runtime has', async () => {
    await using still = await createRuntime({ concurrency: 1, now: () => 1_760_000_000_000 });
    const source = 'on event "x" as e do\n  emit [e.payload[0].ID, e.payload[0].TS]\nendon\n';
    const events = [{ name: 'x' }, { name: 'x' }];
    const seen = [await still.run(source, { events }), await still.run(source, { events })].flatMap(({ values }) => values);
    expect(new Set(seen.map((value) => JSON.stringify(value))).size).toBe(4);
    expect(seen).toMatchObject(Array.from({ length: 4 }, () => [expect.any(String), 1_760_000_000_000 * 1e6]));
  });

  it('every handler runs in its own fork; one that was cleared by an earlier one does not run', async () => {
    handled.length = 0;
    const root = runtime.interpreter();
    await root.load(HANDLERS);
    const result = await root.emitEvent('tick', 'clock', 7, { ts: 5 });
    expect(result).toMatchObject({ ok: true, phase: 'events', eventErrors: [] });
    expect(result.values).toMatchObject([[null, expect.stringContaining('event')]]);
    expect(handled).toMatchObject([[7, null, null, expect.any(String)]]);
    const [[, , , fork]] = handled as [[unknown, unknown, unknown, string]];
    expect(result.journal.map(({ at }) => at.fork)).toEqual([fork, expect.not.stringMatching(`^${fork}$`)]);
    // What a handler cleared, it cleared for that run: the next event finds all of them.
    await root.emitEvent('tick', 'clock', 8);
    expect(handled).toHaveLength(2);
  });

  it('an error of a handler goes to the callback with its event and source, and the next handler runs', async () => {
    handled.length = 0;
    const heard: unknown[] = [];
    const host = {
      logger: SILENT_LOGGER,
      onEventError: (event: string, source: string, error: { code: string; message: string }) =>
        void heard.push([event, source, error.code, error.message]),
    };
    const root = runtime.interpreter({ host });
    await root.load(HANDLERS);
    const result = await root.emitEvent('broken', 'sensor', null);
    expect(result).toMatchObject({ ok: true, eventErrors: [{ event: 'broken', error: { code: 'NS1', message: 'no' } }] });
    expect(heard).toEqual([['broken', 'sensor', 'NS1', 'no']]);
    expect(handled).toMatchObject([['after', null, null, expect.any(String)]]);
  });

  it('AL1-2.12-2: the same id in the same session and turn is delivered once, in any number of deliveries at once', async () => {
    handled.length = 0;
    const root = runtime.interpreter();
    await root.load(HANDLERS);
    using one = runtime.turn({ sessionId: 's', turnIndex: 1 });
    using two = runtime.turn({ sessionId: 's', turnIndex: 2 });
    using other = runtime.turn({ sessionId: 't', turnIndex: 1 });
    const send = (turn: typeof one, id: string): Promise<RunResult> => root.fork({ turn }).emitEvent('tick', 'net', id, { id });
    const results = await Promise.all([send(one, 'a'), send(one, 'a'), send(one, 'b'), send(two, 'a'), send(other, 'a')]);
    expect((await send(one, 'a')).usage.fuel).toBe(0);
    expect(handled.map((entry) => (entry as unknown[]).slice(0, 3)).toSorted()).toEqual([
      ['a', 's', 1],
      ['a', 's', 2],
      ['a', 't', 1],
      ['b', 's', 1],
    ]);
    expect(results.map(({ emits }) => emits.length)).toEqual([1, 0, 1, 1, 1]);
    expect(results.every(({ ok }) => ok)).toBe(true);
    expect(results[0]?.values).toEqual([[null, 'a']]);
    // Without an id every delivery is an event of its own; another root knows nothing of it.
    for (let n = 0; n < 2; n++) await root.fork({ turn: one }).emitEvent('tick', 'net', 'none');
    expect(handled).toHaveLength(6);
    const stranger = runtime.interpreter();
    await stranger.load(HANDLERS);
    await stranger.fork({ turn: one }).emitEvent('tick', 'net', 'a', { id: 'a' });
    expect(handled).toHaveLength(7);
  });
});

describe('deliveries', () => {
  const {
    errors: _,
    findings: __,
    causes: ______,
    names: _____,
    waiting: ___,
    alsoWaiting: ____,
    ...facts
  } = refusedResult(workerError('x'));
  const fine: RunResult = { ...facts, ok: true, phase: 'events', error: null };

  it('one that was rejected, or refused before it began, is made again: by the one that waited, or the next', async () => {
    const deliveries = new Deliveries();
    const first = Promise.withResolvers<RunResult>();
    let made = 0;
    const began = deliveries.once('e', null, null, () => first.promise);
    const waited = deliveries.once('e', null, null, async () => {
      made++;
      return refusedResult(workerError('cancelled before it began'));
    });
    first.reject(new Error('busy'));
    await expect(began).rejects.toThrow('busy');
    expect((await waited).ok).toBe(false);
    expect(made).toBe(1);
    await deliveries.once('e', null, null, async () => {
      made++;
      return fine;
    });
    const repeated = await deliveries.once('e', null, null, async () => {
      made++;
      return fine;
    });
    expect(made).toBe(2);
    expect(repeated).toMatchObject({ ok: true, phase: 'events', emits: [] });
  });

  it('of many that wait for one that fails, one is made', async () => {
    const deliveries = new Deliveries();
    const first = Promise.withResolvers<RunResult>();
    let made = 0;
    const all = [deliveries.once('e', 's', 1, () => first.promise)];
    for (let n = 0; n < 5; n++)
      all.push(
        deliveries.once('e', 's', 1, async () => {
          made++;
          return fine;
        }),
      );
    first.reject(new Error('busy'));
    const settled = await Promise.allSettled(all);
    expect(settled.map(({ status }) => status)).toEqual(['rejected', ...Array.from({ length: 5 }, () => 'fulfilled')]);
    expect(made).toBe(1);
  });

  it('ids cannot be mixed up with sessions, and the oldest of very many are forgotten', async () => {
    const deliveries = new Deliveries();
    let made = 0;
    const deliver = async (): Promise<RunResult> => {
      made++;
      return fine;
    };
    await deliveries.once('a","b', null, null, deliver);
    await deliveries.once('a', 'b', null, deliver);
    expect(made).toBe(2);
    for (let id = 0; id < 10_000; id++) await deliveries.once(String(id), null, null, deliver);
    await deliveries.once('9999', null, null, deliver);
    expect(made).toBe(10_002);
    await deliveries.once('a', 'b', null, deliver);
    expect(made).toBe(10_003);
  });
});
