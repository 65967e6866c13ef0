import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/loop/clock.ts';
import { LoopController } from '../../src/loop/controller.ts';
import { MemoryLog } from '../../src/loop/log/log.ts';
import { SessionCoordinator } from '../../src/loop/sessions/coordinator.ts';
import { MemoryStore } from '../../src/loop/sessions/sqlite.ts';
import { SessionHandlers } from '../../src/restate/handlers.ts';
import { restateSessions } from '../../src/restate/index.ts';
import { statusOf } from '../../src/restate/sessions.ts';
import { createRuntime, type Runtime } from '../../src/runtime/index.ts';
import { defineTool } from '../../src/tools/index.ts';
import { ROOT } from '../architecture/source.ts';
import { newKeyring, reply, TestClock } from '../loop/fake.ts';
import { Desk, expectRepaired, REASONS } from '../loop/repair/reasons.ts';
import { CONTINUE, command, DONE } from '../loop/sessions.ts';
import { Died, ERRORS, Invocation } from './fake.ts';

let runtime: Runtime;
let effects = 0;
beforeAll(async () => {
  const count = (): void => {
    effects += 1;
  };
  const look = defineTool({ name: 'tool.t.Do', effects: 'write', run: count });
  const approve = defineTool({
    name: 'tool.t.Approve',
    returns: 'bool',
    run: (_, runtime) => runtime.pending({ reason: 'secret?' }),
  });
  runtime = await createRuntime({ concurrency: 1, tools: [look, approve], policy: { allow: ['tool.*'] } });
});
afterAll(() => runtime.close());

/** Handlers over a new store, with the agent of a session of two turns. */
function handlers(last: readonly string[] = [DONE]) {
  effects = 0;
  let asked = 0;
  const clock = new TestClock();
  const store = new MemoryStore({ clock });
  const log = new MemoryLog();
  const coordinator = new SessionCoordinator({ store, log, clock, replayTtl: 900 });
  const controller = new LoopController({ runtime, coordinator, clock, keyring: newKeyring('test', clock) });
  const agent = {
    reply: async ({ turn }: { readonly turn: number }) => {
      asked += 1;
      return reply(turn === 1 ? command('emit "secret"', 'call tool.t.Do()', CONTINUE) : command(...last));
    },
  };
  const parts = { name: 'sessions', coordinator, controller, options: () => ({ agent }) };
  return { own: new SessionHandlers(parts, ERRORS), store, log, controller, coordinator, agent, asked: () => asked };
}

const input = { userdata: { subject: 'secret', fields: {} } };

/** Calls `turn` as Restate does: again after each death, and for every turn that was sent. */
async function drive(own: SessionHandlers, given: number | null, state: Map<string, unknown>, diesAfter: number) {
  const invocation = new Invocation('s', state);
  invocation.diesAfter = diesAfter;
  const calls = async (): Promise<string> => {
    try {
      return await own.turn(invocation.attempt(), given);
    } catch (error) {
      if (!(error instanceof Died)) throw error;
      invocation.diesAfter = Number.POSITIVE_INFINITY;
      return calls();
    }
  };
  return { at: await calls(), invocation };
}

describe('sessions on Restate (issue 20)', () => {
  it('need the SDK, and options that can be used', async () => {
    const { coordinator, controller, agent } = handlers();
    const options = { coordinator, controller, options: () => ({ agent }) };
    // A process of its own: the test runner has its own way to find packages.
    const code = `import { restateSessions } from ${JSON.stringify(join(ROOT, 'src/restate/index.ts'))};
      await restateSessions({ coordinator: {}, controller: {}, options() {} }).catch((error) => console.log(String(error)));`;
    const { stdout } = spawnSync(process.execPath, ['--no-warnings', '--input-type=module', '-e', code], { encoding: 'utf8' });
    expect(stdout).toContain('sessions on Restate need its SDK: npm install @restatedev/restate-sdk');
    await expect(restateSessions(Object.assign({ agnet: agent }, options))).rejects.toMatchObject({
      code: 'ERR_CONFIG',
      message: expect.stringContaining("unknown key 'agnet'"),
    });
  });

  it.each([0, 1, 2, 3])(
    'a process that dies after step %i of both turns consults once a turn and decides each once',
    async (step) => {
      const { own, store, log, asked } = handlers();
      const started = new Invocation('s');
      await own.start(started.attempt(), input);
      expect(started.sent).toEqual([1]);
      const state = new Map<string, unknown>();
      const first = await drive(own, 1, state, step);
      expect(first).toMatchObject({ at: 'open', invocation: { sent: [2] } });
      expect(await drive(own, 2, state, step)).toMatchObject({ at: 'ended', invocation: { sent: [] } });
      expect(state.size).toBe(0);
      expect(asked()).toBe(2);
      expect(effects).toBe(1);
      expect(await store.turns('s')).toMatchObject([{ turn: 1 }, { turn: 2, decision: 'DONE' }]);
      expect(log.entries).toHaveLength(2);
      expect(JSON.stringify([...first.invocation.steps, ...started.steps])).not.toContain('secret');
    },
  );

  it.each(REASONS)('issue 43: corrects a turn within one call: %s', async (_, text, told) => {
    const desk = new Desk(text);
    await using own = await createRuntime(desk.options);
    const store = new MemoryStore();
    const coordinator = new SessionCoordinator({ store, log: null, clock: systemClock, replayTtl: 900 });
    const controller = new LoopController({ runtime: own, coordinator });
    const sessions = new SessionHandlers(
      { name: 'sessions', coordinator, controller, options: () => ({ agent: desk.agent }) },
      ERRORS,
    );
    await sessions.start(new Invocation('s').attempt(), input);
    const { at, invocation } = await drive(sessions, 1, new Map(), 0);
    expect({ at, sent: invocation.sent }).toEqual({ at: 'ended', sent: [] });
    expectRepaired(await desk.driven(store, 's'), told);
  });

  it('a turn that was sent twice sends its successor once', async () => {
    const { own } = handlers();
    await own.start(new Invocation('s').attempt(), input);
    const state = new Map<string, unknown>();
    await drive(own, 1, state, Number.POSITIVE_INFINITY);
    const again = await drive(own, 1, state, Number.POSITIVE_INFINITY);
    expect(again).toMatchObject({ at: 'open', invocation: { sent: [], steps: [] } });
  });

  it('an answer that comes before anybody knows whom to wake is seen', async () => {
    const { own, store } = handlers(['emit tool.t.Approve()', DONE]);
    await own.start(new Invocation('s').attempt(), input);
    await drive(own, 1, new Map(), Number.POSITIVE_INFINITY);
    const waiting = new Invocation('s');
    const completing = new Invocation('s', waiting.state);
    waiting.beforeAwakeable = async () => {
      const { waits } = await own.status(completing.attempt());
      expect(waits).toMatchObject([{ call: '2.1', tool: 'tool.t.approve' }]);
      expect(JSON.stringify(waits)).not.toContain('secret');
      const answer = { call: '2.1', result: true };
      expect(await own.complete(new Invocation('s').attempt(), answer)).toEqual({ call: '2.1', before: false });
      expect(await own.complete(completing.attempt(), answer)).toEqual({ call: '2.1', before: true });
    };
    expect(await own.turn(waiting.attempt(), 2)).toBe('ended');
    expect(await store.list()).toMatchObject([{ status: 'done', turns: 2 }]);
  });

  it('an answer wakes the turn by the awakeable that it has set', async () => {
    const { own, controller } = handlers();
    await controller.open(input.userdata, 's', { profile: 'sessions' });
    const invocation = new Invocation('s', new Map([['awakeable', 'a-1']]));
    expect(await own.cancel(invocation.attempt())).toEqual({ cancelled: true });
    expect(invocation.resolved).toEqual(['a-1']);
    expect(await own.cancel(new Invocation('s').attempt())).toEqual({ cancelled: false });
  });

  it('a session of another profile is unknown here, whatever is asked: that profile has approvals and a policy of its own', async () => {
    const { own, controller, asked, store } = handlers();
    await controller.open(input.userdata, 's', { profile: 'approved' });
    const at = () => new Invocation('s').attempt();
    expect((await drive(own, null, new Map(), Number.POSITIVE_INFINITY)).at).toBe('unknown');
    expect(await own.cancel(at())).toEqual({ cancelled: false });
    for (const refused of [own.status(at()), own.complete(at(), { call: '1.1', result: 1 }), own.start(at(), input)])
      await expect(refused).rejects.toThrow(/unknown|no session|exists/);
    expect([asked(), effects, (await store.summary('s'))?.status]).toEqual([0, 0, 'open']);
  });

  it.each([
    ['start', { userdata: 1, tenant: 'x' }],
    ['start', undefined],
    ['complete', { call: '1.1' }],
    ['complete', { call: '1.1', result: 1, error: { message: 'x' } }],
    ['turn', 'first'],
    ['turn', 0],
  ] as const)('%s refuses %j', async (name, wrong) => {
    const { own } = handlers();
    await expect(own[name](new Invocation('s').attempt(), wrong)).rejects.toThrow(/^the input cannot be read: /);
  });

  it('tells mistakes to the caller, and tries again what may be gone next time', async () => {
    const { own, controller } = handlers();
    const fail = async (work: () => Promise<unknown>): Promise<unknown> => work().then(() => null, statusOf);
    expect(await fail(() => own.status(new Invocation('t').attempt()))).toBe(409);
    expect(await fail(() => own.start(new Invocation('s').attempt(), { userdata: 1 }))).toBe(400);
    await own.start(new Invocation('s').attempt(), input);
    await own.start(new Invocation('s').attempt(), input);
    expect(await fail(() => own.start(new Invocation('s').attempt(), { userdata: { subject: 'x', fields: {} } }))).toBe(409);
    expect(await fail(() => own.complete(new Invocation('s').attempt(), { call: '1.1', result: 1 }))).toBe(409);
    await controller.handOff();
    expect(await fail(() => own.turn(new Invocation('s').attempt(), 1))).toBe(null);
    expect(statusOf(new TypeError('a mistake in the code'))).toBe(null);
  });
});
