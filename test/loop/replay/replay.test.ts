import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Agent,
  exportFile,
  exportRecords,
  LoopController,
  MemoryStore,
  Redaction,
  readExport,
  replaySession,
  replayTurn,
  runtimeExecutor,
  sealFaults,
  type TurnRecord,
  tryOut,
} from '../../../src/loop/index.ts';
import { replayLimits } from '../../../src/loop/replay/execute.ts';
import { readRecord } from '../../../src/loop/sessions/rows.ts';
import { createRuntime, type Runtime } from '../../../src/runtime/index.ts';
import type { LimitOptions } from '../../../src/sandbox/index.ts';
import { defineTool, Policy } from '../../../src/tools/index.ts';
import { defaultLimits } from '../../../src/wire/limits.ts';
import { newKeyring } from '../../aeiou/kit.ts';
import { reply, TestClock, USERDATA } from '../fake.ts';
import { CONTINUE, command, DONE, resealed } from '../sessions.ts';

let calls = 0;
const tools = [
  defineTool({ name: 'tool.t.Get', args: [{ name: 'key', type: 'string' }], run: ({ key }) => `${key} ${++calls}` }),
  defineTool({ name: 'tool.t.Put', args: [{ name: 'key', type: 'string' }], run: () => true }),
];
const PROGRAMS = [
  command('emit shared', "emit tool.t.Get('a')", "emit tool.t.Get('b')", 'whisper self, helper(2)', CONTINUE),
  command("emit 'second'", "emit tool.t.Get('secret-word')", 'emit userdata', CONTINUE),
  command("emit 'third'", DONE),
];
const LIBRARY = 'func helper(needs n returns r) means\n  return n * 21\nendfunc';

let recording: Runtime;
let replaying: Runtime;
const clock = new TestClock();
const keyring = newKeyring('host', clock);
const store = new MemoryStore();
const TIGHT = {
  outputBytes: 20,
  lineBytes: 20,
  scratchBytes: 2,
  emits: 2,
  toolCalls: 1,
  toolCallsPerTool: 1,
  toolBytes: 4,
} as const satisfies LimitOptions;
let records: readonly TurnRecord[] = [];
beforeAll(async () => {
  recording = await createRuntime({ tools, policy: { allow: ['tool.t.*'] }, concurrency: 1 });
  replaying = await createRuntime({ concurrency: 1 });
  const root = recording.interpreter();
  await root.load(LIBRARY);
  root.setGlobal('shared', { a: 1 });
  const loop = new LoopController({ executor: runtimeExecutor(recording, root), keyring, clock, store });
  const agent: Agent = {
    reply: async ({ turn }) => {
      clock.ms += 1500;
      return reply(PROGRAMS[turn - 1] ?? '');
    },
  };
  expect(await loop.runLoop({ userdata: USERDATA, agent, sid: 's' })).toMatchObject({ decision: 'DONE' });
  records = await store.turns('s');
});
afterAll(() => Promise.all([recording.close(), replaying.close()]));

const session = async () => {
  const state = await store.read('s');
  if (state === null) throw new Error('no session');
  return state;
};

/** The records as somebody else gets them, changed. */
const copy = (change: (records: Record<string, unknown>[]) => void = () => {}): readonly TurnRecord[] => {
  const made = JSON.parse(JSON.stringify(records));
  change(made);
  return made;
};

/** Sets, in a record, what stands at a path; undefined takes it out. */
const set = (record: object, path: string, value: unknown): void => {
  const keys = path.split('.');
  const last = keys.pop() ?? '';
  const place = keys.reduce((at: object, key) => Object(Reflect.get(at, key)), record);
  if (value === undefined && Array.isArray(place)) place.splice(Number(last), 1);
  else Reflect.set(place, last, typeof value === 'function' ? value(Reflect.get(place, last)) : value);
};

describe('replay', () => {
  it('A3-2-7 AMB-14: a session is the same, and no tool is called', async () => {
    const before = calls;
    const replay = await replaySession(replaying, { sid: 's', head: (await session()).head, turns: copy() });
    expect(replay).toMatchObject({
      ok: true,
      broken: [],
      turns: [{ verdict: 'same' }, { verdict: 'same' }, { verdict: 'same' }],
    });
    expect(calls).toBe(before);
    for (const [index, { replayed }] of replay.turns.entries()) {
      const { output, scratchpad, decision, kid, jti, digest, usage } = records[index] ?? {};
      expect(replayed).toMatchObject({ output, scratchpad, decision, kid, jti, digest, usage: { fuel: usage?.fuel } });
    }
  });

  it('a record says what the host was made of', () => {
    expect(records[0]?.inputs.scene).toMatchObject({
      unreadable: null,
      denied: null,
      run: {
        sources: [{ name: 'lib', text: LIBRARY }],
        globals: { shared: { a: 1 }, userdata: null },
        forkId: 's#1',
        events: [],
      },
      host: { node: process.version, policies: [{ allow: ['tool.t.*'], context: 'normal' }] },
      judged: { fresh: [true], stopped: false, mintFailed: false, keys: [{ kid: 'host-primary', alg: 'Ed25519' }, {}] },
    });
    expect(records[0]?.inputs.scene?.host?.catalogue).toMatch(/^[\w-]{43}$/);
    expect(JSON.stringify(records)).not.toContain('seed');
  });

  it('A3-1.1-2: without its token line, or with the key of another host, the decision is another', async () => {
    const [first] = copy();
    if (first === undefined) throw new Error('no record');
    const other = newKeyring('host', clock);
    expect(await replayTurn(replaying, first, { keys: other })).toMatchObject({
      verdict: 'differs',
      divergence: { where: 'tokens', replayed: expect.stringContaining('ERR_TOKEN_VERIFY') },
    });
    expect(await replayTurn(replaying, first, { keys: keyring })).toMatchObject({ verdict: 'same' });
  });

  const swap = (from: string, to: string) => (text: string) => text.replace(from, to);

  // What is changed, the part of the seal that shows it, and where the execution differs.
  const changes: readonly (readonly [what: string, path: string, value: unknown, part: string, where: string | null])[] = [
    ['a byte of OUTPUT', 'output', swap('a 1', 'a 2'), 'output', 'line 2 of OUTPUT'],
    ['a byte of SCRATCHPAD', 'scratchpad', '43\n', 'scratchpad', 'line 1 of SCRATCHPAD'],
    ['the result of a call', 'journal.1.outcome.value', 'b 9', 'journal.2', 'line 3 of OUTPUT'],
    ['the argument of a call', 'journal.0.args.0', 'z', 'journal.1', 'call 1: args'],
    ['the place of a call', 'journal.0.at.line', 9, 'journal.1', 'call 1: at'],
    ['a call that is missing', 'journal.2', undefined, 'journal.3', 'call 3'],
    ['the program', 'inputs.envelope', swap('helper(2)', 'helper(3)'), 'inputs.envelope', 'line 1 of SCRATCHPAD'],
    ['a global', 'inputs.scene.run.globals.shared.a', 2, 'inputs.scene', 'line 1 of OUTPUT'],
    ['the nonce', 'inputs.nonce', 'AAAAAAAAAAAAAAAAAAAAAA', 'inputs.nonce', 'tokens'],
    ['the clock', 'inputs.clock', [5], 'inputs.clock', 'tokens'],
    ['the fuel', 'usage.fuel', 1, 'usage', 'fuel'],
    ['the peak of memory, which a version may reach otherwise', 'usage.peakMemoryBytes', 1, 'usage', null],
    ['the decision', 'decision', 'DONE', 'decision', 'decision'],
    ['the time', 'latencyMs', 0.5, 'latencyMs', null],
    ['the time of a phase', 'phases.0.ms', 0.5, 'phases', null],
    ['the beginning of a call', 'journal.0.begin', 0.5, 'journal.1', null],
  ];

  it.each(changes)('one change is found and located: %s', async (_what, path, value, part, where) => {
    const [first] = copy(([record]) => record !== undefined && set(record, path, value));
    if (first === undefined) throw new Error('no record');
    const replay = await replayTurn(replaying, first);
    expect(replay.verdict).toBe('changed');
    expect(replay.faults.map((fault) => fault.part)).toEqual([part]);
    expect(replay.divergence?.where ?? null).toBe(where);
  });

  it('every single byte of a record counts', () => {
    const text = JSON.stringify(records[1]);
    const missed: number[] = [];
    for (let at = 0; at < text.length; at += 7) {
      const flipped = text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ 1) + text.slice(at + 1);
      let changed: unknown;
      try {
        changed = JSON.parse(flipped);
      } catch {
        continue;
      }
      if (JSON.stringify(changed) === text) continue;
      try {
        if (sealFaults(changed as TurnRecord, records[0]?.seal?.hash ?? null).length === 0) missed.push(at);
      } catch {
        // It is no record any more.
      }
    }
    expect(missed).toEqual([]);
  });

  it('a turn that is missing, moved, or taken off the end is told', async () => {
    const { head } = await session();
    const of = async (turns: readonly TurnRecord[]) => (await replaySession(replaying, { sid: 's', head, turns })).broken;
    expect(await of(copy((all) => void all.splice(1, 1)))).toEqual(['turn 2 is missing']);
    expect(await of(copy((all) => void all.pop()))).toEqual(['the record of turn 2 is not the last that was kept']);
    expect(await of([])).toEqual(['its turns are missing']);
    const mended = await replaySession(replaying, {
      sid: 's',
      head: null,
      turns: copy(([, second]) => second !== undefined && Object.assign(second, { seal: records[2]?.seal })),
    });
    expect(mended.turns[1]?.faults).toContainEqual({ part: 'seal', problem: 'moved' });
  });

  it.each([
    ['erased', null],
    ['erased', 'output'],
    ['erased', {}],
    ['attempts', null],
    ['attempts', [[]]],
    ['attempts', [{}]],
    ['attempts', [{ journal: 7 }]],
  ])('a record whose %s is %j is refused, because no seal can be made of it', (field, value) => {
    expect(() => readRecord(JSON.stringify({ ...records[0], [field]: value }))).toThrow(
      `a turn in the store cannot be read: ${field}`,
    );
  });

  it('a record of another version is refused, and the message says what to do', () => {
    expect(() => readRecord(JSON.stringify({ ...records[0], version: 2 }))).toThrow(
      'a turn in the store cannot be read: version: the record has version 2; this release of neuroscript-runtime reads version 1. Use the release that wrote it',
    );
  });
});

describe('a record from anybody', () => {
  it.each<readonly [string, string, unknown]>([
    ['fuel beyond all limits', 'inputs.limits.fuel', 1e300],
    ['no time limit', 'inputs.limits.wallMs', null],
    ['a source that is none', 'inputs.scene.run.sources', [{}]],
    ['a global that is no value', 'inputs.scene.run.globals.shared', { $num: 'one' }],
    ['labels that are none', 'inputs.scene.run.flow', { program: 1 }],
    ['a place to stop that is none', 'inputs.scene.run.stopAt', null],
    ['a call of no kind', 'journal.0.kind', 'system'],
    ['a result that is no value', 'journal.0.outcome.value', { $bytes: 7 }],
    ['a key of small order', 'inputs.scene.judged.keys.0.publicKey', 'A'.repeat(43)],
    ['a clock without numbers', 'inputs.clock', ['now']],
  ])('is not executed with %s', async (_what, path, value) => {
    const [first] = copy(([record]) => record !== undefined && set(record, path, value));
    if (first === undefined) throw new Error('no record');
    const record = resealed(first);
    expect(await replayTurn(replaying, record)).toMatchObject({ verdict: 'malformed', replayed: null });
    const session = await replaySession(replaying, { sid: record.sid, head: record.seal.hash, turns: [record] });
    expect([session.ok, session.broken]).toEqual([false, []]);
  });
});

describe('finding 15: a record brings no limits of its own', () => {
  it('the host’s time and memory hold, and the replay says what was missing', async () => {
    await using large = await createRuntime({
      policy: { allow: ['*'] },
      concurrency: 1,
      limits: { memoryBytes: 256 * 1024 ** 2 },
    });
    await using small = await createRuntime({ concurrency: 1, limits: { memoryBytes: 8 * 1024 ** 2 } });
    const own = new MemoryStore();
    const list = command(
      'set l = []',
      'set i = 0',
      'while i < 200000',
      "set l[i] = 'a text that takes some memory ' + i",
      'set i = i + 1',
      'endwhile',
      DONE,
    );
    const loop = new LoopController({ executor: runtimeExecutor(large), keyring, clock, store: own });
    expect(await loop.runLoop({ userdata: USERDATA, agent: { reply: async () => reply(list) }, sid: 'm' })).toMatchObject({
      decision: 'DONE',
    });
    const [record] = await own.turns('m');
    if (record === undefined) throw new Error('no record');
    expect(await replayTurn(large, record)).toMatchObject({ verdict: 'same' });
    expect(await replayTurn(small, record)).toMatchObject({
      verdict: 'incomplete',
      why: `it needs more than the limit memoryBytes of this host allows: ${8 * 1024 ** 2}, and it was recorded with ${256 * 1024 ** 2}`,
    });
  });

  it.each(Object.entries(TIGHT))('the host’s %s holds, because the host keeps what it counts', async (limit, allowed) => {
    await using small = await createRuntime({ concurrency: 1, limits: { [limit]: allowed } });
    const [record] = records;
    if (record === undefined) throw new Error('no record');
    const foreign = { ...record.inputs.limits, [limit]: 10_000_000 };
    const brought = resealed({ ...record, inputs: { ...record.inputs, limits: foreign } });
    expect(await replayTurn(replaying, brought)).toMatchObject({ verdict: 'same' });
    expect(await replayTurn(small, brought)).toMatchObject({
      verdict: 'incomplete',
      why: `it needs more than the limit ${limit} of this host allows: ${allowed}, and it was recorded with 10000000`,
    });
  });

  it('time of its own: a replay may take what the host allows, or ten seconds', () => {
    const host = { ...defaultLimits('turn'), cpuMs: 60_000, wallMs: 500 };
    const recorded = { ...host, cpuMs: 3_600_000, wallMs: 86_400_000 };
    expect(replayLimits(recorded, host)).toMatchObject({ cpuMs: 60_000, wallMs: 10_000 });
    expect(replayLimits({ ...recorded, cpuMs: 100 }, host)).toMatchObject({ cpuMs: 12_000 });
  });
});

describe('a file of sessions', () => {
  it('is replayed anywhere, and holds no secret', async () => {
    const text = JSON.stringify(exportFile([exportRecords(await session(), records)]));
    const [read] = readExport(text);
    if (read === undefined) throw new Error('no session');
    expect(await replaySession(replaying, read)).toMatchObject({ ok: true, turns: [{}, {}, {}] });
    expect(text).not.toMatch(/"(seed|secret|privateKey)"/);
  });

  it('without what the rules name; what is left still verifies', async () => {
    const rules = new Redaction({ tools: ['tool.t.*'], keys: ['subject'], values: ['secret-word'] });
    const text = JSON.stringify(exportFile([exportRecords(await session(), records, rules)]));
    expect(text).not.toContain('secret-word');
    expect(text).not.toContain('"subject":"test"');
    expect(text).not.toContain('\\"subject\\":\\"test\\"');
    const [read] = readExport(text);
    if (read === undefined) throw new Error('no session');
    const replay = await replaySession(replaying, read);
    expect(replay.ok).toBe(true);
    expect(replay.turns.map(({ verdict }) => verdict)).toEqual(['verified', 'verified', 'verified']);
    const forged = text.replace(/"decision":"CONTINUE"/, '"decision":"DONE"');
    const [bad] = readExport(forged);
    if (bad === undefined) throw new Error('no session');
    expect((await replaySession(replaying, bad)).turns[0]).toMatchObject({
      verdict: 'changed',
      divergence: { where: 'decision' },
    });
  });

  it('with a record that is none tells of it, and replays the others', async () => {
    const file = JSON.parse(JSON.stringify(exportFile([exportRecords(await session(), records)])));
    file.sessions[0].turns[1].decision = 5;
    const [read] = readExport(JSON.stringify(file));
    if (read === undefined) throw new Error('no session');
    expect(await replaySession(replaying, read)).toMatchObject({
      ok: false,
      broken: [expect.stringContaining('turn 2 of session "s" in the file cannot be read: decision: ')],
      turns: [
        { turn: 1, verdict: 'same' },
        { turn: 3, verdict: 'same' },
      ],
    });
  });

  it('says nothing of a turn as missing that is there and cannot be read', async () => {
    const head = (await session()).head;
    const of = async (kept: readonly number[], lost: readonly number[]) => {
      const turns = copy().filter(({ turn }) => kept.includes(turn));
      const damaged = new Map(lost.map((turn) => [turn, `turn ${turn} is damaged`]));
      return (await replaySession(replaying, { sid: 's', head, turns, damaged })).broken;
    };
    expect(await of([1, 2], [3])).toEqual(['turn 3 is damaged']);
    expect(await of([3], [1, 2])).toEqual(['turn 1 is damaged', 'turn 2 is damaged']);
    expect(await of([3], [1])).toEqual(['turn 1 is damaged', 'turn 2 is missing']);
    // What would be the last is damaged: nobody knows where the session ended.
    expect(await of([1], [2])).toEqual(['turn 2 is damaged']);
    expect(await of([1, 2], [])).toEqual(['the record of turn 2 is not the last that was kept']);
    expect(await of([], [1, 2, 3])).toEqual(['turn 1 is damaged', 'turn 2 is damaged', 'turn 3 is damaged']);
  });

  it.each([
    ['{', 'it is not JSON'],
    ['{}', 'it is not a file of sessions: format'],
    ['{"format":"neuroscript-sessions","version":2,"sessions":[]}', 'the file has version 2'],
  ])('anything else is refused: %s', (text, message) => {
    expect(() => readExport(text)).toThrow(
      expect.objectContaining({ code: 'ERR_EXPORT', message: expect.stringContaining(message) }),
    );
  });
});

describe('what if', () => {
  const tried = async (changes: Omit<Parameters<typeof tryOut>[2], 'fromTurn'> & { readonly fromTurn?: number }) =>
    tryOut(replaying, { sid: 's', head: null, turns: records }, { fromTurn: 1, ...changes });

  it('nothing is changed: nothing differs, fuel included, and later turns run on what was said', async () => {
    expect((await tried({})).turns.map(({ turn, differences, unanswered }) => ({ turn, differences, unanswered }))).toEqual(
      [1, 2, 3].map((turn) => ({ turn, differences: [], unanswered: [] })),
    );
  });

  it('a call, by its id or for all calls of a tool, gives something else, or fails', async () => {
    const one = await tried({ answers: new Map([['1.2', { result: 'other' }]]) });
    expect(one.turns[0]?.differences).toContainEqual({ where: 'line 3 of OUTPUT', recorded: 'b 2', replayed: 'other' });
    expect(one.turns[0]?.tried.output).toContain('a 1');
    const all = await tried({ answers: new Map([['tool.t.GET', { error: { code: 9, message: 'gone' } }]]) });
    expect(all).toMatchObject({ turns: [{ tried: { error: { code: 'NS9' } } }], end: 'turn 1 ended with HALT' });
  });

  it('another program, policy or limit; nothing answers what was never asked', async () => {
    const program = command("emit tool.t.Get('b')", "emit tool.t.Put('x')", DONE);
    expect(await tried({ program })).toMatchObject({
      turns: [{ tried: { output: 'b 2\n', error: { code: 'NS21' } }, unanswered: ['1.2 tool.t.put'] }],
    });
    expect(await tried({ fromTurn: 2, policy: new Policy({ allow: [] }) })).toMatchObject({
      turns: [{ turn: 2, tried: { reason: 'ERR_POLICY' } }],
    });
    expect(await tried({ fromTurn: 3, limits: { fuel: 20 } })).toMatchObject({
      turns: [{ turn: 3, tried: { reason: 'ERR_QUOTA' } }],
    });
    await expect(tried({ fromTurn: 4 })).rejects.toMatchObject({ code: 'ERR_CONFIG' });
  });

  it('tools that are there answer what the record does not', async () => {
    const program = command("emit tool.t.Put('x')", DONE);
    const live = await tryOut(recording, { sid: 's', head: null, turns: records }, { fromTurn: 3, program });
    expect(live.turns[0]).toMatchObject({
      unanswered: [],
      tried: { decision: 'DONE', output: expect.stringMatching(/^true\n/) },
    });
    expect((await store.turns('s')).length).toBe(3);
  });

  it.each<readonly [string, string, unknown]>([
    ['limits that no host could have had', 'inputs.limits.cpuMs', 1e12],
    ['no clock', 'inputs.clock', null],
    ['a nonce that is none', 'inputs.nonce', 'short'],
    ['policies that are none', 'inputs.scene.host.policies', 5],
    ['keys that are none', 'inputs.scene.judged.keys', [null]],
  ])('a record from anybody with %s is refused before anything is executed', async (_what, path, value) => {
    const turns = copy(([record]) => record !== undefined && set(record, path, value));
    await expect(tryOut(recording, { sid: 's', head: null, turns }, { fromTurn: 1 })).rejects.toMatchObject({
      code: 'ERR_CONFIG',
      message: expect.stringContaining('cannot be executed: it is malformed'),
    });
  });
});
