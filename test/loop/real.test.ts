import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  defaultCrypto,
  generateKeys,
  keyringFrom,
  type MintInput,
  mintToken,
  NO_PROGRESS_YET,
  ReplayCache,
} from '../../src/aeiou/index.ts';
import type { Agent } from '../../src/loop/agents/agent.ts';
import { fixedClock } from '../../src/loop/clock.ts';
import { LoopController } from '../../src/loop/controller.ts';
import { seededIds } from '../../src/loop/ids.ts';
import type { LoopResult } from '../../src/loop/result.ts';
import { runtimeExecutor } from '../../src/loop/turn/executor.ts';
import { readTurn } from '../../src/loop/turn/input.ts';
import { runTurn } from '../../src/loop/turn/turn.ts';
import { createRuntime, type Runtime } from '../../src/runtime/index.ts';
import type { LimitOptions } from '../../src/sandbox/limits.ts';
import { defineTool } from '../../src/tools/index.ts';
import { pureTools } from '../../stdlib-tools/index.ts';
import { newKeyring } from '../aeiou/kit.ts';
import { hostTools } from '../docs/stdlibpage.ts';
import { ALL } from '../stdlib-tools/call.ts';
import { reply, USERDATA } from './fake.ts';

const NOW = 1_725_012_345;
const clock = fixedClock(NOW);
const keyring = newKeyring('real', clock);
const ids = seededIds('real');

let seen: { readonly sid: string | null; readonly turn: number | null; readonly given: unknown }[] = [];
/** The call that a tool makes when its turn is over. */
const lateCall = Promise.withResolvers<unknown>();
/** Called when a program calls the tool that never answers. */
let neverCalled = (): void => {};
const tools = [
  defineTool({
    name: 'tool.probe.Where',
    args: [{ name: 'sid', type: 'any', required: false }],
    run: ({ sid }, { turn }) => {
      seen.push({ sid: turn.sessionId, turn: turn.turnIndex, given: sid });
      return `${turn.sessionId}/${turn.turnIndex}`;
    },
  }),
  defineTool({
    name: 'tool.probe.Never',
    run: () => {
      neverCalled();
      return new Promise(() => {});
    },
  }),
  defineTool({
    name: 'tool.probe.Late',
    run: async (_, runtime) => {
      await once(runtime.signal, 'abort');
      lateCall.resolve(await runtime.callTool('tool.probe.Where', []).catch((error: unknown) => error));
    },
  }),
  defineTool({ name: 'tool.probe.Denied', run: () => 'must not run' }),
  defineTool({ name: 'tool.probe.Open', run: (_, { handles }) => handles.create('probe', {}) }),
  defineTool({
    name: 'tool.probe.Use',
    args: [{ name: 'handle', type: 'handle' }],
    run: ({ handle }, { handles }) => typeof handles.get(handle as never, 'probe'),
  }),
];

let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({ tools, policy: { allow: ['tool.probe.*'], deny: ['tool.probe.denied'] }, concurrency: 1 });
});
afterAll(() => runtime.close());

let sessions = 0;
/** Runs a session of the real host, with one program per turn. */
async function session(
  programs: readonly string[],
  options: { readonly limits?: LimitOptions; readonly sid?: string } = {},
): Promise<LoopResult> {
  const loop = new LoopController({ executor: runtimeExecutor(runtime), keyring, clock, ids });
  const agent: Agent = { reply: async ({ turn }) => reply(programs[turn - 1] ?? 'command\nendcommand') };
  sessions += 1;
  return loop.runLoop({ userdata: USERDATA, agent, sid: `real-${sessions}`, maxTurns: programs.length, ...options });
}

/** An argument of each type. */
const LITERALS: Readonly<Record<string, string>> = {
  any: '"a"',
  string: '"a"',
  int: '1',
  float: '0.01',
  number: '0.01',
  bool: 'true',
  list: '[1]',
  map: '{"a": 1}',
  slice: '[1]',
  slice_any: '[1]',
  slice_string: '["a"]',
  slice_int: '[1]',
  slice_float: '[1]',
  slice_bool: '[true]',
  slice_map: '[{"a": 1}]',
};

const command = (...lines: readonly string[]): string =>
  ['command', ...lines.map((line) => `  ${line}`), 'endcommand'].join('\n');
const DONE = 'emit tool.aeiou.magic("LOOP", {"action": "done"})';
const CONTINUE = 'emit tool.aeiou.magic("LOOP", {"action": "continue"})';

describe('tokens that a program wrote by hand', () => {
  /** A token that this host's own key signed for turn 1 of a session, but for the fields given. */
  async function handmade(sid: string, fields: Partial<MintInput> = {}, keys = keyring): Promise<string> {
    const signer = keys.signer('primary');
    if (signer === null) throw new Error('no signer');
    const own = { sessionId: sid, turnIndex: 1, turnNonce: ids.nonce(sid, 1), jti: 'id-1', issuedAt: NOW, ttl: 120 };
    return mintToken({ ...own, payload: { action: 'done' }, ...fields }, signer);
  }

  it('a correctly signed one of this very turn verifies: the others fail for their one defect', async () => {
    expect(await session([command(`emit '${await handmade('h-0')}'`)], { sid: 'h-0' })).toMatchObject({ decision: 'DONE' });
  });

  it.each([
    ['AL3-8-8 A3-1.1-3: forged with another key', 'ERR_TOKEN_VERIFY', {}, newKeyring('real', clock)],
    ['AL3-8-9: of another session', 'ERR_TOKEN_SCOPE', { sessionId: 'other' }, keyring],
    ['AL3-8-9: of another turn', 'ERR_TOKEN_SCOPE', { turnIndex: 2 }, keyring],
    ['AL3-8-10: expired', 'ERR_TOKEN_TTL', { issuedAt: NOW - 121 }, keyring],
  ] as const)('%s halts with %s', async (name, reason, fields, keys) => {
    const sid = `h-${name.length}-${reason}`;
    const result = await session([command('emit "before"', `emit '${await handmade(sid, fields, keys)}'`)], { sid });
    expect(result).toMatchObject({ decision: 'HALT', reason, turns: [{ verificationFailureReason: reason }] });
  });

  it('AL3-8-11: replayed: the second of two is rejected, and alone it would halt with ERR_TOKEN_REPLAY', async () => {
    const twice = await session([command('set t = tool.aeiou.magic("LOOP", {"action": "done"})', 'emit t', 'emit t')]);
    expect(twice.turns[0]?.candidates.map(({ code }) => code)).toEqual([null, 'ERR_TOKEN_REPLAY']);
    const sid = 'h-replay';
    const continued = await handmade(sid, { jti: 'used', payload: { action: 'continue' } });
    const again = await handmade(sid, { jti: 'used', turnIndex: 2, turnNonce: ids.nonce(sid, 2) });
    const result = await session([command(`emit '${continued}'`), command('emit "x"', `emit '${again}'`)], { sid });
    expect(result).toMatchObject({ decision: 'HALT', reason: 'ERR_TOKEN_REPLAY' });
  });

  it('A3-8-7 AL3-8-9: the token of the turn before, emitted again, is out of scope', async () => {
    const sid = 'h-old';
    const old = await handmade(sid, { payload: { action: 'continue' } });
    const result = await session([command(`emit '${old}'`), command('emit "again"', `emit '${old}'`)], { sid });
    expect(result).toMatchObject({ decision: 'HALT', reason: 'ERR_TOKEN_SCOPE' });
    expect(result.turns).toHaveLength(2);
  });

  it('AL3-8-12 A3-1.2-2: prose and other signals are no tokens', async () => {
    const result = await session([command('emit "[[loop:done]]"', `emit '{"loop":"done"}'`, 'emit "please continue"')]);
    expect(result).toMatchObject({ decision: 'HALT', reason: 'ERR_TOKEN_MISSING' });
  });
});

describe('a record', () => {
  it('A3-2-7 A3-1.1-2: is all that it takes to execute the turn again, with the same bytes and the same decision', async () => {
    const work = command('emit "at " + tool.probe.Where()', 'whisper self, userdata', CONTINUE, 'emit tool.probe.Where() + "!"');
    const [recorded] = (await session([work], { sid: 'again' })).turns;
    if (recorded === undefined) throw new Error('nothing was recorded');
    const readings = [recorded.startedAt, ...recorded.inputs.clock];
    // The magic tool is not answered from the journal: it mints again, and must mint the same.
    const results = recorded.journal.flatMap((entry) =>
      entry.kind === 'tool' && entry.name === 'tool.probe.where' && entry.outcome.ok ? [entry.outcome.value] : [],
    );
    const replayed = defineTool({ name: 'tool.probe.Where', run: () => results.shift() });
    await using other = await createRuntime({
      tools: [replayed],
      policy: { allow: ['*'] },
      limits: recorded.inputs.limits,
      concurrency: 1,
    });
    const { record } = await runTurn(
      {
        executor: runtimeExecutor(other),
        keyring,
        clock: { now: () => readings.shift() ?? 0, monotonic: () => 0 },
        ids: {
          session: () => '',
          nonce: () => recorded.inputs.nonce,
          jti: (_sid, _turn, mint) => recorded.inputs.jtis[mint] ?? '',
        },
        replay: new ReplayCache({ clock }),
      },
      { sid: 'again', turn: 1, input: readTurn(new TextEncoder().encode(recorded.inputs.envelope)), progress: NO_PROGRESS_YET },
    );
    const { output, scratchpad, decision, jti, lints, candidates, digest } = recorded;
    expect(record).toMatchObject({ output, scratchpad, decision, jti, lints, candidates, digest });
    expect(output).toContain('again/1');
  });
});

describe('turns in real sandboxes', () => {
  it('AL3-1-2 A3-2-4: nothing of a turn is left in the next', async () => {
    const result = await session([
      command('set kept = 1', 'emit "one"', CONTINUE),
      command('emit "kept is " + kept', 'emit is_nil(kept)', DONE),
    ]);
    expect(result).toMatchObject({ decision: 'DONE', output: 'kept is \ntrue' });
    const handled = command('on error do', '  clear_error', 'endon', CONTINUE, 'must false');
    expect(await session([handled, command('must false')])).toMatchObject({ reason: 'ERR_EXEC', turns: [{ error: null }, {}] });
  });

  it('AL3-1-2 A3-2-4: nor a handle that it opened, or what looks like one', async () => {
    const open = command('set h = tool.probe.Open()', 'emit h', 'emit tool.probe.Use(h)', CONTINUE);
    const look = command(
      'on error do',
      '  emit system_error["code"]',
      '  clear_error',
      'endon',
      'emit is_nil(h)',
      'emit tool.probe.Use(h)',
      'emit tool.probe.Use("<handle probe>")',
      'emit tool.probe.Use({"$handle": "probe"})',
      DONE,
    );
    const { decision, turns } = await session([open, look]);
    expect(decision).toBe('DONE');
    expect(turns.map(({ output }) => output.split('\n').slice(0, -2))).toEqual([
      ['<handle probe>', 'object'],
      ['true', '4', '4', '4'],
    ]);
  });

  it('A3-1.1-3: what the tool returned is enough for every decision a program may ask for', async () => {
    const ask = (action: string) => session([command(`emit tool.aeiou.magic("LOOP", {"action": "${action}"})`)]);
    expect((await ask('continue')).turns[0]?.decision).toBe('CONTINUE');
    expect((await ask('done')).decision).toBe('DONE');
    expect((await ask('abort')).decision).toBe('ABORT');
  });

  it('A3-1.2-1: no tool decides by being called: not even the magic tool, unless its token is emitted', async () => {
    const calls = [
      'tool.probe.Where()',
      ...['continue', 'done', 'abort'].map((action) => `tool.aeiou.magic("LOOP", {"action": "${action}"})`),
    ];
    for (const call of calls)
      expect(await session([command(`set kept = ${call}`)])).toMatchObject({ decision: 'HALT', reason: 'ERR_TOKEN_MISSING' });
  });

  it('A3-1.2-1: nor any standard tool, with arguments that it takes', async () => {
    const standard = hostTools();
    await using all = await createRuntime({
      tools: [...pureTools(), ...standard],
      policy: { ...ALL, context: 'config' },
      limits: { fuel: 1e7, toolCalls: 1000, wallMs: 60_000 },
      concurrency: 1,
    });
    const calls = [...pureTools(), ...standard].map(
      ({ name, parameters }) =>
        `call ${name}(${parameters.map(({ kind }) => LITERALS['type' in kind ? kind.type : 'any'] ?? 'nil').join(', ')})`,
    );
    const loop = new LoopController({ executor: runtimeExecutor(all), keyring, clock, ids });
    const program = command('on error do', '  clear_error', 'endon', ...calls, 'emit "all were called"');
    const agent: Agent = { reply: async () => reply(program) };
    const result = await loop.runLoop({ userdata: USERDATA, agent, sid: 'standard' });
    expect(result).toMatchObject({ decision: 'HALT', reason: 'ERR_TOKEN_MISSING', output: 'all were called' });
    const called = result.turns.flatMap(({ journal }) => journal.flatMap((entry) => (entry.kind === 'tool' ? [entry] : [])));
    expect(called.map(({ name }) => name)).toEqual(standard.map(({ canonicalName }) => canonicalName));
    // A call that is refused for its arguments would prove nothing.
    expect(called.filter(({ outcome }) => outcome.ok).length).toBeGreaterThan(called.length / 3);
  });

  it('A3-6.1-4: a program catches the error of a magic tool whose signers are all down, with its code', async () => {
    const ed25519Signer = () => (): never => {
      throw new Error('key service down');
    };
    const keys = keyringFrom(generateKeys('down'), { clock, crypto: { ...defaultCrypto, ed25519Signer } });
    const loop = new LoopController({ executor: runtimeExecutor(runtime), keyring: keys, clock, ids });
    const program = command('on error do', '  emit "caught " + system_error["code"]', '  clear_error', 'endon', DONE);
    const result = await loop.runLoop({ userdata: USERDATA, agent: { reply: async () => reply(program) }, sid: 'down' });
    expect(result).toMatchObject({ decision: 'HALT', reason: 'ERR_MAGIC_TOOL_INTERNAL', turns: [{ output: 'caught 6\n' }] });
  });

  it('AL3-3-3: tools take session and turn from the context, never from an argument', async () => {
    seen = [];
    await session([command('call tool.probe.Where("forged")', CONTINUE), command('call tool.probe.Where("forged")', DONE)], {
      sid: 'ctx',
    });
    expect(seen).toEqual([
      { sid: 'ctx', turn: 1, given: 'forged' },
      { sid: 'ctx', turn: 2, given: 'forged' },
    ]);
  });

  it('AL3-4-2 AL3-4-3 A3-4-1 A3-4-3: emits are OUTPUT, whispers SCRATCHPAD, line by line', async () => {
    const { turns } = await session([command('emit "a"', 'whisper self, "n"', 'emit "b\\nc"', 'whisper "other", "m"', DONE)]);
    expect(turns[0]?.output).toMatch(/^a\nb\nc\n<<<NSMAG/);
    expect(turns[0]).toMatchObject({ scratchpad: 'n\nm\n', whispers: [{ text: 'n' }, { to: 'other', text: 'm' }] });
  });

  it('A3-3.3-1 A3-3.3-2: the program reads the host’s USERDATA, and cannot change it for anyone', async () => {
    const change = command('set userdata["subject"] = "changed"', DONE);
    const { turns } = await session([command('emit userdata["subject"]', CONTINUE), change]);
    expect(turns[0]?.output).toMatch(/^test\n/);
    expect(turns[1]).toMatchObject({ decision: 'HALT', reason: 'ERR_EXEC', error: { code: 'NS43' } });
  });

  it.each([
    ['no command block', '# nothing'],
    ['two command blocks', `${command('emit 1')}\n${command('emit 2')}`],
    ['a definition beside it', `func f() means\n  emit 1\nendfunc\n${command('emit 1')}`],
    ['trailing text', `${command('emit 1')}\nand so on`],
    ['a syntax error', command('emit 1 +')],
  ])('AL3-4-1 A3-3.3-8: ACTIONS with %s is rejected before anything runs', async (_, text) => {
    const { turns } = await session([text]);
    expect(turns[0]).toMatchObject({
      decision: 'HALT',
      reason: 'ERR_ACTIONS_INVALID',
      output: '',
      usage: { fuel: 0 },
      error: { code: 'NS15' },
    });
  });

  it('A3-11.2-1: a tool that the policy denies halts before anything runs, also where it would not be reached', async () => {
    const { turns } = await session([command('emit "started"', 'if false', '  call tool.probe.Denied()', 'endif', DONE)]);
    expect(turns[0]).toMatchObject({ decision: 'HALT', reason: 'ERR_POLICY', output: '', error: { code: 'NS1003' } });
  });

  it.each([
    ['AL3-8-15 AL3-7-2: endless work', 'ERR_QUOTA', { fuel: 10_000 }, ['while true', '  set x = 1', 'endwhile']],
    ['AL3-7-2: CPU time', 'ERR_QUOTA', { cpuMs: 30 }, ['while true', '  set x = 1', 'endwhile']],
    [
      'AL3-7-3: memory',
      'ERR_QUOTA',
      { memoryBytes: 4 * 1024 * 1024 },
      ['set s = "x"', 'while true', '  set s = s + s', 'endwhile'],
    ],
    ['AL3-8-14 AL3-7-1: a tool that never answers', 'ERR_TIMEOUT', { wallMs: 100 }, ['call tool.probe.Never()']],
    ['A3-3.4-7: a line over 8192 bytes', 'ERR_ENV_SIZE', {}, ['emit "x" * 8193']],
    ['too much output', 'ERR_ENV_SIZE', {}, ['while true', '  emit "x" * 8000', 'endwhile']],
    ['an uncaught error', 'ERR_EXEC', {}, ['must false']],
  ] as const)('%s halts with %s, and the token emitted before is not honoured', async (_, reason, limits, lines) => {
    const result = await session([command(CONTINUE, ...lines)], { limits });
    expect(result).toMatchObject({ decision: 'HALT', reason, turns: [{ candidates: [], digest: null }] });
    expect((await session([command(DONE)])).decision).toBe('DONE');
  });

  it('AL3-7-1: when its time is over, no tool of the turn calls another', async () => {
    seen = [];
    const { reason } = await session([command('call tool.probe.Late()', DONE)], { limits: { wallMs: 100 } });
    expect(reason).toBe('ERR_TIMEOUT');
    expect(await lateCall.promise).toMatchObject({ code: 'ERR_TURN_CLOSED' });
    expect(seen).toEqual([]);
  });

  it('a line of exactly 8192 bytes is fine', async () => {
    expect(await session([command('emit "x" * 8192', DONE)])).toMatchObject({ decision: 'DONE' });
  });

  it('AL3-6-3: three equal turns in a row halt', async () => {
    const stuck = command('emit "stuck"', CONTINUE);
    expect(await session([stuck, stuck, stuck, stuck])).toMatchObject({ reason: 'ERR_NO_PROGRESS', turns: { length: 3 } });
  });

  it('AL3-3-2 A3-2-3: two sessions are in their turns at the same time', async () => {
    const barrier = Promise.withResolvers<string>();
    let waiting = 0;
    const meet = defineTool({
      name: 'tool.probe.Meet',
      run: () => {
        waiting += 1;
        if (waiting === 2) barrier.resolve('met');
        return barrier.promise;
      },
    });
    await using both = await createRuntime({ tools: [meet], policy: { allow: ['*'] }, concurrency: 1 });
    const loop = new LoopController({ executor: runtimeExecutor(both), keyring, clock, ids });
    const agent: Agent = { reply: async () => reply(command('emit tool.probe.Meet()', DONE)) };
    const run = (sid: string) => loop.runLoop({ userdata: USERDATA, agent, sid });
    const results = await Promise.all([run('m-1'), run('m-2')]);
    expect(results.map(({ output }) => output)).toEqual(['met', 'met']);
  });

  it('cancelling ends a running program', async () => {
    const loop = new LoopController({ executor: runtimeExecutor(runtime), keyring, clock, ids });
    const agent: Agent = { reply: async () => reply(command('call tool.probe.Never()')) };
    neverCalled = () => void loop.cancel('cancel');
    const running = loop.runLoop({ userdata: USERDATA, agent, sid: 'cancel' });
    expect(await running).toMatchObject({ decision: 'HALT', reason: 'ERR_CANCELLED', turns: [{ error: { kind: 'cancelled' } }] });
  });
});
