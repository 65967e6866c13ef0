import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { defineTool } from '../../src/entries/index.ts';
import { functionAgent, programReply } from '../../src/loop/index.ts';
import { replaySchedule, type Scenario, simulate } from '../../src/testing/index.ts';
import { ConfigError } from '../../src/wire/errors.ts';
import { SLOW } from '../groups.ts';
import { PLANTS } from '../simulate/plants.ts';
import { shop } from '../simulate/shop.ts';

const SESSION = { userdata: { subject: 'test', fields: {} } };
const turn = (...lines: readonly string[]): string =>
  programReply(['command', ...lines, 'emit tool.aeiou.magic("LOOP", {"action": "done"})', 'endcommand'].join('\n'));

/** Books a room for each session; with `keys`, a repeated call books none. */
const hotel = (keys: boolean) => (): Scenario => {
  const booked = new Map<string, string>();
  let twice: string | null = null;
  const book = defineTool({
    name: 'tool.hotel.Book',
    args: [{ name: 'guest', type: 'string' }],
    idempotent: true,
    run: ({ guest }, { call }) => {
      const key = call.key ?? '';
      if (booked.has(guest) && !(keys && booked.get(guest) === key)) twice = `${guest} has two rooms`;
      booked.set(guest, key);
      return 'booked';
    },
  });
  return {
    agent: functionAgent(({ sid }) => turn(`set answer = tool.hotel.Book("${sid}")`)),
    tools: [book],
    sessions: [SESSION, SESSION],
    invariants: { 'a guest has one room': () => twice },
  };
};

describe('issue 23: simulation', () => {
  for (const [seeds, options] of [
    [8, {}],
    [25, SLOW],
  ] as const)
    it(`the same ${seeds} seeds do the same, event by event, and every invariant holds`, {
      ...options,
      timeout: 300_000,
    }, async () => {
      const first = await simulate(shop, { seeds });
      const { rate, ...second } = await simulate(shop, { seeds });
      expect(first).toMatchObject(second);
      expect(first.failure).toBeNull();
      expect(rate).toBeGreaterThan(0);
      expect(first.turns).toBeGreaterThan(seeds);
      expect(Object.keys(first.faults).length).toBeGreaterThan(8);
      expect((await simulate(shop, { seeds: 3, from: 26 })).hash).not.toBe(first.hash);
    });

  it('runs nested turns and calls that run together, in memory and in SQLite, and does the same in both', async () => {
    const pay = defineTool({ name: 'tool.t.Pay', args: [{ name: 'what', type: 'string' }], run: ({ what }) => `paid ${what}` });
    const ask = defineTool({ name: 'tool.t.Ask', run: (_, runtime) => runtime.pending({ reason: 'why not?' }) });
    const program = [
      'ask "clerk", "rent" into rent',
      'together',
      'set a = tool.t.Ask()',
      'set b = tool.t.Pay("tea")',
      'endtogether',
      'emit [rent, a, b]',
    ];
    const seen: unknown[] = [];
    const scenario = (): Scenario => ({
      agent: functionAgent(() => turn(...program)),
      models: { clerk: functionAgent(() => turn('emit tool.t.Pay("rent")')) },
      tools: [pay, ask],
      sessions: [SESSION],
      answer: () => ({ result: 'yes' }),
      invariants: {
        'everything is paid': ({ isOver, turns }) => {
          if (isOver) seen.push(turns('s1').map(({ decision, output }) => `${decision} ${output}`));
          return null;
        },
      },
    });
    expect(await replaySchedule(scenario, { seed: 5, hosts: 2, faults: [] })).toBeNull();
    expect(seen).toEqual([[expect.stringMatching(/^DONE .*paid rent.*yes.*paid tea/)]]);
  });

  it('finds a tool that ignores its key, makes the schedule small, and repeats it', async () => {
    const { failure } = await simulate(hotel(false), { seeds: 500 });
    expect(failure).toMatchObject({ invariant: 'a guest has one room', schedule: { hosts: 1 } });
    expect(failure?.schedule).toMatchObject({ faults: [expect.any(String)], sessions: [expect.any(Number)] });
    if (failure === null) return;
    expect(await replaySchedule(hotel(false), failure.schedule)).toEqual(failure);
    expect(await replaySchedule(hotel(true), failure.schedule)).toBeNull();
  });

  it('gives code of a world the time and the chance of the world, and leaves all other code alone', SLOW, async () => {
    const seen = async () => {
      const values: unknown[] = [];
      const look = defineTool({
        name: 'tool.t.Look',
        run: async () => {
          const begun = Date.now();
          await sleep(10_000);
          await new Promise((resolve) => setTimeout(resolve, 1000));
          values.push(new Date().getFullYear(), Date.now() - begun, Math.random(), crypto.randomUUID(), performance.now());
          return 'seen';
        },
      });
      const agent = functionAgent(() => turn('set answer = tool.t.Look()'));
      const { failure } = await simulate(() => ({ agent, tools: [look], sessions: [SESSION] }), { seeds: 1, faults: [] });
      expect(failure).toBeNull();
      return values;
    };
    const real = setTimeout;
    const values = await seen();
    expect(values.length).toBeGreaterThan(0);
    expect(values.slice(0, 2)).toEqual([2030, expect.closeTo(11_000, -1)]);
    expect(await seen()).toEqual(values);
    expect(setTimeout).toBe(real);
  });

  it('knows sessions that wait for an answer that nobody gives', async () => {
    const ask = defineTool({ name: 'tool.t.Ask', run: (_, runtime) => runtime.pending({ reason: 'why not?' }) });
    const agent = functionAgent(() => turn('set answer = tool.t.Ask()'));
    const scenario = { tools: [ask], agent, sessions: [SESSION], answer: () => null };
    const { failure, turns } = await simulate(() => scenario, { seeds: 3, faults: ['dies', 'stops'] });
    expect({ failure, turns }).toEqual({ failure: null, turns: 0 });
  });

  it.each(PLANTS)('the place of a planted mistake is there: $name', ({ file, text, instead }) => {
    expect(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8').split(text)).toHaveLength(2);
    expect(instead).not.toBe(text);
  });

  it('refuses options that it does not know', async () => {
    await expect(simulate(shop, { seeds: 0 })).rejects.toThrow(ConfigError);
    await expect(simulate(shop, JSON.parse('{"fault":[]}'))).rejects.toThrow('fault');
    await expect(simulate(shop, { faults: JSON.parse('["typhoon"]') })).rejects.toThrow(ConfigError);
    await expect(replaySchedule(shop, JSON.parse('{}'))).rejects.toThrow('seed');
  });
});
