import { describe, expect, it } from 'vitest';
import { generateKeys, keyringFrom, rotateKeys } from '../../../src/aeiou/index.ts';
import { MemoryStore, SqliteStore, SuspendedError, type TurnRecord } from '../../../src/loop/index.ts';
import { defineTool, type ToolDefinition } from '../../../src/tools/index.ts';
import { TestClock } from '../fake.ts';
import { agentOf, openHost, SESSION } from './stage.ts';

/** Tools that note their calls. The call of `dies` never ends on the host that dies. */
function world() {
  const calls: string[] = [];
  const reached = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  let dying = '';
  const tool = (name: string, idempotent: boolean): ToolDefinition =>
    defineTool({
      name: `tool.w.${name}`,
      idempotent,
      run: async (_, { call }) => {
        calls.push(`${name} ${call.key?.split('/').slice(0, 2).join('/')}`);
        if (dying !== name) return calls.length;
        dying = '';
        reached.resolve();
        await over.promise;
        return -1;
      },
    });
  return {
    calls,
    tools: [tool('Pay', false), tool('Book', false), tool('Put', true)],
    reached: reached.promise,
    over: over.resolve,
    dieIn: (name: string) => {
      dying = name;
    },
  };
}

/** Drives a session on a host that dies in a call, and resolves with a host that finds what the first one has left. */
async function afterDeath(
  program: string,
  dies: string,
  store: MemoryStore | SqliteStore,
  clock: TestClock,
  others: Promise<void> = Promise.resolve(),
) {
  const { calls, tools, dieIn, reached, over } = world();
  const agent = agentOf(program);
  dieIn(dies);
  const dead = await openHost(tools, { store, clock, owner: 'dead', durable: 'call' });
  const given = dead.loop.runLoop({ ...SESSION, agent }).catch((error: unknown) => error);
  await Promise.all([reached, others]);
  // The lease ends, and a host that dies too claims the session: nothing of the first one counts any more.
  clock.ms += 60_000;
  await store.release('s', (await store.claim('s', { owner: 'other', ms: 1 })).fence);
  over();
  expect(await given).toMatchObject({ code: 'ERR_SESSION_LEASED' });
  await dead.runtime.close();
  return { calls, agent, next: await openHost(tools, { store, clock, owner: 'next' }) };
}

const DONE = 'emit tool.aeiou.magic("LOOP", {"action": "done"})\nendcommand';
const STORES = [
  ['memory', async (clock: TestClock) => new MemoryStore({ clock })],
  ['SQLite', (clock: TestClock) => SqliteStore.open(':memory:', { clock })],
] as const;

async function nonceOf(store: MemoryStore | SqliteStore): Promise<string | undefined> {
  const { next, fence } = await store.claim('s', { owner: 'test', ms: 1 });
  await store.release('s', fence);
  return next.kind === 'fresh' ? undefined : next.started.nonce;
}

describe.each(STORES)('calls that are kept (issue 20), %s', (_, open) => {
  it('the turn continues after its last finished call, under the same nonce, and repeats an idempotent call with its key', async () => {
    const clock = new TestClock();
    const store = await open(clock);
    const program = `command\nset token = tool.aeiou.magic("LOOP", {"action": "done"})\nset a = tool.w.Pay()\nset b = tool.w.Put()\nset c = tool.w.Pay()\nemit a + b + c\nemit token\nendcommand`;
    const { calls, agent, next } = await afterDeath(program, 'Put', store, clock);
    await using host = next;
    const nonce = await nonceOf(store);
    const { decision } = await host.loop.resume('s', { agent });
    const [record] = await store.turns('s');
    expect({ decision, nonce: record?.inputs.nonce, output: record?.output.split('\n')[0] }).toEqual({
      decision: 'DONE',
      nonce,
      output: String(1 + 3 + 4),
    });
    expect(calls).toEqual(['Pay s/1.1', 'Put s/1.1', 'Put s/1.1', 'Pay s/1.2']);
    expect(record?.repeats).toBeUndefined();
    expect(record?.journal.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
  });

  it('a call that was made and not answered waits for a person, whose answer it takes', async () => {
    const clock = new TestClock();
    const store = await open(clock);
    const program = `command\nset a = tool.w.Pay()\nset b = tool.w.Book()\nemit a + b\nset c = tool.w.Pay()\n${DONE}`;
    const { calls, agent, next } = await afterDeath(program, 'Book', store, clock);
    await using host = next;
    const { decision, waiting } = await host.loop.resume('s', { agent });
    expect({ decision, waiting }).toMatchObject({
      decision: 'SUSPENDED',
      waiting: { call: '1.2', tool: 'tool.w.book', completed: false, reason: expect.stringContaining('nobody knows') },
    });
    await expect(host.loop.step('s', { agent })).rejects.toThrow(SuspendedError);
    await host.loop.complete('s', '1.2', { result: 42 });
    expect(await host.loop.resume('s', { agent })).toMatchObject({ decision: 'DONE' });
    const [record] = await store.turns('s');
    expect(record?.output.split('\n')[0]).toBe('43');
    expect(calls).toEqual(['Pay s/1.1', 'Book s/1.1', 'Pay s/1.2']);
  });

  it('calls that ran together: those that had ended are not made again, and each other one is treated by itself', async () => {
    const clock = new TestClock();
    const store = await open(clock);
    const keep = store.keep.bind(store);
    const others = Promise.withResolvers<void>();
    let ended = 0;
    store.keep = async (sid, step, fence) => {
      await keep(sid, step, fence);
      if (step.body['entry'] !== null && ++ended === 3) others.resolve();
    };
    const program = `command\ntogether\nset a = tool.w.Pay()\nset b = tool.w.Put()\nset c = tool.w.Book()\nset d = tool.w.Pay()\nendtogether\nemit [a, b, c, d]\nset e = tool.w.Pay()\n${DONE}`;
    const { calls, agent, next } = await afterDeath(program, 'Put', store, clock, others.promise);
    await using host = next;
    expect(calls).toHaveLength(4);
    expect(await host.loop.resume('s', { agent })).toMatchObject({ decision: 'DONE' });
    const [record] = await store.turns('s');
    // A call that is kept begins once the store has it, so the calls of the other tool may begin first.
    const [b, ...rest] = [1, 0, 2, 3].map((index) => JSON.parse(record?.output.split('\n')[0] ?? '')[index]);
    expect([b, rest.toSorted()]).toEqual([5, expect.arrayContaining([3, 4])]);
    expect(record?.journal.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(calls.slice(4)).toEqual(['Put s/1.1', 'Pay s/1.3']);
  });

  it('the store never has a call without the run that makes it, also of calls that run together (found by npm run simulate)', async () => {
    const clock = new TestClock();
    const store = await open(clock);
    const keep = store.keep.bind(store);
    const seen: string[] = [];
    store.keep = async (sid, step, fence) => {
      const what = `${step.seq}${step.body['run'] === null ? '' : ' with the run'}`;
      seen.push(`keeps ${what}`);
      await new Promise((resolve) => setImmediate(resolve));
      await keep(sid, step, fence);
      seen.push(`kept ${what}`);
    };
    const { tools } = world();
    await using host = await openHost(tools, { store, clock, durable: 'call' });
    const program = `command\ntogether\nset a = tool.w.Pay()\nset b = tool.w.Put()\nset c = tool.w.Book()\nendtogether\n${DONE}`;
    expect(await host.loop.runLoop({ ...SESSION, agent: agentOf(program) })).toMatchObject({ decision: 'DONE' });
    expect(seen.slice(0, 2)).toEqual([seen[0], seen[0]?.replace('keeps', 'kept')]);
    expect(seen[0]).toContain('with the run');
    expect(seen.length).toBeGreaterThan(6);
  });

  it('cancelling a session in doubt ends it, and its record has the calls that were kept', async () => {
    const clock = new TestClock();
    const store = await open(clock);
    const { next } = await afterDeath(`command\nset a = tool.w.Pay()\nset b = tool.w.Book()\n${DONE}`, 'Book', store, clock);
    await using host = next;
    expect(await host.loop.cancel('s')).toBe(true);
    const [record]: readonly TurnRecord[] = await store.turns('s');
    expect(record).toMatchObject({ decision: 'HALT', reason: 'ERR_CANCELLED', journal: [{ seq: 1, name: 'tool.w.pay' }] });
  });

  it('dies after a wait too: the call that waited keeps its answer', async () => {
    const clock = new TestClock();
    const store = await open(clock);
    const { calls, tools, dieIn, reached, over } = world();
    const ask = defineTool({ name: 'tool.w.Ask', run: (_, runtime) => runtime.pending({ reason: 'may I?' }) });
    const agent = agentOf(
      `command\nset a = tool.w.Pay()\nset ok = tool.w.Ask()\nset b = tool.w.Pay()\nset c = tool.w.Put()\nemit ok\n${DONE}`,
    );
    const first = await openHost([...tools, ask], { store, clock, owner: 'first', durable: 'call' });
    expect(await first.loop.runLoop({ ...SESSION, agent })).toMatchObject({ decision: 'SUSPENDED' });
    await first.loop.complete('s', '1.2', { result: 'yes' });
    dieIn('Put');
    const given = first.loop.resume('s', { agent }).catch((error: unknown) => error);
    await reached;
    clock.ms += 60_000;
    await store.release('s', (await store.claim('s', { owner: 'other', ms: 1 })).fence);
    over();
    await given;
    await first.runtime.close();
    await using next = await openHost([...tools, ask], { store, clock, owner: 'next' });
    expect(await next.loop.resume('s', { agent })).toMatchObject({ decision: 'DONE' });
    expect((await store.turns('s'))[0]?.output.split('\n')[0]).toBe('yes');
    expect(calls).toEqual(['Pay s/1.1', 'Pay s/1.2', 'Put s/1.1', 'Put s/1.1']);
  });
});

describe('another host goes on (issue 20)', () => {
  it('a token that was minted before a wait verifies after it, on a host whose keys were rotated meanwhile', async () => {
    const clock = new TestClock();
    const store = new MemoryStore({ clock });
    const ask = defineTool({ name: 'tool.w.Ask', run: (_, runtime) => runtime.pending({ reason: 'may I?' }) });
    const agent = agentOf(
      'command\nset t = tool.aeiou.magic("LOOP", {"action": "done"})\nset ok = tool.w.Ask()\nemit t\nendcommand',
    );
    const seeds = generateKeys('fleet');
    const first = await openHost([ask], { store, clock, owner: 'first', keyring: keyringFrom(seeds, { clock }) });
    expect(await first.loop.runLoop({ ...SESSION, agent })).toMatchObject({ decision: 'SUSPENDED' });
    await first.runtime.close();
    const now = clock.now() / 1000;
    const { keys } = rotateKeys(rotateKeys(seeds, { role: 'primary', now }).keys, { role: 'fallback', now });
    await using next = await openHost([ask], { store, clock, owner: 'next', keyring: keyringFrom(keys, { clock }) });
    await next.loop.complete('s', '1.2', { result: true });
    expect(await next.loop.resume('s', { agent })).toMatchObject({ decision: 'DONE' });
    const signer = (await store.turns('s'))[0]?.kid;
    expect(keys.find(({ kid }) => kid === signer)?.role).toBe('retired');
  });
});
