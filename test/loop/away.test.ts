import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/loop/clock.ts';
import { type Agent, AgentError, commandAgent, Host, LoopController, MemoryStore, programReply } from '../../src/loop/index.ts';
import { SessionCoordinator } from '../../src/loop/sessions/coordinator.ts';
import { sessionLine } from '../../src/report/index.ts';
import { createRuntime } from '../../src/runtime/index.ts';
import { defineTool } from '../../src/tools/index.ts';
import { fakeExecutor, newKeyring, reply, USERDATA } from './fake.ts';

const keyring = newKeyring('away', systemClock);
let ran = 0;
const executor = fakeExecutor({
  done: async ({ emit, magic }) => emit(await magic('done')),
  go: async ({ emit, magic }) => {
    emit(`call ${++ran}`);
    emit(await magic('continue'));
  },
});
const AWAY = 'turn 1 has no reply: the server answered 503';

/** Is away for a number of requests, and replies to all others. */
function agentAway(times: number, text = reply('program done'), tokens = 0): Agent & { asked: number } {
  return {
    asked: 0,
    async reply({ turn }) {
      this.asked += 1;
      if (this.asked <= times) throw new AgentError(turn, AWAY, 'ERR_AGENT', { retryable: true, tokens });
      return text;
    },
  };
}

/** A controller, and its coordinator with leases of this length. */
function loopOn(store: MemoryStore, owner: string, leaseMs = 5000) {
  const coordinator = new SessionCoordinator({ store, log: null, clock: systemClock, replayTtl: 900, owner, leaseMs });
  return { coordinator, controller: new LoopController({ executor, keyring, coordinator }) };
}

describe('an agent that is away', () => {
  it('leaves the session open where it is told to, and says why; a host keeps the lease, so that nobody asks again at once', async () => {
    const store = new MemoryStore();
    const { controller } = loopOn(store, 'a');
    await controller.open(USERDATA, 's');
    const agent = agentAway(3, undefined, 7);
    expect(await controller.resume('s', { agent, onUnanswered: 'leave', leave: () => false })).toMatchObject({
      decision: 'CONTINUE',
      reason: null,
      error: { code: 'ERR_AGENT', message: AWAY },
    });
    const left = await store.summary('s');
    expect(left).toMatchObject({
      status: 'open',
      reason: null,
      message: AWAY,
      turns: 0,
      lease: { owner: 'a' },
      spent: { tokens: 7 },
    });
    expect(left && sessionLine(left)).toContain(AWAY);
    await expect(loopOn(store, 'b').controller.resume('s', { agent })).rejects.toMatchObject({ code: 'ERR_SESSION_LEASED' });
    await expect(controller.consult('s', { agent, onUnanswered: 'leave' })).rejects.toMatchObject({ code: 'ERR_AGENT' });
    expect(await controller.resume('s', { agent, onUnanswered: 'leave' })).toMatchObject({ decision: 'CONTINUE' });
    expect(await loopOn(store, 'b').controller.resume('s', { agent })).toMatchObject({ decision: 'DONE' });
    expect(await store.summary('s')).toMatchObject({ status: 'done', message: null, spent: { tokens: 21 } });
  });

  it('ends the session elsewhere, and so does an agent that gives no reply for a reason of its own', async () => {
    const { controller } = loopOn(new MemoryStore(), 'a');
    const ended = { decision: 'HALT', reason: 'ERR_AGENT' };
    expect(await controller.runLoop({ userdata: USERDATA, agent: agentAway(1) })).toMatchObject(ended);
    const agent: Agent = { reply: () => Promise.reject(new Error('a slip of its author')) };
    expect(await controller.runLoop({ userdata: USERDATA, agent, onUnanswered: 'leave' })).toMatchObject(ended);
  });

  it('is asked again by a host until it replies', async () => {
    const store = new MemoryStore();
    const { controller, coordinator } = loopOn(store, 'a', 100);
    await controller.open(USERDATA, 's');
    const agent = agentAway(3);
    const errors: unknown[] = [];
    const profiles = { '': { controller, options: () => ({ agent, onUnanswered: undefined }) } };
    const host = new Host({ coordinator, profiles, pollMs: 20, onError: (error, sid) => errors.push([sid, String(error)]) });
    host.start();
    await expect.poll(async () => (await store.summary('s'))?.status, { timeout: 20_000 }).toBe('done');
    await host.drain(5000);
    expect(agent.asked).toBe(4);
    // Metrics of failing hosts are not about models.
    expect(host.state.errors).toBe(0);
    expect(errors).toEqual(Array(3).fill(['s', `Error: ${AWAY}`]));
  });

  it('costs the sessions of other agents no place: after three requests without a reply the host leaves the profile alone', async () => {
    const store = new MemoryStore();
    const { controller, coordinator } = loopOn(store, 'a', 100);
    const [dead, live] = [agentAway(Number.POSITIVE_INFINITY), agentAway(0)];
    for (let n = 0; n < 20; n++) await controller.open(USERDATA, `dead-${n}`, { profile: 'dead' });
    const profiles = {
      dead: { controller, options: () => ({ agent: dead }) },
      live: { controller, options: () => ({ agent: live }) },
    };
    const host = new Host({ coordinator, profiles, pollMs: 10, concurrency: 1 });
    host.start();
    await expect.poll(() => host.state.away, { timeout: 20_000 }).toEqual(['dead']);
    expect(dead.asked).toBe(3);
    for (let n = 0; n < 20; n++) await controller.open(USERDATA, `live-${n}`, { profile: 'live' });
    const done = async () => (await store.list()).filter(({ status }) => status === 'done').length;
    await expect.poll(done, { timeout: 20_000 }).toBe(20);
    expect(dead.asked).toBeLessThan(8);
    await host.drain(5000);
    expect((await store.list()).filter(({ status }) => status === 'open')).toHaveLength(20);
  });

  it('is back when it replies for one turn: a host that it leaves at each turn anew never leaves its profile alone', async () => {
    const store = new MemoryStore();
    const { controller, coordinator } = loopOn(store, 'a', 100);
    await controller.open(USERDATA, 's');
    let asked = 0;
    const agent: Agent = {
      async reply({ turn }) {
        asked += 1;
        if (asked % 2 === 1) throw new AgentError(turn, AWAY, 'ERR_AGENT', { retryable: true });
        return reply(turn < 6 ? 'program go' : 'program done');
      },
    };
    const away: unknown[] = [];
    const profiles = { '': { controller, options: () => ({ agent }) } };
    const host = new Host({ coordinator, profiles, pollMs: 10, onError: () => away.push(...host.state.away) });
    host.start();
    await expect.poll(async () => (await store.summary('s'))?.status, { timeout: 20_000 }).toBe('done');
    await host.drain(5000);
    expect([asked, away]).toEqual([12, []]);
  });

  it('does not keep a session from being cancelled while the host leaves its profile alone', async () => {
    const store = new MemoryStore();
    const { controller, coordinator } = loopOn(store, 'a', 200);
    const agent = agentAway(Number.POSITIVE_INFINITY);
    for (const sid of ['s', 't', 'u']) await controller.open(USERDATA, sid);
    const other = loopOn(store, 'b').coordinator;
    // The session is asked to end while the host has it and drives it no more.
    const onError = (_error: unknown, sid: string | null) => sid !== null && other.cancel(sid);
    const profiles = { '': { controller, options: () => ({ agent }) } };
    const host = new Host({ coordinator, profiles, pollMs: 20, concurrency: 1, onError });
    host.start();
    const halted = async () => (await store.list()).filter(({ reason }) => reason === 'ERR_CANCELLED').length;
    await expect.poll(halted, { timeout: 20_000, interval: 10 }).toBe(3);
    expect(host.state.away).toEqual(['']);
    await host.drain(5000);
    expect(agent.asked).toBe(3);
  });

  it('finds the attempts of the turn as they were: no effect happens twice', async () => {
    let sent = 0;
    const send = defineTool({ name: 'tool.mail.Send', args: [], run: () => void sent++ });
    await using runtime = await createRuntime({ tools: [send], policy: { allow: ['tool.mail.*'] } });
    const store = new MemoryStore();
    const controller = new LoopController({ runtime, store, keyring, durable: 'call' });
    const calls = 'command\n  call tool.mail.Send()\n';
    const replies = [
      `${calls}  fail "no"\nendcommand`,
      null,
      `${calls}  emit tool.aeiou.magic("LOOP", {"action": "done"})\nendcommand`,
    ];
    const agent: Agent = {
      async reply({ turn }) {
        const program = replies.shift() ?? null;
        if (program === null) throw new AgentError(turn, AWAY, 'ERR_AGENT', { retryable: true });
        return programReply(program);
      },
    };
    await controller.open(USERDATA, 's');
    expect((await controller.resume('s', { agent, onUnanswered: 'leave' })).error?.message).toBe(AWAY);
    expect(await store.summary('s')).toMatchObject({ started: 1, message: AWAY });
    const { decision, turns } = await controller.resume('s', { agent });
    expect([decision, sent, turns[0]?.attempts?.length, turns[0]?.agent?.asks]).toEqual(['DONE', 1, 1, 2]);
  });
});

describe('a failure of an agent lies outside of the session', () => {
  const request = { sid: 's', turn: 1, attempt: 1, system: '', prompt: '', maxTokens: null, signal: AbortSignal.timeout(20_000) };
  it.each([
    ['a command that is not there', ['./there-is-no-such-program'], true],
    ['a command that exits with 75', [process.execPath, '-e', 'process.exit(75)'], true],
    ['a command that exits with 1', [process.execPath, '-e', 'process.exit(1)'], false],
  ])('%s', async (_, argv, retryable) => {
    await expect(commandAgent({ argv }).reply(request)).rejects.toMatchObject({ retryable });
  });

  it('an agent of the application whose connection fails', async () => {
    const { controller } = loopOn(new MemoryStore(), 'a');
    const agent: Agent = { reply: () => Promise.reject(new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } })) };
    await controller.open(USERDATA, 's');
    await expect(controller.step('s', { agent })).rejects.toMatchObject({ retryable: true });
  });
});
