import { describe, expect, it } from 'vitest';
import { parseEnvelope } from '../../src/aeiou/index.ts';
import { nonceOf } from '../../src/context/nonce.ts';
import type { Agent } from '../../src/loop/agents/agent.ts';
import type { LoopEvent } from '../../src/loop/events.ts';
import { seededIds } from '../../src/loop/ids.ts';
import { MemoryLog } from '../../src/loop/log/log.ts';
import { Metrics } from '../../src/loop/metrics.ts';
import { SessionExistsError, SessionStateError } from '../../src/loop/sessions/errors.ts';
import { MemoryStore } from '../../src/loop/sessions/sqlite.ts';
import type { GuardView } from '../../src/loop/turn/verdict.ts';
import { ConfigError } from '../../src/wire/errors.ts';
import { newKeyring, programAgent, reply, TestClock, USERDATA } from './fake.ts';
import { controller, run } from './host.ts';

describe('a session', () => {
  it('A3-8-8 A3-8-7: turns count 1, 2, 3 and each has a nonce of its own', async () => {
    const { loop } = controller();
    const result = await loop.runLoop(run(programAgent('continue', 'continue', 'done')));
    expect(result).toMatchObject({ decision: 'DONE', reason: null, error: null, output: 'the answer' });
    expect(result.turns.map(({ turn }) => turn)).toEqual([1, 2, 3]);
    expect(new Set(result.turns.map(({ inputs }) => inputs.nonce)).size).toBe(3);
  });

  it('A3-8-6 A3-3.1-4: only a CONTINUE carries both streams into the next envelope, without their final line feed', async () => {
    const { loop, store } = controller();
    const agent = programAgent('continue', 'done');
    await loop.runLoop(run(agent));
    const [first, second] = agent.prompts.map((prompt) => parseEnvelope(new TextEncoder().encode(prompt)));
    expect(first).toMatchObject({ output: null, scratchpad: null });
    expect(second?.output).toMatch(/^step \d+\n<<<NSMAG:V3:LOOP:[^\n]*>>>$/);
    expect(second?.scratchpad).toMatch(/^note \d+$/);
    expect(await store.read('s')).toMatchObject({ status: 'done', output: null, scratchpad: null, nextTurn: 3 });
  });

  it('the USERDATA of every turn is the host’s, whatever the agent echoes (AMB-27b)', async () => {
    const { loop } = controller();
    const agent: Agent = {
      reply: async ({ turn }) => reply(turn === 1 ? 'program continue' : 'program done', '{"subject":"evil","fields":{}}'),
    };
    const { turns } = await loop.runLoop(run(agent));
    for (const { inputs } of turns)
      expect(inputs.envelope).toContain('<<<NSENV:V3:USERDATA>>>\n{"fields":{},"subject":"test"}\n');
  });

  it('AL3-2-5: the agent is shown an envelope that parses, and asked once per turn', async () => {
    const { loop } = controller();
    const agent = programAgent('continue', 'done');
    await loop.runLoop(run(agent));
    expect(agent.prompts).toHaveLength(2);
    for (const prompt of agent.prompts) expect(parseEnvelope(new TextEncoder().encode(prompt)).actions).toMatch(/^command\n/);
  });

  it('A3-3.3-4 A3-3.3-6 A3-3.3-9: what was whispered and emitted comes back in order; only emits reach the user', async () => {
    const { loop } = controller();
    const agent = programAgent('both', 'both');
    const emitted: string[] = [];
    const onEvent = (event: LoopEvent): void => void (event.type === 'output' && emitted.push(...event.out.emits));
    const result = await loop.runLoop(run(agent, { maxTurns: 2, onEvent }));
    const prompt = parseEnvelope(new TextEncoder().encode(agent.prompts[1]));
    expect(prompt.scratchpad).toBe('private a\nprivate b');
    expect(prompt.output).toMatch(/^public a\npublic b\n<<<NSMAG/);
    expect(result.output).toBe('public a\npublic b');
    const token = expect.stringMatching(/^<<<NSMAG/);
    expect(emitted).toEqual(['public a', 'public b', token, 'public a', 'public b', token]);
  });

  it('A3-1.1-4: nothing that a program says changes the USERDATA of the next envelope', async () => {
    const { loop } = controller();
    const agent = programAgent('inject', 'done');
    await loop.runLoop(run(agent));
    const [first, second] = agent.prompts.map((prompt) => parseEnvelope(new TextEncoder().encode(prompt)));
    expect(second?.output).toContain('{"subject":"evil","fields":{}}');
    expect(second?.userdata).toBe(first?.userdata);
  });

  it('A3-2-1: an agent is given a text and a signal, and nothing that could execute', async () => {
    const { loop } = controller();
    const given: unknown[] = [];
    const agent: Agent = {
      async reply(request) {
        given.push(
          ...Object.entries(request).map(([name, value]) => `${name}: ${value instanceof AbortSignal ? 'signal' : typeof value}`),
        );
        return reply('program done');
      },
    };
    await loop.runLoop(run(agent));
    expect(given).toEqual([
      'sid: string',
      'turn: number',
      'attempt: number',
      'system: string',
      'prompt: string',
      'maxTokens: object',
      // Takes pieces of the reply for listeners; it executes nothing and returns nothing.
      'onDelta: function',
      'signal: signal',
    ]);
  });

  it('A3-5.1-3: the session changes only after its token was verified', async () => {
    const order: string[] = [];
    const clock = new TestClock();
    const keyring = newKeyring('test', clock);
    const lookup = keyring.lookup.bind(keyring);
    keyring.lookup = (kid) => {
      order.push('verified');
      return lookup(kid);
    };
    const store = new MemoryStore();
    const commit = store.commit.bind(store);
    store.commit = (turn) => {
      order.push(`committed ${turn.next.status}`);
      return commit(turn);
    };
    const { loop } = controller({ clock, keyring, store });
    await loop.runLoop(run(programAgent('done')));
    expect(order).toEqual(['verified', 'committed done']);
  });

  it('A3-8-5: the record is in the store before the next turn starts', async () => {
    const { loop, store } = controller();
    const kept: number[] = [];
    const agent: Agent = {
      async reply({ turn }) {
        kept.push((await store.turns('s')).length);
        return reply(`program ${turn < 3 ? 'continue' : 'done'}`);
      },
    };
    await loop.runLoop(run(agent));
    expect(kept).toEqual([0, 1, 2]);
    expect((await store.turns('s')).map(({ decision }) => decision)).toEqual(['CONTINUE', 'CONTINUE', 'DONE']);
  });

  it('AL3-11-6: a turn that cannot be kept is no turn: the session stops, and nobody is asked again', async () => {
    const store = new MemoryStore();
    store.commit = () => Promise.reject(new Error('disk full'));
    const { loop, log } = controller({ store });
    const agent = programAgent('continue');
    await expect(loop.runLoop(run(agent))).rejects.toThrow('disk full');
    expect(agent.prompts).toHaveLength(1);
    expect(log.entries).toEqual([]);
    expect(loop.metrics.snapshot().decisions_total).toEqual({});
  });

  it.each(['done', 'abort', 'silent'])('AL3-11-7 A3-8-6: after a turn that is %s nobody is asked again', async (program) => {
    const { loop } = controller();
    const agent = programAgent(program);
    const { turns } = await loop.runLoop(run(agent));
    expect(turns).toHaveLength(1);
    expect(agent.prompts).toHaveLength(1);
  });

  it('AL3-0-1: lifecycle, verification, selection, guard and observability are its own, over the parts that a host gives', async () => {
    const clock = new TestClock(1_800_000_000);
    const [ids, metrics, store, log] = [seededIds('given'), new Metrics(), new MemoryStore({ clock }), new MemoryLog()];
    const views: string[] = [];
    const states: string[] = [];
    const checks = [({ decision }: GuardView) => views.push(decision) > 9];
    const { loop, executor } = controller({
      clock,
      ids,
      metrics,
      store,
      log,
      checks,
      keyring: newKeyring('given', clock),
      noProgressN: 2,
    });
    const onEvent = (event: LoopEvent): void => void (event.type === 'state' && states.push(event.to));
    const result = await loop.runLoop(run(programAgent('continue', 'same', 'sameDone'), { onEvent }));
    expect(result).toMatchObject({ decision: 'HALT', reason: 'ERR_NO_PROGRESS' });
    expect(executor.spy.forks.map(({ context }) => nonceOf(context))).toEqual([1, 2, 3].map((turn) => ids.nonce('s', turn)));
    const path = ['EXECUTING', 'VERIFYING', 'DECIDED'];
    expect(states).toEqual([...path, 'EMIT_NEXT', ...path, 'EMIT_NEXT', ...path, 'FINAL']);
    expect(views).toEqual(['CONTINUE', 'CONTINUE']);
    const known = { ts: '2027-01-15T08:00:00.000Z', kid: 'given-primary' };
    expect(log.entries).toMatchObject([
      { ...known, decision: 'CONTINUE', jti: ids.jti('s', 1, 0) },
      { ...known, decision: 'CONTINUE', jti: ids.jti('s', 2, 0) },
      { ...known, decision: 'HALT', jti: ids.jti('s', 3, 0), overridden_decision: 'DONE' },
    ]);
    expect(await store.read('s')).toMatchObject({ status: 'halted', reason: 'ERR_NO_PROGRESS', nextTurn: 4 });
    expect(metrics.snapshot()).toMatchObject({ decisions_total: { CONTINUE: 2, HALT: 1 }, no_progress_total: 1 });
  });

  it('AL3-0-1: its events tell the whole story, and end each turn with its decision', async () => {
    const { loop } = controller();
    const events: LoopEvent[] = [];
    await loop.runLoop(run(programAgent('continue', 'done'), { onEvent: (event: LoopEvent) => events.push(event) }));
    const types = ['asked', 'replied', 'state', 'output', 'state', 'state', 'state', 'decided'];
    expect(events.map(({ turn, type }) => `${turn} ${type}`)).toEqual([
      ...types.map((type) => `1 ${type}`),
      ...types.map((type) => `2 ${type}`),
    ]);
  });

  it('AL3-3-2: sessions run beside each other, turns of one session never (AL3-3-1, A3-2-2)', async () => {
    const { loop, executor } = controller();
    await loop.open(USERDATA, 'a');
    await loop.open(USERDATA, 'b');
    const agent: Agent = {
      async reply() {
        await new Promise((done) => setTimeout(done, 2));
        return reply('program continue');
      },
    };
    const records = await Promise.all([loop.step('a', { agent }), loop.step('a', { agent }), loop.step('b', { agent })]);
    expect(records.map(({ sid, turn }) => `${sid}${turn}`)).toEqual(['a1', 'a2', 'b1']);
    expect(executor.spy.mostRunning).toBeLessThanOrEqual(2);
  });

  it('A3-2-2: of turns that are asked for at once for one session, the executor never sees two at a time', async () => {
    const { loop, executor } = controller();
    await loop.open(USERDATA, 'a');
    const agent = programAgent('continue');
    const records = await Promise.all([1, 2, 3].map(() => loop.step('a', { agent })));
    expect(records.map(({ turn }) => turn)).toEqual([1, 2, 3]);
    expect(executor.spy.mostRunning).toBe(1);
  });

  it('AL3-3-1: the lock is free again after a turn that throws', async () => {
    const { loop } = controller();
    await loop.open(USERDATA, 'a');
    await expect(loop.step('a', { agent: programAgent('unknown') })).rejects.toThrow('no program');
    expect((await loop.step('a', { agent: programAgent('done') })).turn).toBe(1);
  });

  it.each([
    ['the time is over', () => ({ wallMs: 20 })],
    ['the caller gives up', () => ({ signal: AbortSignal.timeout(20) })],
  ])('AL3-3-1: the lock is free again after a turn in which %s', async (_, options) => {
    const { loop } = controller();
    const agent: Agent = { reply: () => new Promise(() => {}) };
    expect(await loop.runLoop(run(agent, options()))).toMatchObject({ decision: 'HALT', turns: [] });
    await expect(loop.step('s', { agent })).rejects.toThrow(SessionStateError);
  });

  it('a session is not stepped after its end, and no id is used twice', async () => {
    const { loop } = controller();
    await loop.runLoop(run(programAgent('done')));
    await expect(loop.step('s', { agent: programAgent('done') })).rejects.toThrow(SessionStateError);
    await expect(loop.step('t', { agent: programAgent('done') })).rejects.toThrow('session "t" is unknown');
    await expect(loop.runLoop(run(programAgent('done')))).rejects.toThrow(SessionExistsError);
    await expect(loop.open(USERDATA, 'with blank')).rejects.toThrow(ConfigError);
  });

  it.each([
    ['asked', 0],
    ['replied', 0],
    ['state', 1],
    ['output', 1],
    ['decided', 1],
  ])('what a listener throws at %s stops the driving, after the turn under way was kept', async (type, kept) => {
    const { loop, store } = controller();
    const onEvent = (event: LoopEvent) => {
      if (event.type === type) throw new Error('cannot watch');
    };
    const agent = programAgent('continue');
    await expect(loop.runLoop(run(agent, { onEvent }))).rejects.toThrow('cannot watch');
    expect(await store.turns('s')).toHaveLength(kept);
    expect(await store.read('s')).toMatchObject({ status: 'open', nextTurn: kept + 1 });
    expect(agent.prompts.length).toBeLessThanOrEqual(1);
  });
});

describe('ceilings and cancellation', () => {
  it('maxTurns: a session that only goes on ends with ERR_MAX_TURNS, and a DONE on the last turn is DONE', async () => {
    const { loop, log } = controller();
    const endless = await loop.runLoop(run(programAgent('continue'), { maxTurns: 3 }));
    expect(endless).toMatchObject({ decision: 'HALT', reason: 'ERR_MAX_TURNS', error: { code: 'ERR_MAX_TURNS' } });
    expect(endless.turns).toHaveLength(3);
    // the three turns, and the end after them
    expect(log.entries).toHaveLength(4);
    expect(await loop.runLoop(run(programAgent('continue', 'continue', 'done'), { maxTurns: 3, sid: 't' }))).toMatchObject({
      decision: 'DONE',
    });
  });

  it('wallMs: the session’s time bounds agent and program; each turn gets what is left', async () => {
    const { loop, clock, executor } = controller();
    const agent: Agent = {
      async reply() {
        clock.elapsed += 400;
        return reply('program continue');
      },
    };
    const result = await loop.runLoop(run(agent, { wallMs: 1000 }));
    expect(result).toMatchObject({ decision: 'HALT', reason: 'ERR_TIMEOUT' });
    expect(executor.spy.forks.map(({ limits }) => limits.wallMs)).toEqual([600, 200, 1]);
  });

  it('an agent that never answers is given up when the time is used up, and told so', async () => {
    const { loop } = controller();
    let told = false;
    const agent: Agent = {
      reply: ({ signal }) =>
        new Promise(() => {
          signal.addEventListener('abort', () => {
            told = true;
          });
        }),
    };
    const result = await loop.runLoop(run(agent, { wallMs: 20 }));
    expect(result).toMatchObject({ decision: 'HALT', reason: 'ERR_TIMEOUT', turns: [] });
    expect(told).toBe(true);
  });

  it('cancel ends the session with ERR_CANCELLED, also while the agent thinks', async () => {
    const { loop, store } = controller();
    const agent: Agent = {
      reply: ({ sid }) => {
        setTimeout(() => void loop.cancel(sid), 1);
        return new Promise(() => {});
      },
    };
    expect(await loop.runLoop(run(agent))).toMatchObject({ decision: 'HALT', reason: 'ERR_CANCELLED', turns: [] });
    expect(await store.read('s')).toMatchObject({ status: 'halted', reason: 'ERR_CANCELLED' });
    expect(await loop.cancel('s')).toBe(false);
  });

  it('an aborted signal ends the session before the agent is asked', async () => {
    const { loop } = controller();
    const agent = programAgent('done');
    expect(await loop.runLoop(run(agent, { signal: AbortSignal.abort() }))).toMatchObject({ reason: 'ERR_CANCELLED' });
    expect(agent.prompts).toEqual([]);
  });

  it('an agent that fails ends the session with ERR_AGENT; its turns stand', async () => {
    const { loop } = controller();
    const agent: Agent = {
      async reply({ turn }) {
        if (turn === 2) throw new Error('connection lost');
        return reply('program continue');
      },
    };
    const result = await loop.runLoop(run(agent));
    expect(result).toMatchObject({
      decision: 'HALT',
      reason: 'ERR_AGENT',
      error: { code: 'ERR_AGENT', message: 'turn 2 has no reply: connection lost' },
    });
    expect(result.turns).toHaveLength(1);
  });

  it.each([{ maxTurns: 0 }, { maxTurns: 1.5 }, { wallMs: 0 }, { wallMs: Number.NaN }, { limits: { fuel: -1 } }])(
    'refuses a ceiling that cannot be enforced: %j',
    async (options) => {
      const { loop } = controller();
      await expect(loop.runLoop(run(programAgent('done'), options))).rejects.toThrow(ConfigError);
    },
  );
});
