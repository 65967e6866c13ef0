import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { decodeToken, parseEnvelope } from '../../src/aeiou/index.ts';
import { randomIds } from '../../src/loop/ids.ts';
import type { RuntimeOptions } from '../../src/runtime/index.ts';
import { Sandbox } from '../../src/sandbox/index.ts';
import { type AuditRecord, defineTool, type SessionAccess, SessionStorage } from '../../src/tools/index.ts';
import { CONTINUE, command, DONE, openStage, type Stage } from './sessions.ts';

/** What the tools below keep, per session; `Peek` reaches across, where the host allows it to `admin`. */
const crossings: SessionAccess[] = [];
const storage = new SessionStorage<string>({
  allow: ({ sessionId }) => sessionId === 'admin',
  audit: (access) => crossings.push(access),
});
const key = { name: 'key', type: 'string' } as const;
const sid = { name: 'sid', type: 'string' } as const;
const tools = [
  defineTool({
    name: 'tool.kv.Put',
    args: [key, { name: 'value', type: 'string' }],
    run: (given, { turn }) => void storage.own(turn).set(given.key, given.value),
  }),
  defineTool({
    name: 'tool.kv.Get',
    args: [key, { ...sid, required: false }],
    run: (given, { turn }) => storage.own(turn).get(given.key) ?? null,
  }),
  defineTool({
    name: 'tool.kv.Peek',
    args: [sid, key],
    run: (given, { turn }) => storage.of(turn, given.sid).get(given.key) ?? null,
  }),
  // One of them: each line costs fuel.
  defineTool({ name: 'tool.look.Worker', run: () => childCommands().find((line) => line.includes(' --permission ')) ?? null }),
  defineTool({ name: 'tool.other.Fetch', capabilities: ['session:read'], run: () => 'of another session' }),
];
const audit: AuditRecord[] = [];

/** The command lines of the children of this process. One that ends meanwhile has none. */
function childCommands(): string[] {
  const read = (path: string): string => {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      return '';
    }
  };
  return readdirSync('/proc/self/task').flatMap((task) =>
    (read(`/proc/self/task/${task}/children`).match(/\d+/g) ?? []).map((pid) =>
      read(`/proc/${pid}/cmdline`).replaceAll('\0', ' '),
    ),
  );
}

const OPTIONS: RuntimeOptions = {
  tools,
  policy: { allow: ['tool.kv.*', 'tool.look.*', 'tool.other.*'] },
  audit: (record) => audit.push(record),
};
let stage: Stage;
beforeAll(async () => {
  stage = await openStage(OPTIONS);
});
afterAll(() => stage[Symbol.asyncDispose]());

const envelopeOf = (prompt: string | undefined) => parseEnvelope(new TextEncoder().encode(prompt));

describe('the interpreter of a turn', () => {
  it('AL3-2-6: starts in a worker of the sandbox, under the quotas of its turn', async () => {
    await using stage = await openStage({ ...OPTIONS, launcher: 'none' });
    using starts = vi.spyOn(Sandbox.prototype, 'run');
    const endless = command('while true', '  set x = 1', 'endwhile', DONE);
    const { result } = await stage.play([command('emit tool.look.Worker()', CONTINUE), endless], {
      limits: { fuel: 5000, wallMs: 80_000_000 },
    });
    const [first, second] = result.turns;
    const host = (await stage.play([command(DONE)])).result.turns[0]?.inputs.limits;
    expect(host).toMatchObject({ fuel: 100_000_000, outputBytes: 524_288 });
    expect(starts.mock.calls.map(([{ limits, turn }]) => ({ limits, turn }))).toEqual(
      [5000, 5000, 100_000_000].map((fuel) => ({ limits: { ...host, fuel }, turn: true })),
    );
    expect(first?.output).toMatch(/ --permission .*\bworker\.c?js .*\bguest\.js /);
    expect(second).toMatchObject({ reason: 'ERR_QUOTA', usage: { fuel: 5000 }, error: { limit: 'fuel', allowed: 5000 } });
  });
});

describe('control', () => {
  it.each([
    ['continue', 'CONTINUE'],
    ['done', 'DONE'],
    ['abort', 'ABORT'],
  ])('A3-5.1-1: what the magic tool mints for %s and the program emits is verified and decides %s', async (action, decision) => {
    const { result } = await stage.play([command(`emit tool.aeiou.magic("LOOP", {"action": "${action}"})`)]);
    const [turn] = result.turns;
    const decoded = decodeToken(turn?.output.trimEnd() ?? '');
    expect(decoded).toMatchObject({ ok: true, token: { payload: { payload: { action }, kid: 'real-primary', jti: turn?.jti } } });
    expect(turn).toMatchObject({ decision, reason: null, candidates: [{ line: 1, ok: true }], lints: [] });
  });

  it('A3-6.3-9 A3-8-7: every turn has a nonce of 128 random bits of its own, and its token carries it', async () => {
    const say = Array.from({ length: 6 }, (_, n) => command(`emit "${n}"`, CONTINUE));
    const played = [await stage.play(say, {}, { ids: randomIds }), await stage.play(say, {}, { ids: randomIds })];
    const turns = played.flatMap(({ result }) => result.turns);
    expect(turns).toHaveLength(12);
    const nonces = turns.map(({ inputs }) => inputs.nonce);
    expect(new Set(nonces).size).toBe(12);
    for (const [i, nonce] of nonces.entries()) {
      expect(nonce).toMatch(/^[A-Za-z0-9_-]{22}$/);
      expect(Buffer.from(nonce, 'base64url')).toHaveLength(16);
      const token = decodeToken(turns[i]?.output.split('\n')[1] ?? '');
      expect(token).toMatchObject({ token: { payload: { turn_nonce: nonce, turn_index: turns[i]?.turn } } });
    }
    // 192 bytes: a byte that stands still, or a bit that is never set, would show.
    const bytes = Buffer.concat(nonces.map((nonce) => Buffer.from(nonce, 'base64url')));
    expect(bytes.reduce((or, byte) => or | byte, 0)).toBe(0xff);
    expect(bytes.reduce((and, byte) => and & byte, 0xff)).toBe(0);
  });
});

describe('streams in the next envelope', () => {
  it.each([
    ['both', ['emit "said"', 'whisper self, "noted"'], /^said\n<<<NSMAG/, 'noted'],
    ['emits alone', ['emit "said"'], /^said\n<<<NSMAG/, null],
    ['whispers of an empty text alone', ['whisper self, ""'], /^<<<NSMAG/, ''],
    ['nothing but the token', [], /^<<<NSMAG/, null],
  ])(
    'A3-4-5: %s: what was said is copied without its final line feed, and a stream that was not used has no section',
    async (_, lines, output, scratchpad) => {
      const { prompts } = await stage.play([command(...lines, CONTINUE), command(DONE)]);
      const [first, second] = prompts.map(envelopeOf);
      expect(first).toMatchObject({ output: null, scratchpad: null });
      expect(second?.output).toMatch(output);
      expect(second?.output).not.toMatch(/\n$/);
      expect(second?.scratchpad).toBe(scratchpad);
      expect(prompts[1]?.includes('<<<NSENV:V3:SCRATCHPAD>>>')).toBe(scratchpad !== null);
    },
  );

  it('A3-4-5: what was said two turns ago is gone', async () => {
    const { prompts } = await stage.play([
      command('whisper self, "old"', CONTINUE),
      command('emit "x"', CONTINUE),
      command(DONE),
    ]);
    expect(prompts.map((prompt) => envelopeOf(prompt).scratchpad)).toEqual([null, 'old', null]);
  });
});

describe('storage', () => {
  it('A3-11.1-5 AL3-7-6: what a program keeps through a tool is there in its next turn and in no other session', async () => {
    const keep = await stage.play([command('call tool.kv.Put("k", "of A")', CONTINUE), command('emit tool.kv.Get("k")', DONE)], {
      sid: 'A',
    });
    expect(keep.result.output).toBe('of A');
    const look = await stage.play([command('emit is_nil(tool.kv.Get("k"))', 'emit is_nil(tool.kv.Get("k", "A"))', DONE)], {
      sid: 'B',
    });
    expect(look.result.output).toBe('true\ntrue');
  });

  it('A3-11.1-5: a variable of a program is no storage: it ends with the turn', async () => {
    const { result } = await stage.play([command('set kept = "x"', CONTINUE), command('emit is_nil(kept)', DONE)]);
    expect(result.output).toBe('true');
  });

  it('A3-11.2-3 AL3-3-4: reaching into another session is denied and recorded, and the program can go on', async () => {
    crossings.length = 0;
    audit.length = 0;
    await stage.play([command('call tool.kv.Put("k", "secret")', DONE)], { sid: 'victim' });
    const { result } = await stage.play(
      [command('on error do', '  emit system_error["code"]', '  clear_error', 'endon', 'emit tool.kv.Peek("victim", "k")', DONE)],
      { sid: 'thief' },
    );
    expect(result.output).not.toContain('secret');
    expect(result.output).toMatch(/^1003/);
    expect(crossings).toEqual([{ sessionId: 'thief', turnIndex: 1, target: 'victim', allowed: false }]);
    const record = audit.find(({ tool }) => tool === 'tool.kv.peek');
    expect(record).toMatchObject({ sessionId: 'thief', turnIndex: 1, args: ['victim', 'k'], outcome: { ok: false, code: 1003 } });
  });

  it('A3-11.2-3 AL3-3-4: the host may allow it to a session by name, and that is recorded as well', async () => {
    crossings.length = 0;
    audit.length = 0;
    await stage.play([command('call tool.kv.Put("k", "shared")', DONE)], { sid: 'source' });
    const { result } = await stage.play([command('emit tool.kv.Peek("source", "k")', DONE)], { sid: 'admin' });
    expect(result.output).toBe('shared');
    expect(crossings).toEqual([{ sessionId: 'admin', turnIndex: 1, target: 'source', allowed: true }]);
    expect(audit.find(({ tool }) => tool === 'tool.kv.peek')).toMatchObject({
      sessionId: 'admin',
      turnIndex: 1,
      args: ['source', 'k'],
      outcome: { ok: true, value: 'shared' },
    });
  });

  it('A3-11.2-3: a tool that needs a capability for it is denied before anything runs, unless the policy grants it', async () => {
    const program = command('emit "started"', 'emit tool.other.Fetch()', DONE);
    const denied = await stage.play([program]);
    expect(denied.result).toMatchObject({ decision: 'HALT', reason: 'ERR_POLICY', turns: [{ output: '' }] });
    await using granting = await openStage({ tools, policy: { allow: ['tool.other.*'], grants: ['session:read'] } });
    expect((await granting.play([program])).result).toMatchObject({ decision: 'DONE', output: 'started\nof another session' });
  });
});

describe('effects', () => {
  it('AL3-7-5: all that a program did outside of itself is a tool call, in the record and in the audit', async () => {
    audit.length = 0;
    const { result } = await stage.play([
      command(
        'set l = [3, 1, 2]',
        'set m = {"a": l, "b": {"c": "d"}}',
        'for each x in l',
        '  set m[x + ""] = x * 2',
        'endfor',
        'while len(l) < 5',
        '  set l = l + [len(l)]',
        'endwhile',
        'on error do',
        '  whisper self, system_error["code"]',
        '  clear_error',
        'endon',
        'call tool.kv.Put("k", "v")',
        'emit tool.kv.Get("k")',
        'emit typeof(m) + len(l)',
        DONE,
      ),
    ]);
    const [turn] = result.turns;
    expect(turn).toMatchObject({ decision: 'DONE', error: null });
    const calls = ['tool.kv.put', 'tool.kv.get', 'tool.aeiou.magic'];
    expect(turn?.journal.map((entry) => (entry.kind === 'tool' ? entry.name : entry.kind))).toEqual(calls);
    expect(audit.map(({ tool }) => tool)).toEqual(calls);
    expect(turn?.usage.toolCalls).toBe(3);
  });

  it.each([
    'open("/etc/passwd")',
    'read_file("/etc/passwd")',
    'fetch("http://127.0.0.1/")',
    'require("fs")',
    'import("fs")',
    'exec("id")',
    'env("HOME")',
    'now()',
    'random()',
    'eval("1 + 1")',
  ])('AL3-7-5: %s reaches nothing: no call, nothing but an error or a text comes of it', async (expression) => {
    const { result } = await stage.play([
      command('on error do', '  emit "refused"', '  clear_error', 'endon', `emit ${expression}`, DONE),
    ]);
    const [turn] = result.turns;
    expect(turn?.journal.filter((entry) => entry.kind !== 'tool' || entry.name !== 'tool.aeiou.magic')).toEqual([]);
    if (turn?.reason === null) expect(result.output).toBe(expression.startsWith('eval') ? '1 + 1' : 'refused');
    else expect(turn?.reason).toBe('ERR_ACTIONS_INVALID');
  });
});
