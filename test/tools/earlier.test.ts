import { describe, expect, it } from 'vitest';
import { rootTurn } from '../../src/context/turn.ts';
import { EarlierCalls, type OnChanged, untakenCalls } from '../../src/tools/dispatch/earlier.ts';
import { defineTool, type Effects, MAGIC_TOOL, RecordedCalls, type ToolDefinition } from '../../src/tools/index.ts';
import type { JournalEntry } from '../../src/wire/journal.ts';
import type { TaggedJson } from '../../src/wire/protocol.ts';
import { Bench, SITE, variables } from './probe.ts';

/** How often each tool ran. */
let ran: string[] = [];

function tool(name: string, effects: Effects = 'write', idempotent?: boolean): ToolDefinition {
  return defineTool({
    name,
    effects,
    idempotent,
    args: [
      { name: 'a', required: false },
      { name: 'b', default: 7 },
    ],
    run: ({ a }) => {
      ran.push(`${name}(${JSON.stringify(a)})`);
      return `new ${String(a)}`;
    },
  });
}

const TOOLS = [tool('tool.mail.Send'), tool('tool.db.Read', 'read'), tool('tool.db.Put', 'write', true), tool('tool.log.Add')];

function made(seq: number, name: string, args: readonly TaggedJson[], value: TaggedJson = `old ${seq}`): JournalEntry {
  return { kind: 'tool', seq, name, args, at: SITE, outcome: { ok: true, value }, begin: 0, ms: 1 };
}

/** A dispatcher for the attempt that follows the attempts with these journals. */
function following(journals: readonly (readonly JournalEntry[])[], onChanged: OnChanged = 'proceed', init: object = {}): Bench {
  ran = [];
  const earlier = new EarlierCalls(journals, new Bench(TOOLS).tools, onChanged);
  return new Bench(TOOLS, { init: { earlier, ...init } });
}

describe('the calls of an attempt after a failed one', () => {
  it('count against its limit, however many an ask says that it made', async () => {
    const spent = { fuel: 0, toolCalls: Number.MAX_SAFE_INTEGER, cpuMs: 0, turns: 1, tokens: 0 };
    const { name: _, args: __, ...call }: Record<string, unknown> = { ...made(1, 'tool.log.add', []) };
    const asked: JournalEntry = JSON.parse(
      JSON.stringify({ ...call, kind: 'ask', model: 'm', prompt: 'p', options: null, spent }),
    );
    const bench = following([[asked]]);
    expect(await bench.call('tool.log.Add', ['x'])).toMatchObject({
      t: 'halt',
      error: { code: 'ERR_QUOTA', limit: 'toolCalls' },
    });
    expect(ran).toEqual([]);
  });

  it('take the recorded answer of the same call, and the tool does not run', async () => {
    const bench = following([[made(1, 'tool.mail.send', ['ada'])]]);
    expect(await bench.call('tool.mail.Send', ['ada'])).toEqual({ t: 'ok', value: 'old 1' });
    expect(ran).toEqual([]);
    const { entries } = bench.dispatcher.finish(null);
    expect(entries).toMatchObject([{ name: 'tool.mail.send', args: ['ada'], from: { attempt: 1, seq: 1 } }]);
  });

  it('count as taken only when the answer came in time', async () => {
    const journals = [[made(1, 'tool.mail.send', ['ada'])]];
    const taken = async (over: boolean) => {
      const bench = following(journals);
      const io = variables();
      const answered = bench.call('tool.mail.Send', ['ada'], io);
      if (over) io.abort.abort();
      await answered;
      const { entries } = bench.dispatcher.finish(null);
      return { taken: bench.dispatcher.taken, from: entries[0]?.from };
    };
    expect(await taken(false)).toEqual({ taken: 1, from: { attempt: 1, seq: 1 } });
    expect(await taken(true)).toEqual({ taken: 0, from: undefined });
  });

  it('are made when their arguments differ', async () => {
    const bench = following([[made(1, 'tool.mail.send', ['ada'])]]);
    expect(await bench.call('tool.mail.Send', ['bob'])).toEqual({ t: 'ok', value: 'new bob' });
    expect(bench.dispatcher.finish(null).entries[0]?.from).toBeUndefined();
  });

  it('take each recorded call once, in the order in which they were made', async () => {
    const bench = following([[made(1, 'tool.db.read', ['x']), made(2, 'tool.db.read', ['x'])]]);
    const answers = [];
    for (let n = 0; n < 3; n++) answers.push(await bench.call('tool.db.Read', ['x']));
    expect(answers).toEqual([
      { t: 'ok', value: 'old 1' },
      { t: 'ok', value: 'old 2' },
      { t: 'ok', value: 'new x' },
    ]);
  });

  it('match with defaults filled in, and whatever the order of the keys of maps', async () => {
    const bench = following([[made(1, 'tool.db.read', [{ x: 1, y: { p: 1, q: 2 } }])]]);
    expect(await bench.call('tool.db.Read', [{ y: { q: 2, p: 1 }, x: 1 }, 7])).toEqual({ t: 'ok', value: 'old 1' });
    const other = following([[made(1, 'tool.db.read', ['x', 8])]]);
    expect(await other.call('tool.db.Read', ['x'])).toEqual({ t: 'ok', value: 'new x' });
  });

  it('do not take the answers of calls that failed, of calls that were denied, or of the magic tool', async () => {
    const failed: JournalEntry = { ...made(1, 'tool.db.read', ['x']), outcome: { ok: false, code: 21, message: 'down' } };
    const denied: JournalEntry = { ...made(2, 'tool.db.read', ['x']), outcome: { ok: false, code: 1003, message: 'no' } };
    const bench = following([[failed, denied]]);
    expect(await bench.call('tool.db.Read', ['x'])).toEqual({ t: 'ok', value: 'new x' });
    const calls = new EarlierCalls([[made(1, MAGIC_TOOL, ['LOOP', { action: 'done' }])]], new Bench(TOOLS).tools, 'proceed');
    expect(calls.known({ t: 'tool', seq: 1, name: MAGIC_TOOL, args: ['LOOP', { action: 'done' }], at: SITE })).toBeNull();
  });

  it('find a call of the first attempt that the second one took, and only once', async () => {
    const taken = { ...made(1, 'tool.mail.send', ['ada']), from: { attempt: 1, seq: 1 } };
    const bench = following([[made(1, 'tool.mail.send', ['ada'])], [taken]]);
    expect(await bench.call('tool.mail.Send', ['ada'])).toEqual({ t: 'ok', value: 'old 1' });
    expect(await bench.call('tool.mail.Send', ['ada'])).toEqual({ t: 'ok', value: 'new ada' });
  });

  it('take prompts and asks too, and pay for no nested loop again', async () => {
    const prompt: JournalEntry = {
      kind: 'prompt',
      seq: 1,
      text: 'Name?',
      at: SITE,
      outcome: { ok: true, value: 'Ada' },
      begin: 0,
      ms: 1,
    };
    const spent = { fuel: 5, toolCalls: 2, cpuMs: 1, turns: 1, tokens: 3 };
    const ask: JournalEntry = {
      ...{ kind: 'ask', seq: 2, model: 'm', prompt: 'p', options: {}, at: SITE },
      ...{ outcome: { ok: true, value: 'yes' }, spent, begin: 0, ms: 1 },
    };
    const bench = following([[prompt, ask]]);
    const io = variables();
    expect(await bench.dispatcher.handle({ t: 'prompt', seq: 1, text: 'Name?', at: SITE }, io)).toEqual({
      t: 'ok',
      value: 'Ada',
    });
    const left = { fuel: 1, memoryBytes: 1, toolCalls: 1 };
    const asked = { t: 'ask', seq: 2, model: 'm', prompt: 'p', options: {}, left, at: SITE } as const;
    expect(await bench.dispatcher.handle(asked, io)).toEqual({ t: 'ok', value: 'yes' });
  });

  it('take no call of a quota when they take an answer, and the quota counts the calls of all attempts together', async () => {
    const journals = [[made(1, 'tool.db.read', ['x']), made(2, 'tool.db.read', ['y'])]];
    const quota = (toolCalls: number) => {
      ran = [];
      const earlier = new EarlierCalls(journals, new Bench(TOOLS).tools, 'proceed');
      return new Bench(TOOLS, { limits: { toolCalls }, init: { earlier } });
    };
    const bench = quota(3);
    for (const key of ['x', 'y', 'z']) expect(await bench.call('tool.db.Read', [key])).toMatchObject({ t: 'ok' });
    expect(await bench.call('tool.db.Read', ['w'])).toMatchObject({
      t: 'halt',
      error: { limit: 'toolCalls', allowed: 3, used: 4 },
    });
    expect(ran).toEqual(['tool.db.Read("z")']);
    expect(await quota(2).call('tool.db.Read', ['z'])).toMatchObject({ t: 'halt', error: { limit: 'toolCalls' } });
  });

  it('count for the quota of one tool together with those of earlier attempts', async () => {
    const earlier = new EarlierCalls([[made(1, 'tool.db.read', ['x'])]], new Bench(TOOLS).tools, 'proceed');
    const bench = new Bench(TOOLS, { limits: { toolCallsPerTool: 1 }, init: { earlier } });
    expect(await bench.call('tool.log.Add', ['x'])).toMatchObject({ t: 'ok' });
    expect(await bench.call('tool.db.Read', ['y'])).toMatchObject({ t: 'halt', error: { limit: 'toolCallsPerTool' } });
  });

  it('are kept with their origin before the program goes on', async () => {
    const kept: JournalEntry[] = [];
    const keeper = { began: async () => {}, ended: async (entry: JournalEntry) => void kept.push(entry) };
    const bench = following([[made(1, 'tool.mail.send', ['ada'])]], 'proceed', { keeper });
    await bench.call('tool.mail.Send', ['ada']);
    expect(kept).toMatchObject([{ name: 'tool.mail.send', from: { attempt: 1, seq: 1 } }]);
  });
});

describe('a call of a tool with effects that an earlier attempt called in another way', () => {
  const journals = [[made(1, 'tool.mail.send', ['ada'])]];

  it('is made with `proceed`', async () => {
    expect(await following(journals, 'proceed').call('tool.mail.Send', ['bob'])).toMatchObject({ t: 'ok' });
  });

  it('ends the run with `halt`, before the tool runs', async () => {
    expect(await following(journals, 'halt').call('tool.mail.Send', ['bob'])).toMatchObject({
      t: 'halt',
      error: { code: 'ERR_EFFECT_CHANGED', message: expect.stringContaining('tool.mail.send("ada")') },
    });
    expect(ran).toEqual([]);
  });

  it('waits for a person with `ask`, where a run can wait', async () => {
    const bench = following(journals, 'ask', { mayWait: true });
    expect(await bench.call('tool.mail.Send', ['bob'])).toMatchObject({ t: 'halt', error: { code: 'ERR_SUSPENDED' } });
    expect(bench.dispatcher.waiting).toMatchObject([{ tool: 'tool.mail.send', args: ['bob'], allows: true }]);
    expect(ran).toEqual([]);
  });

  it('is an error that the program sees with `ask`, where no run can wait', async () => {
    expect(await following(journals, 'ask').call('tool.mail.Send', ['bob'])).toMatchObject({ t: 'error', code: 19 });
    expect(ran).toEqual([]);
  });

  it('is made once the recorded call is taken', async () => {
    const bench = following(journals, 'halt');
    expect(await bench.call('tool.mail.Send', ['ada'])).toMatchObject({ value: 'old 1' });
    expect(await bench.call('tool.mail.Send', ['bob'])).toMatchObject({ value: 'new bob' });
  });

  it.each([
    ['an idempotent tool', 'tool.db.Put'],
    ['a tool that only reads', 'tool.db.Read'],
    ['another tool', 'tool.log.Add'],
  ])('is made at once for %s', async (_name, name) => {
    const before = [made(1, name === 'tool.log.Add' ? 'tool.mail.send' : name.toLowerCase(), ['ada'])];
    expect(await following([before], 'halt').call(name, ['bob'])).toMatchObject({ t: 'ok', value: 'new bob' });
  });
});

it('names the calls that the deciding attempt left over', () => {
  const journals = [[made(1, 'tool.mail.send', ['ada']), made(2, 'tool.mail.send', ['bob'])], [made(1, 'tool.log.add', [1])]];
  const journal = [{ ...made(1, 'tool.mail.send', ['bob']), from: { attempt: 1, seq: 2 } }];
  expect(untakenCalls(journals, journal)).toEqual([
    { attempt: 1, seq: 1, tool: 'tool.mail.send' },
    { attempt: 2, seq: 1, tool: 'tool.log.add' },
  ]);
});

it('does not take an answer again that the attempt took before its process died', async () => {
  const taken = { ...made(1, 'tool.mail.send', ['ada']), from: { attempt: 1, seq: 1 } };
  const bench = following([[made(1, 'tool.mail.send', ['ada'])]], 'proceed', {
    recorded: new RecordedCalls([taken], { known: () => null }),
  });
  expect(await bench.call('tool.mail.Send', ['ada'])).toEqual({ t: 'ok', value: 'old 1' });
  expect(await bench.call('tool.mail.Send', ['ada'])).toEqual({ t: 'ok', value: 'new ada' });
});

describe('the key of a call', () => {
  const turn = rootTurn(() => 0).derive({ sessionId: 's', turnIndex: 2, origin: 's' });
  const read = made(1, 'tool.db.read', ['x']);
  const failed = (seq: number): JournalEntry => ({
    ...made(seq, 'tool.bank.pay', ['ada']),
    outcome: { ok: false, code: 21, message: 'its answer was lost' },
  });

  /** The keys of this number of payments to Ada, after attempts with these journals. */
  async function keysAfter(count: number, ...journals: readonly (readonly JournalEntry[])[]): Promise<readonly string[]> {
    const keys: string[] = [];
    const pay = defineTool({
      name: 'tool.bank.Pay',
      args: [{ name: 'to', type: 'string' }],
      run: (_, { call }) => {
        keys.push(String(call.key).split('/')[1] ?? '');
      },
    });
    const earlier = new EarlierCalls(journals, new Bench([pay]).tools, 'proceed');
    const bench = new Bench([pay], { turn, init: { earlier, asTurn: true } });
    for (let made = 0; made < count; made++) await bench.call('tool.bank.Pay', ['ada']);
    return keys;
  }

  const paid = (seq: number): JournalEntry => made(seq, 'tool.bank.pay', ['ada']);

  it('does not depend on what the program does before it, in this attempt or another', async () => {
    expect(await keysAfter(1)).toEqual(['2.1']);
    expect(await keysAfter(1, [read])).toEqual(['2.1']);
    expect(await keysAfter(2, [read], [], [read])).toEqual(['2.1', '2.2']);
  });

  it('stays that of the same call that failed, wherever it stood, because that may have had its effect', async () => {
    expect(await keysAfter(2, [read, failed(2)])).toEqual(['2.1', '2.2']);
    expect(await keysAfter(2, [read, failed(2)], [failed(1)])).toEqual(['2.1', '2.2']);
    expect(await keysAfter(2, [failed(1)], [failed(1), failed(2)])).toEqual(['2.1', '2.2']);
    // The first payment takes the recorded answer of the second call.
    expect(await keysAfter(2, [failed(1), paid(2)])).toEqual(['2.1']);
  });

  it('is never that of a call with an answer, so that no system takes it for that one', async () => {
    expect(await keysAfter(2, [paid(1)])).toEqual(['2.2']);
    expect(await keysAfter(3, [paid(1)], [{ ...paid(1), from: { attempt: 1, seq: 1 } }, paid(2)])).toEqual(['2.3']);
    expect(await keysAfter(2, [failed(1)], [paid(1)])).toEqual(['2.2']);
  });
});
