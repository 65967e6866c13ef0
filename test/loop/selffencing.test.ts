import { describe, expect, it } from 'vitest';
import { LoopController } from '../../src/loop/controller.ts';
import { SessionLeasedError } from '../../src/loop/sessions/errors.ts';
import { Leases } from '../../src/loop/sessions/lease.ts';
import { MemoryStore } from '../../src/loop/sessions/sqlite.ts';
import { createRuntime } from '../../src/runtime/index.ts';
import { defineTool } from '../../src/tools/index.ts';
import { newKeyring, programAgent, reply, TestClock, USERDATA } from './fake.ts';
import { controller, run } from './host.ts';

/** A host whose clock tells another time than that of the store. */
class SkewedClock extends TestClock {
  readonly #skewMs: number;
  constructor(skewMs: number) {
    super();
    this.#skewMs = skewMs;
  }
  override now(): number {
    return super.now() + this.#skewMs;
  }
}

describe('the store alone measures leases (issue 20)', () => {
  it.each([-20_000, 20_000])('a host whose clock differs by %i ms takes no session that another one drives', async (skewMs) => {
    const store = new MemoryStore();
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    const owner = controller({ store, owner: 'a' });
    const driven = owner.loop.runLoop(
      run({
        reply: async () => {
          asked.resolve();
          await answer.promise;
          return reply('program done');
        },
      }),
    );
    await asked.promise;
    const skewed = controller({ store, owner: 'b', clock: new SkewedClock(skewMs) });
    await expect(skewed.loop.resume('s', { agent: programAgent('done') })).rejects.toThrow(SessionLeasedError);
    expect(await skewed.loop.recover()).toEqual([]);
    answer.resolve();
    expect(await driven).toMatchObject({ decision: 'DONE' });
  });
});

describe('a host that cannot renew its lease (issue 20)', () => {
  it('gives the session up when the lease may have ended, and not before', async () => {
    class Unreachable extends MemoryStore {
      override renew(): Promise<never> {
        return Promise.reject(new Error('the store cannot be reached'));
      }
    }
    const clock = new TestClock();
    const store = new Unreachable({ clock });
    await controller({ store, clock }).loop.open(USERDATA, 's');
    const leases = new Leases({ store, clock, owner: 'a', leaseMs: 900 });
    const { fence } = await store.claim('s', leases.lease);
    let lost = 0;
    const holding = { sid: 's', fence, until: leases.end() };
    leases.hold(holding, () => {
      lost += 1;
    });
    clock.elapsed += 899;
    await leases.renew();
    expect([lost, leases.lasts(holding)]).toEqual([0, true]);
    clock.elapsed += 1;
    await leases.renew();
    expect([lost, leases.lasts(holding)]).toEqual([1, false]);
    leases.drop('s');
  });

  it('has lost the lease for good, although the store would still renew it', async () => {
    const clock = new TestClock();
    const store = new MemoryStore({ clock });
    await controller({ store, clock }).loop.open(USERDATA, 's');
    const leases = new Leases({ store, clock, owner: 'a', leaseMs: 900 });
    const { fence } = await store.claim('s', leases.lease);
    const holding = { sid: 's', fence, until: leases.end() };
    const ended: string[] = [];
    leases.hold(holding, () => ended.push('ended'));
    // This process was stopped, and nobody has claimed the session meanwhile.
    clock.elapsed += 900;
    await leases.renew();
    await leases.renew();
    expect([ended.length > 0, leases.lasts(holding)]).toEqual([true, false]);
    leases.drop('s');
  });

  it('tells the turn that is under way now, once, when an earlier one asked for the renewal', async () => {
    const clock = new TestClock();
    const answers: PromiseWithResolvers<void>[] = [];
    class Slow extends MemoryStore {
      override async renew(...held: Parameters<MemoryStore['renew']>): ReturnType<MemoryStore['renew']> {
        const renewals = await super.renew(...held);
        const answer = Promise.withResolvers<void>();
        answers.push(answer);
        await answer.promise;
        return renewals;
      }
    }
    const store = new Slow({ clock });
    await controller({ store, clock }).loop.open(USERDATA, 's');
    const leases = new Leases({ store, clock, owner: 'a', leaseMs: 900 });
    const { fence } = await store.claim('s', leases.lease);
    const holding = { sid: 's', fence, until: leases.end() };
    const told: string[] = [];
    leases.hold(holding, () => told.push('first'));
    await store.cancel('s');
    const early = leases.renew();
    clock.elapsed += 300;
    const late = leases.renew();
    await expect.poll(() => answers.length).toBe(2);
    leases.drop('s');
    leases.hold(holding, () => told.push('second'));
    answers[1]?.resolve();
    await late;
    expect([told, holding.until]).toEqual([['second'], clock.monotonic() + 900]);
    // An earlier renewal that is answered later takes nothing back.
    answers[0]?.resolve();
    await early;
    expect(holding.until).toBe(clock.monotonic() + 900);
    clock.elapsed += 900;
    void leases.renew();
    void leases.renew();
    expect([leases.lost, told]).toEqual([1, ['second', 'second', 'second']]);
    leases.drop('s');
  });

  it('has lost the lease for good once a call has met its end, although a renewal under way succeeds', async () => {
    const clock = new TestClock();
    const answer = Promise.withResolvers<void>();
    class Slow extends MemoryStore {
      override async renew(...held: Parameters<MemoryStore['renew']>): ReturnType<MemoryStore['renew']> {
        const renewals = await super.renew(...held);
        await answer.promise;
        return renewals;
      }
    }
    const store = new Slow({ clock });
    await controller({ store, clock }).loop.open(USERDATA, 's');
    const leases = new Leases({ store, clock, owner: 'a', leaseMs: 900 });
    const { fence } = await store.claim('s', leases.lease);
    const holding = { sid: 's', fence, until: leases.end() };
    leases.hold(holding, () => {});
    clock.elapsed += 600;
    const renewed = leases.renew();
    clock.elapsed += 300;
    expect(leases.lasts(holding)).toBe(false);
    answer.resolve();
    await renewed;
    expect(leases.lasts(holding)).toBe(false);
    leases.drop('s');
  });

  it('begins no call, even before it notices that its time has passed', async () => {
    const called: number[] = [];
    const clock = new TestClock();
    const effect = defineTool({
      name: 'tool.t.Effect',
      description: 'has an effect',
      effects: 'none',
      args: [{ name: 'n', type: 'int' }],
      run: ({ n }) => {
        called.push(n);
        // The process is stopped for longer than its lease lasts.
        clock.elapsed += 60_000;
        return n;
      },
    });
    await using runtime = await createRuntime({ tools: [effect], policy: { allow: ['tool.t.*'] } });
    const loop = new LoopController({ runtime, clock, keyring: newKeyring('test', clock) });
    const agent = { reply: async () => reply('command\nset a = tool.t.Effect(1)\nset b = tool.t.Effect(2)\nendcommand') };
    await expect(loop.runLoop({ ...run(agent), maxTurns: 1 })).rejects.toThrow(SessionLeasedError);
    expect(called).toEqual([1]);
    // The turn is not decided: whoever has the lease next takes it again.
    expect(await loop.list()).toMatchObject([{ status: 'open', turns: 0 }]);
  });

  it('begins no call, although it has kept that the call begins (simulate --seed 123127)', async () => {
    const clock = new TestClock();
    class Slow extends MemoryStore {
      override async keep(...kept: Parameters<MemoryStore['keep']>): Promise<void> {
        await super.keep(...kept);
        // The process is stopped before it reads the answer of the store.
        clock.elapsed += 60_000;
      }
    }
    let called = 0;
    const pay = defineTool({ name: 'tool.t.Pay', description: 'pays', effects: 'write', run: () => ++called });
    await using runtime = await createRuntime({ tools: [pay], policy: { allow: ['tool.t.*'] } });
    const store = new Slow({ clock });
    const loop = new LoopController({ runtime, clock, store, durable: 'call', keyring: newKeyring('test', clock) });
    const agent = { reply: async () => reply('command\nset a = tool.t.Pay()\nendcommand') };
    await expect(loop.runLoop({ ...run(agent), maxTurns: 1 })).rejects.toThrow(SessionLeasedError);
    expect(called).toBe(0);
  });
});
