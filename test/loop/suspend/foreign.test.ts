import { describe, expect, it } from 'vitest';
import { humanApproval, LoopController, MemoryStore, planHash, runtimeExecutor } from '../../../src/loop/index.ts';
import { type FailedAttempt, recordedInput } from '../../../src/loop/record/record.ts';
import type { ClaimedSession, Lease, WaitingTurn } from '../../../src/loop/sessions/store.ts';
import { defineTool, type Gate } from '../../../src/tools/index.ts';
import { languageError } from '../../../src/wire/errorinfo.ts';
import type { JournalEntry } from '../../../src/wire/journal.ts';
import type { RunInput } from '../../../src/wire/protocol.ts';
import { newKeyring, reply, TestClock } from '../fake.ts';
import { agentOf, approval, openHost, SESSION } from './stage.ts';

const program = (amount: number): string => `command
  set ok = tool.human.Approve("pay")
  emit tool.bank.Pay(${amount})
  emit tool.aeiou.magic("LOOP", {"action": "done"})
endcommand`;
const HONEST = program(5);
const SWAPPED = program(999_999);
const BROKEN = HONEST.replace('endcommand', 'end');
const agent = agentOf(HONEST);
const LIBRARY = { name: 'lib', text: 'func Extra() means\nreturn 1\nendfunc', definitions: true };

/** A store whose rows somebody else has written to. */
class ForeignStore extends MemoryStore {
  change: (next: WaitingTurn) => WaitingTurn = (next) => next;

  override async claim(sid: string, lease: Lease): Promise<ClaimedSession> {
    const claimed = await super.claim(sid, lease);
    const { next } = claimed;
    // As a store in a file gives it back.
    const read: typeof next = JSON.parse(JSON.stringify(next));
    return read.kind === 'waiting' ? { ...claimed, next: this.change(read) } : claimed;
  }
}

const withRun =
  (change: (run: RunInput) => Partial<RunInput>) =>
  (next: WaitingTurn): WaitingTurn => {
    const { suspended } = next;
    const { earlier } = suspended;
    const changed = { ...suspended, earlier: { ...earlier, run: { ...earlier.run, ...change(earlier.run) } } };
    return { ...next, started: { ...next.started, suspended: changed }, suspended: changed };
  };

/** An attempt that never was, and that has paid already. */
function paidBefore({ started, suspended }: WaitingTurn): FailedAttempt {
  const { run } = suspended.earlier;
  const error = languageError(1, 'failed');
  const paid: JournalEntry = {
    ...{ kind: 'tool', seq: 1, name: 'tool.bank.pay', args: [5], outcome: { ok: true, value: 'paid' } },
    ...{ at: suspended.waiting.at, begin: 0, ms: 0 },
  };
  return {
    ...{ end: 'failed', reply: reply(HONEST), envelope: reply(HONEST), problems: [], error, limits: started.limits },
    ...{ clock: [], jtis: [], unreadable: null, denied: null, run: recordedInput(run), journal: [paid] },
    ...{ output: '', scratchpad: '', outputComplete: true, whispers: [] },
    usage: { fuel: 10, cpuMs: 0, wallMs: 0, peakMemoryBytes: 0, toolCalls: 1, outputBytes: 0, queueMs: 0 },
  };
}

/** A host whose tool says what was paid, and a session that waits there. */
async function waiting({
  store = new ForeignStore(),
  ...options
}: Parameters<typeof openHost>[1] & { store?: ForeignStore } = {}) {
  const paid: unknown[] = [];
  const pay = defineTool({
    name: 'tool.bank.Pay',
    args: [{ name: 'amount', type: 'int' }],
    run: ({ amount }) => {
      paid.push(amount);
      return 'paid';
    },
  });
  const host = await openHost([pay, approval()], { store, ...options });
  return { ...host, store, paid };
}

describe('finding 14: a store that others can write', () => {
  it.each<[string, (run: RunInput) => Partial<RunInput>]>([
    ['another program', () => ({ sources: [{ name: 'ACTIONS', text: SWAPPED }] })],
    // The parser finds this one.
    ['a second program', ({ sources }) => ({ sources: [{ name: 'x', text: SWAPPED }, ...sources] })],
    ['no program', () => ({ sources: [] })],
    ['other USERDATA', ({ globals }) => ({ globals: { ...globals, userdata: { subject: 'x', fields: {} } } })],
    ['a call', () => ({ call: { name: 'main', args: [] } })],
    ['an event', () => ({ events: [{ name: 'e', source: 's', payload: null }] })],
    ['variables', () => ({ variables: [] })],
  ])('a row with %s is refused, and nothing runs', async (_, change) => {
    await using host = await waiting();
    await host.loop.runLoop({ ...SESSION, agent });
    await host.loop.complete('s', '1.1', { result: true });
    host.store.change = withRun(change);
    const result = await host.loop.resume('s', { agent });
    expect(result).toMatchObject({
      decision: 'HALT',
      reason: expect.stringMatching(/^ERR_(POLICY|ACTIONS_INVALID)$/),
      error: { message: expect.stringMatching(/not what began/) },
    });
    expect(host.paid).toEqual([]);
  });

  it('ARGO-I2: goes on with the approval of its ACTIONS, and asks no gate again', async () => {
    await using host = await waiting();
    let asked = 0;
    const gate: Gate = async (work) => {
      asked += 1;
      return { state: 'executed', value: await work() };
    };
    const hash = planHash({ actions: HONEST });
    await host.loop.runLoop({ ...SESSION, agent, requiresApproval: true, approval: humanApproval(hash, gate) });
    await host.loop.complete('s', '1.1', { result: true });
    expect(await host.loop.resume('s', { agent, requiresApproval: true })).toMatchObject({ decision: 'DONE' });
    expect([asked, host.paid]).toEqual([1, [5]]);
  });

  it('ARGO-I2: an approval covers no other ACTIONS, whatever the row says', async () => {
    await using host = await waiting();
    const gate: Gate = async (work) => ({ state: 'executed', value: await work() });
    const hash = planHash({ actions: HONEST });
    await host.loop.runLoop({ ...SESSION, agent, requiresApproval: true, approval: humanApproval(hash, gate) });
    await host.loop.complete('s', '1.1', { result: true });
    const swap = withRun(() => ({ sources: [{ name: 'ACTIONS', text: SWAPPED }] }));
    host.store.change = (next) => {
      const swapped = swap(next);
      return { ...swapped, started: { ...swapped.started, reply: reply(SWAPPED) } };
    };
    const result = await host.loop.resume('s', { agent, requiresApproval: true });
    expect(result).toMatchObject({
      decision: 'HALT',
      reason: 'ERR_POLICY',
      error: { message: expect.stringMatching(/has to approve/) },
    });
    expect(host.paid).toEqual([]);
  });

  it.each<[string, (next: WaitingTurn) => WaitingTurn]>([
    [
      'reply, program and approved hash together',
      (next) => {
        const { started, suspended } = withRun(() => ({ sources: [{ name: 'ACTIONS', text: SWAPPED }] }))(next);
        const { approved } = suspended;
        const plan = planHash({ actions: SWAPPED });
        const changed = { ...suspended, approved: approved === null ? null : { ...approved, plan } };
        return { ...next, started: { ...started, reply: reply(SWAPPED), suspended: changed }, suspended: changed };
      },
    ],
    ['a definition that the program uses', withRun(({ sources }) => ({ sources: [LIBRARY, ...sources] }))],
    [
      'the call that waits',
      (next) => {
        const { suspended } = next;
        const changed = { ...suspended, waiting: { ...suspended.waiting, args: ['pay more'] } };
        return { ...next, started: { ...next.started, suspended: changed }, suspended: changed };
      },
    ],
    ['the calls of earlier attempts', (next) => ({ ...next, started: { ...next.started, attempts: [paidBefore(next)] } })],
  ])('ARGO-I2: an approval does not outlive a change of %s in the row', async (_, change) => {
    await using host = await waiting();
    const gate: Gate = async (work) => ({ state: 'executed', value: await work() });
    const hash = planHash({ actions: HONEST });
    await host.loop.runLoop({ ...SESSION, agent, requiresApproval: true, approval: humanApproval(hash, gate) });
    await host.loop.complete('s', '1.1', { result: true });
    host.store.change = change;
    expect(await host.loop.resume('s', { agent, requiresApproval: true })).toMatchObject({
      decision: 'HALT',
      reason: 'ERR_POLICY',
      error: { message: expect.stringMatching(/has to approve/) },
    });
    expect(host.paid).toEqual([]);
  });

  it.each([
    ['the repaired program', HONEST, { decision: 'DONE' }, 1, [5]],
    ['the one before the repair', BROKEN, { decision: 'HALT', reason: 'ERR_POLICY' }, 0, []],
  ])('ARGO-I2: an approval of %s covers no other one', async (_, plan, end, asked, paid) => {
    await using host = await waiting();
    let asks = 0;
    const gate: Gate = async (work) => {
      asks += 1;
      return { state: 'executed', value: await work() };
    };
    const approval = humanApproval(planHash({ actions: plan }), gate);
    const replies = [BROKEN, HONEST];
    const repairing = { reply: async () => reply(replies.shift() ?? '') };
    const first = await host.loop.runLoop({ ...SESSION, agent: repairing, requiresApproval: true, approval });
    if (first.decision === 'SUSPENDED') await host.loop.complete('s', '1.1', { result: true });
    const last =
      first.decision === 'SUSPENDED' ? await host.loop.resume('s', { agent: repairing, requiresApproval: true }) : first;
    expect(last).toMatchObject(end);
    expect([asks, host.paid, replies]).toEqual([asked, paid, []]);
  });

  it('ARGO-I2: an approval that another key signed needs to be given again', async () => {
    const clock = new TestClock();
    const store = new ForeignStore();
    await using host = await waiting({ clock, store });
    const gate: Gate = async (work) => ({ state: 'executed', value: await work() });
    const approval = () => humanApproval(planHash({ actions: HONEST }), gate);
    await host.loop.runLoop({ ...SESSION, agent, requiresApproval: true, approval: approval() });
    await host.loop.complete('s', '1.1', { result: true });
    const other = new LoopController({
      executor: runtimeExecutor(host.runtime),
      keyring: newKeyring('other', clock),
      clock,
      store,
    });
    const options = { agent, requiresApproval: true, approval: approval() };
    expect(await other.resume('s', options)).toMatchObject({ decision: 'DONE' });
    expect(host.paid).toEqual([5]);
  });

  it('the limits of the host hold for the rest of the turn', async () => {
    await using host = await waiting();
    const endless = 'command\nset ok = tool.human.Approve("pay")\nwhile true\nset ok = 1\nendwhile\nendcommand';
    await host.loop.runLoop({ ...SESSION, agent: agentOf(endless), limits: { fuel: 5000 } });
    await host.loop.complete('s', '1.1', { result: true });
    host.store.change = (next) => {
      const limits = { ...next.started.limits, fuel: 1_000_000_000 };
      const changed = withRun(() => ({ limits }))(next);
      return { ...changed, started: { ...changed.started, limits } };
    };
    const result = await host.loop.resume('s', { agent, limits: { fuel: 20_000 } });
    expect(result).toMatchObject({ reason: 'ERR_QUOTA', error: { limit: 'fuel', allowed: 20_000 } });
    expect(result.turns[0]?.inputs.limits.fuel).toBe(20_000);
  });
});
