import { describe, expect, it } from 'vitest';
import { generateKeys, keyringFrom } from '../../../src/aeiou/index.ts';
import { MemoryStore, PLAN, replaySession } from '../../../src/loop/index.ts';
import { programDigest, verifiedPlans } from '../../../src/loop/suspend/signed.ts';
import { readReply } from '../../../src/loop/turn/input.ts';
import { createRuntime } from '../../../src/runtime/index.ts';
import { defineTool } from '../../../src/tools/index.ts';
import type { Source } from '../../../src/wire/protocol.ts';
import { agentOf, openHost, SEEDS, SESSION } from './stage.ts';

const USERDATA_TEXT = JSON.stringify({ subject: 's', fields: {} });
const done = 'emit tool.aeiou.magic("LOOP", {"action": "done"})';
const command = (...lines: readonly string[]): string => `command\n${[...lines, done].join('\n')}\nendcommand`;
const SENDS = command(
  'set names = tool.t.List()',
  'for each name in ["a", "b", "c"]',
  'call tool.t.Send(name)',
  'endfor',
  'emit "sent"',
);

/** A host whose tools note what happens. */
async function host(store = new MemoryStore(), policy: object = { allow: ['*'] }) {
  const sent: unknown[] = [];
  const tools = [
    defineTool({ name: 'tool.t.List', effects: 'read', run: () => ['a', 'b'] }),
    defineTool({
      name: 'tool.t.Send',
      args: [{ name: 'to', type: 'string' }],
      setsVariables: false,
      run: ({ to }) => {
        sent.push(to);
        return null;
      },
    }),
  ];
  return { ...(await openHost(tools, { store, approve: 'plan', maxReasks: 0, runtime: { policy } })), sent, store, tools };
}

describe('issue 47: one approval for a plan', () => {
  it('a turn waits once before its first effect, and an approval allows all calls of its grant', async () => {
    await using here = await host();
    const agent = agentOf(SENDS);
    const waits = await here.loop.runLoop({ ...SESSION, agent });
    expect(waits).toMatchObject({ decision: 'SUSPENDED', waiting: { call: PLAN, plan: { version: 1 } } });
    expect(waits.waiting?.plan?.calls.filter(({ effects }) => effects === 'write')).toHaveLength(3);
    expect(here.sent).toEqual([]);
    await here.loop.complete('s', PLAN, { result: true });
    const { decision, turns } = await here.loop.resume('s', { agent, keepTurns: true });
    expect([decision, here.sent]).toEqual(['DONE', ['a', 'b', 'c']]);
    expect(turns[0]?.plans).toMatchObject([{ attempt: 1, grant: { version: 1 } }]);
  });

  it('issue 49: the answer to a plan needs keys and no tools; a tool that changed meanwhile stops the driver', async () => {
    const store = new MemoryStore();
    await using here = await host(store);
    const agent = agentOf(SENDS);
    await here.loop.runLoop({ ...SESSION, agent });
    await using without = await openHost([], { store, clock: here.clock });
    await without.loop.complete('s', PLAN, { result: true });
    const other = defineTool({ name: 'tool.t.Send', args: [{ name: 'whom', type: 'string' }], run: () => null });
    await using changed = await openHost([other], { store, clock: here.clock, approve: 'plan' });
    await expect(changed.loop.resume('s', { agent })).rejects.toMatchObject({ code: 'ERR_CALL_CHANGED' });
    // Nor does a program go on whose call that only read may now change something.
    const writes = defineTool({ name: 'tool.t.List', run: () => ['a', 'b'] });
    const sends = here.tools.filter(({ canonicalName }) => canonicalName === 'tool.t.send');
    await using wider = await openHost([writes, ...sends], { store, clock: here.clock, approve: 'plan' });
    await expect(wider.loop.resume('s', { agent })).rejects.toThrow('a tool of the plan is missing, or has changed');
    expect(await here.loop.resume('s', { agent })).toMatchObject({ decision: 'DONE' });
  });

  it('an approval by a key that the driver does not know is asked for again, with the reason, and by keys of the hosts', async () => {
    const store = new MemoryStore();
    await using here = await host(store);
    const agent = agentOf(SENDS);
    await here.loop.runLoop({ ...SESSION, agent });
    const keyring = keyringFrom(generateKeys('stranger'), { clock: here.clock });
    await using stranger = await openHost([], { store, clock: here.clock, keyring });
    // Nobody knows which host will go on.
    await stranger.loop.complete('s', PLAN, { result: true });
    const again = await here.loop.resume('s', { agent });
    expect(again).toMatchObject({ decision: 'SUSPENDED', waiting: { call: PLAN } });
    expect(again.waiting?.reason).toBe(
      'the approval was signed with the key stranger-fallback, which this host does not know: approve with the key file of the hosts; its plan must be approved first; answer true to allow all calls of the grant, false to refuse it',
    );
    expect(here.sent).toEqual([]);
    // As soon as hosts say which keys they know, such an answer is not taken.
    await store.hosts.beat({ instance: 'i', owner: 'a', kids: ['suspend-primary', 'suspend-fallback'] }, 60_000);
    const refused = stranger.loop.complete('s', PLAN, { result: true });
    await expect(refused).rejects.toMatchObject({
      code: 'ERR_CONFIG',
      message: expect.stringContaining(
        'the key stranger-fallback, which no host of this store knows (they know suspend-primary, suspend-fallback)',
      ),
    });
    await here.loop.complete('s', PLAN, { result: true });
    expect(await here.loop.resume('s', { agent })).toMatchObject({ decision: 'DONE' });
    expect(here.sent).toEqual(['a', 'b', 'c']);
  });

  it('the approval answers what the policy would ask about each call', async () => {
    await using here = await host(undefined, {
      allow: ['*'],
      order: [{ tool: 'tool.t.Send', needs: 'tool.t.Never', else: 'ask' }],
    });
    const agent = agentOf(SENDS);
    await here.loop.runLoop({ ...SESSION, agent });
    await here.loop.complete('s', PLAN, { result: true });
    expect(await here.loop.resume('s', { agent })).toMatchObject({ decision: 'DONE' });
    expect(here.sent).toHaveLength(3);
  });

  it('a refusal makes no call that may change something', async () => {
    await using here = await host();
    const agent = agentOf(command('on error do', 'clear_error', 'endon', 'call tool.t.Send("a")', 'call tool.t.Send("b")'));
    await here.loop.runLoop({ ...SESSION, agent });
    await here.loop.complete('s', PLAN, { result: false });
    expect(await here.loop.resume('s', { agent })).toMatchObject({ decision: 'DONE' });
    expect(here.sent).toEqual([]);
  });

  it('a program that was refused is not asked about again, however often the agent gives it', async () => {
    await using here = await host();
    let replies = 0;
    const agent = { reply: async () => await agentOf(command('call tool.t.Send("a")', `# ${++replies > 2}`)).reply({ turn: 1 }) };
    await here.loop.runLoop({ ...SESSION, agent, maxReasks: 1 });
    await here.loop.complete('s', PLAN, { result: false });
    expect(await here.loop.resume('s', { agent, maxReasks: 1 })).toMatchObject({ decision: 'HALT', reason: 'ERR_POLICY' });
    expect(replies).toBe(2);
    expect(here.sent).toEqual([]);
  });

  it('a grant can be narrowed before it is approved, and the run stops exactly there; it cannot be widened, nor changed later', async () => {
    await using here = await host();
    const agent = agentOf(SENDS);
    const { waiting } = await here.loop.runLoop({ ...SESSION, agent });
    const plan = waiting?.plan;
    if (plan === undefined) throw new Error('no plan');
    const wider = { ...plan, calls: plan.calls.map((call) => ({ ...call, times: 9 })) };
    await expect(here.loop.complete('s', PLAN, { result: true }, { grant: wider })).rejects.toThrow('can only be narrowed');
    const none = { grant: null as never };
    await expect(here.loop.complete('s', PLAN, { result: true }, none)).rejects.toThrow('the grant must be an object');
    const narrower = { ...plan, calls: plan.calls.filter(({ when }) => when?.['to'] !== 'b') };
    await here.loop.complete('s', PLAN, { result: true }, { grant: narrower });
    await expect(here.loop.complete('s', PLAN, { result: true })).rejects.toMatchObject({ code: 'ERR_CALL_COMPLETED' });
    const { error } = await here.loop.resume('s', { agent });
    expect(error?.message).toContain("outside of the grant: no call of tool.t.send in it has this argument 'to'");
    expect(here.sent).toEqual(['a']);
  });

  it.each([
    ['approved', true, null],
    ['refused', false, null],
    ['narrowed', true, 'b'],
  ])('a turn whose plan was %s is replayed on a host without its tools', async (_, result, without) => {
    await using here = await host();
    const agent = agentOf(SENDS);
    const { waiting } = await here.loop.runLoop({ ...SESSION, agent });
    const { plan } = waiting ?? {};
    const calls = (plan?.calls ?? []).filter(({ when }) => without === null || when?.['to'] !== without);
    const grant = plan === undefined || without === null ? undefined : { ...plan, calls };
    await here.loop.complete('s', PLAN, { result }, { grant });
    await here.loop.resume('s', { agent });
    await using replaying = await createRuntime({ concurrency: 1 });
    expect(await replaySession(replaying, here.store, 's')).toMatchObject({
      ok: true,
      turns: [{ verdict: 'same', divergence: null }],
    });
  });

  it('a program that only reads waits for nobody', async () => {
    await using here = await host();
    expect(await here.loop.runLoop({ ...SESSION, agent: agentOf(command('emit tool.t.List()')) })).toMatchObject({
      decision: 'DONE',
    });
  });

  it('a repaired program asks only for what is new', async () => {
    await using here = await host();
    const failing = command('call tool.t.Send("a")', 'call tool.t.Send("b")', 'fail "x"');
    const replies = [failing, command('call tool.t.Send("a")', 'call tool.t.Send("b")')];
    const agent = { reply: async () => await agentOf(replies.shift() ?? '').reply({ turn: 1 }) };
    await here.loop.runLoop({ ...SESSION, agent, maxReasks: 1 });
    await here.loop.complete('s', PLAN, { result: true });
    // The second program repeats what was approved, so nobody is asked, and nothing is sent twice.
    expect(await here.loop.resume('s', { agent, maxReasks: 1 })).toMatchObject({ decision: 'DONE' });
    expect(here.sent).toEqual(['a', 'b']);
  });

  it('tampering with grant, program or approval at 200 places is refused', async () => {
    await using here = await host();
    const agent = agentOf(SENDS);
    await here.loop.runLoop({ ...SESSION, agent });
    await here.loop.complete('s', PLAN, { result: true });
    const { started, fence } = await stolen(here.store);
    const [plan] = started.plans ?? [];
    if (plan === undefined || started.reply === null) throw new Error('nothing was approved');
    const keys = keyringFrom(SEEDS, { clock: here.clock });
    const [place, input] = [
      { sid: 's', turn: 1 },
      readReply({ userdata: USERDATA_TEXT, output: null, scratchpad: null }, started.reply),
    ];
    expect(verifiedPlans(keys, place, [plan])).toEqual([plan]);
    expect(verifiedPlans(keys, { sid: 't', turn: 1 }, [plan])).toEqual([]);
    expect(verifiedPlans(keys, { sid: 's', turn: 2 }, [plan])).toEqual([]);
    if (!input.ok) throw new Error('no program');
    const { actions } = input.envelope;
    for (let part = 0; part < 100; part++) {
      const isUnsigned = (text: string): boolean => {
        try {
          return verifiedPlans(keys, place, [JSON.parse(text)]).length === 0;
        } catch {
          return true;
        }
      };
      expect(isUnsigned(changed(JSON.stringify(plan), part)), `plan, part ${part}`).toBe(true);
      const other = { ...input, envelope: { ...input.envelope, actions: changed(actions, part) } };
      expect(programDigest(other), `program, part ${part}`).not.toBe(programDigest(input));
    }
    // A grant that somebody has widened in the store: the turn waits again, and makes no call.
    const grant = plan.grant && { ...plan.grant, calls: plan.grant.calls.map((call) => ({ ...call, when: {} })) };
    await here.store.start({ ...started, plans: [{ ...plan, grant }] }, fence);
    await here.store.release('s', fence);
    expect(await here.loop.resume('s', { agent })).toMatchObject({ decision: 'SUSPENDED', waiting: { call: PLAN } });
    expect(here.sent).toEqual([]);
  });
});

it.each([
  ['another procedure', (lib: Source) => [{ ...lib, text: lib.text.replace('"a"', '"x"') }]],
  ['one procedure more', (lib: Source) => [lib, { name: 'more.ns', text: 'func more() means\n  emit 1\nendfunc\n' }]],
  ['one procedure less', () => []],
])('issue 47: an approved plan does not go on with %s in the store', async (_, change) => {
  await using here = await host();
  const agent = agentOf(command('call send_first()'));
  await here.root.append('func send_first() means\n  call tool.t.Send("a")\nendfunc\n', 'lib.ns');
  expect((await here.loop.runLoop({ ...SESSION, agent })).waiting?.plan?.programs).toHaveLength(2);
  await here.loop.complete('s', PLAN, { result: true });
  const { started, fence } = await stolen(here.store);
  const { suspended } = started;
  const [library, program] = suspended?.earlier.run.sources ?? [];
  if (suspended === null || library === undefined || program === undefined) throw new Error('it does not wait');
  const run = { ...suspended.earlier.run, sources: [...change(library), program] };
  await here.store.start({ ...started, suspended: { ...suspended, earlier: { ...suspended.earlier, run } } }, fence);
  await here.store.release('s', fence);
  const { error, reason } = await here.loop.resume('s', { agent });
  expect([reason, error?.message]).toEqual(['ERR_POLICY', expect.stringContaining('its procedures are not those of the plan')]);
  expect(here.sent).toEqual([]);
});

/** The text with another character at a hundredth of it. */
function changed(text: string, part: number): string {
  const at = Math.floor((part * text.length) / 100);
  return `${text.slice(0, at)}${text[at] === '1' ? '2' : '1'}${text.slice(at + 1)}`;
}

/** The started turn of the session, as somebody finds it who writes to the store. */
async function stolen(store: MemoryStore) {
  const { next, fence } = await store.claim('s', { owner: 'thief', ms: 60_000 });
  if (next.kind === 'fresh') throw new Error('nothing was started');
  return { started: next.started, fence };
}
