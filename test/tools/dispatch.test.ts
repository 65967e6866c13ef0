import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { currentTurn, TurnClosedError } from '../../src/context/index.ts';
import { rootTurn, turnStorage } from '../../src/context/turn.ts';
import {
  type ArgSpecs,
  type AuditRecord,
  auditEntry,
  defineTool,
  MAGIC_TOOL,
  type ToolDefinition,
  ToolError,
  type ToolInit,
  type ToolRuntime,
} from '../../src/tools/index.ts';
import { encode } from '../../src/wire/codec.ts';
import { ConfigError } from '../../src/wire/errors.ts';
import { MAX_FRAME_VALUES } from '../../src/wire/frames.ts';
import { TimeDate } from '../../src/wire/values.ts';
import { SLOW } from '../groups.ts';
import { Bench, SITE, testHost, testTurn, variables } from './probe.ts';

/** A tool `tool.t.<name>` that takes up to two arguments of any kind. */
function tool(
  name: string,
  run: (args: Readonly<Record<string, unknown>>, runtime: ToolRuntime) => unknown,
  more: Partial<ToolInit<ArgSpecs>> = {},
): ToolDefinition {
  const args = [
    { name: 'a', required: false },
    { name: 'b', required: false },
  ] as const;
  return defineTool({ args, ...more, name: `tool.t.${name}`, run: (given: object, runtime) => run({ ...given }, runtime) });
}

describe('what a journal may hold', () => {
  it('ends the run, uncatchably, at the answer that would be too much', async () => {
    const bench = new Bench([tool('x', () => 'y'.repeat(400))], { limits: { journalBytes: 1000 } });
    expect(await bench.call('tool.t.x')).toMatchObject({ t: 'ok' });
    expect(await bench.call('tool.t.x')).toMatchObject({
      t: 'halt',
      error: { code: 'ERR_QUOTA', limit: 'journalBytes', allowed: 1000 },
    });
  });

  it('refuses a call whose arguments alone are too much before the tool runs', async () => {
    let ran = false;
    const bench = new Bench([tool('x', () => (ran = true))], { limits: { journalBytes: 100 } });
    expect(await bench.call('tool.t.x', ['y'.repeat(200)])).toMatchObject({ t: 'halt', error: { limit: 'journalBytes' } });
    expect(ran).toBe(false);
  });

  it('finding 2: counts the arguments of a call that policy denies, which a replay compares', async () => {
    const bench = new Bench([tool('x', () => 1)], { limits: { journalBytes: 1000 }, policy: { deny: ['*'] } });
    expect(await bench.call('tool.t.x', ['y'.repeat(400)])).toMatchObject({ t: 'error' });
    expect(await bench.call('tool.t.x', ['y'.repeat(400)])).toMatchObject({ t: 'halt', error: { limit: 'journalBytes' } });
  });
});

describe('what a tool gives back', () => {
  it('finding 8: no more values than a frame may have, however few their bytes', async () => {
    const replyTo = (items: number, item: unknown) =>
      new Bench([tool('x', () => Array.from({ length: items }, () => item))], { limits: { toolBytes: 2 ** 24 } }).call(
        'tool.t.x',
      );
    expect(await replyTo(MAX_FRAME_VALUES - 1, 0)).toMatchObject({ t: 'ok' });
    expect(await replyTo(MAX_FRAME_VALUES, 0)).toMatchObject({ t: 'halt', error: { code: 'ERR_QUOTA', limit: 'toolBytes' } });
    // A map in a list counts as an item and as a list of its own, and each of its keys as four.
    expect(await replyTo(MAX_FRAME_VALUES / 6, { a: 0 })).toMatchObject({ t: 'ok' });
    expect(await replyTo(MAX_FRAME_VALUES / 6 + 1, { a: 0 })).toMatchObject({ t: 'halt' });
  });

  it.each<[string, unknown, unknown]>([
    ['undefined is nil', undefined, null],
    ['a promise is awaited', Promise.resolve([1]), [1]],
    ['a Date is a timedate', new Date(0), { $time: '1970-01-01T00:00:00Z' }],
    ['bytes', new Uint8Array([1]), { $bytes: 'AQ==' }],
    ['NaN', Number.NaN, { $num: 'NaN' }],
  ])('%s', async (_name, result, json) => {
    expect(await new Bench([tool('x', () => result)]).call('tool.t.x')).toEqual({ t: 'ok', value: json });
  });

  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  it.each<[string, unknown, RegExp]>([
    ['a cycle', cycle, /returned what a script cannot hold: at \.self: the value contains itself/],
    ['a class instance', { at: new (class Point {})() }, /at \.at: Point is a class instance/],
    ['a function', () => 1, /a function has no counterpart/],
  ])('%s is code 21, with the tool and the problem', async (_name, result, problem) => {
    const reply = await new Bench([tool('x', () => result)], { limits: { toolBytes: 100 } }).call('tool.t.x');
    expect(reply).toEqual({ t: 'error', code: 21, message: expect.stringMatching(problem) });
    expect(reply).toMatchObject({ message: expect.stringContaining("'tool.t.x'") });
  });

  it('more bytes than toolBytes allows end the run: no script can catch that', async () => {
    const reply = await new Bench([tool('x', () => 'x'.repeat(200))], { limits: { toolBytes: 100 } }).call('tool.t.x');
    expect(reply).toMatchObject({ t: 'halt', error: { code: 'ERR_QUOTA', limit: 'toolBytes', allowed: 100 } });
    expect(reply).toMatchObject({ error: { message: expect.stringMatching(/'tool.t.x' .* larger than 100 bytes/) } });
  });

  it('a value cannot be changed by the tool after it was returned', async () => {
    const list = [1];
    const reply = await new Bench([tool('x', () => list)]).call('tool.t.x');
    list.push(2);
    expect(reply).toEqual({ t: 'ok', value: [1] });
  });
});

describe('what a tool throws', () => {
  const throwing = (error: unknown) => new Bench([tool('x', () => Promise.reject(error))]).call('tool.t.x');

  it('a ToolError keeps its code, message and hint', async () => {
    expect(await throwing(new ToolError(9, 'no such key', 'try /y'))).toEqual({
      t: 'error',
      code: 9,
      message: 'no such key',
      hint: 'try /y',
    });
    expect(await throwing(new ToolError(1500, 'mine'))).toMatchObject({ code: 1500 });
    expect(await throwing(new ToolError(Number.NaN, 'mine'))).toMatchObject({ code: 21, message: 'mine' });
  });

  it('anything else is code 21 with its message and never a stack', async () => {
    const error = new TypeError('broken pipe');
    const reply = await throwing(error);
    expect(reply).toEqual({ t: 'error', code: 21, message: "tool 'tool.t.x' failed: broken pipe" });
    expect(JSON.stringify(reply)).not.toContain('dispatch.test');
    expect(await throwing('plain text')).toMatchObject({ code: 21, message: "tool 'tool.t.x' failed: plain text" });
    expect(await throwing(null)).toMatchObject({ message: expect.stringContaining('null') });
    expect(await throwing(new Error(''))).toMatchObject({ message: "tool 'tool.t.x' failed: Error" });
  });

  it('a synchronous throw is the same', async () => {
    const bench = new Bench([
      tool('x', () => {
        throw new Error('at once');
      }),
    ]);
    expect(await bench.call('tool.t.x')).toMatchObject({ code: 21, message: "tool 'tool.t.x' failed: at once" });
  });

  it('a message of a gigabyte is cut', async () => {
    const reply = await throwing(new Error('x'.repeat(2 ** 24)));
    expect(JSON.stringify(reply).length).toBeLessThan(5000);
  });
});

describe('lookup, policy and arguments', () => {
  it('an unknown tool is code 3, before any policy, and the likely name is shown', async () => {
    const bench = new Bench([tool('Echo', () => 1)], { policy: null });
    expect(await bench.call('tool.t.ehco')).toEqual({
      t: 'error',
      code: 3,
      message: "tool 'tool.t.ehco' not found",
      hint: 'did you mean tool.t.echo?',
    });
    expect(await bench.call('tool.completely.other')).toEqual({
      t: 'error',
      code: 3,
      message: "tool 'tool.completely.other' not found",
    });
  });

  it('A3-11.2-1: a denied tool is code 1003 before its arguments are looked at, and is not called', async () => {
    let calls = 0;
    const bench = new Bench([tool('x', () => calls++, { args: [{ name: 'n', type: 'int' }] })], { policy: {} });
    expect(await bench.call('tool.t.x', ['wrong', 'surplus'])).toMatchObject({ t: 'error', code: 1003 });
    expect(calls).toBe(0);
  });

  it('under halt a breach is an end that no script can catch: kind policy, at the call', async () => {
    const bench = new Bench([tool('x', () => 1)], { policy: { onPolicyBreach: 'halt' } });
    expect(await bench.call('tool.t.x')).toEqual({
      t: 'halt',
      error: expect.objectContaining({
        kind: 'policy',
        code: 'NS1003',
        nsCode: 1003,
        name: 'Policy',
        source: 'test.ns',
        line: 2,
        column: 3,
      }),
    });
  });

  it('a wrong argument is code 4', async () => {
    const bench = new Bench([tool('x', () => 1, { args: [{ name: 'n', type: 'int' }] })]);
    expect(await bench.call('tool.t.x', ['a', 'b'])).toMatchObject({
      t: 'error',
      code: 4,
      message: expect.stringMatching(/takes 1 argument \(n\), got 2; argument 'n'/),
    });
  });

  it('arguments reach the tool by name, as values of the host', async () => {
    const seen: unknown[] = [];
    const bench = new Bench([tool('x', (args) => seen.push(args))]);
    await bench.call('tool.t.x', [new TimeDate('2025-01-01T00:00:00Z'), { k: new Uint8Array([7]) }]);
    expect(seen).toEqual([
      { a: new TimeDate('2025-01-01T00:00:00Z'), b: Object.assign(Object.create(null), { k: new Uint8Array([7]) }) },
    ]);
  });

  it('an argument that is no tagged JSON is code 4', async () => {
    const bench = new Bench([tool('x', () => 1)]);
    const reply = await bench.dispatcher.handle(
      { t: 'tool', seq: 1, name: 'tool.t.x', args: [{ $what: 1 }], at: SITE },
      variables(),
    );
    expect(reply).toMatchObject({ t: 'error', code: 4, message: expect.stringContaining('$what') });
  });
});

describe('the runtime of a call', () => {
  it('CTX-2-1: shows the host context, the turn context and the state of the calling fork', async () => {
    const host = testHost({ actor: { id: 'did:x:1' } });
    const turn = rootTurn(() => Date.now()).derive({ sessionId: 's', turnIndex: 2 });
    const values = new Map<string, unknown>([['x', 5]]);
    let seen: unknown;
    const probe = tool('probe', async (_args, runtime) => {
      seen = {
        host: runtime.host === host,
        logger: runtime.logger === host.logger,
        actor: runtime.actor,
        turn: runtime.turn === turn,
        ambient: currentTurn() === turn,
        fork: runtime.forkId,
        site: runtime.site,
        view: runtime.tools.forkId,
        x: await runtime.getVar('x'),
        y: await runtime.getVar('y'),
      };
      await runtime.setVar('z', [new Uint8Array([1])]);
    });
    expect(await new Bench([probe], { host, turn }).call('tool.t.probe', [], variables(values))).toEqual({
      t: 'ok',
      value: null,
    });
    expect(seen).toEqual({
      host: true,
      logger: true,
      actor: { id: 'did:x:1' },
      turn: true,
      ambient: true,
      fork: 'fork-1.1',
      site: SITE,
      view: 'fork-1.1',
      x: 5,
      y: undefined,
    });
    expect(values.get('z')).toEqual([{ $bytes: 'AQ==' }]);
  });

  it('CTX-2A-6: a tool reads the identity of the actor', async () => {
    const who = tool('who', (_args, runtime) => runtime.actor?.id);
    expect(await new Bench([who], { host: testHost({ actor: { id: 'did:x:9' } }) }).call('tool.t.who')).toEqual({
      t: 'ok',
      value: 'did:x:9',
    });
    expect(await new Bench([who]).call('tool.t.who')).toEqual({ t: 'ok', value: null });
  });

  it('a variable that the fork refuses is code 43, a value that no script can hold is code 21', async () => {
    const write = tool('write', (args, runtime) => runtime.setVar('g', args['a']));
    expect(await new Bench([write]).call('tool.t.write', [1], variables(new Map(), ['g']))).toEqual({
      t: 'error',
      code: 43,
      message: "'g' is a global",
    });
    const bad = tool('bad', (_args, runtime) => runtime.setVar('g', () => 1));
    expect(await new Bench([bad]).call('tool.t.bad')).toMatchObject({
      code: 21,
      message: expect.stringContaining("variable 'g' cannot be set"),
    });
  });

  it('a variable that a tool sets may have toolBytes, and one more byte ends the run', async () => {
    const write = tool('write', (args, runtime) => runtime.setVar('g', 'x'.repeat(Number(args['a']))));
    const bench = new Bench([write], { limits: { toolBytes: 100 } });
    expect(await bench.call('tool.t.write', [98])).toMatchObject({ t: 'ok' });
    expect(await bench.call('tool.t.write', [99])).toMatchObject({ t: 'halt', error: { limit: 'toolBytes', allowed: 100 } });
  });

  it('a callback after the call, and one after the turn, gets a typed error', async () => {
    const kept: ToolRuntime[] = [];
    const turn = testTurn();
    const bench = new Bench([tool('keep', (_args, runtime) => void kept.push(runtime))], { turn });
    await bench.call('tool.t.keep');
    const uses = (runtime: ToolRuntime | undefined): (Promise<unknown> | undefined)[] => [
      runtime?.getVar('x'),
      runtime?.setVar('x', 1),
      runtime?.callTool('t.keep', []),
    ];
    for (const use of uses(kept[0])) await expect(use).rejects.toThrow(/after its call had ended/);
    turn.close();
    for (const use of uses(kept[0])) await expect(use).rejects.toThrow(TurnClosedError);
    for (const use of uses(kept[0])) await expect(use).rejects.toThrow(/after the turn had ended/);
    expect(kept[0]?.signal.aborted).toBe(true);
  });

  it('a call that has ended cannot wait for a later answer', async () => {
    const kept: ToolRuntime[] = [];
    const bench = new Bench([tool('keep', (_args, runtime) => void kept.push(runtime))]);
    await bench.call('tool.t.keep');
    expect(() => kept[0]?.pending({ reason: 'later' })).toThrow(/used pending after its call had ended/);
  });

  it.each<[unknown, RegExp]>([
    [undefined, /pending/],
    [{ reason: 5 }, /reason must be a text, got number/],
    [{ reason: 'r', expiresIn: 0 }, /expiresIn must be a whole number from 1/],
    [{ reason: 'r', expires: 1 }, /expires/],
    [{ reason: ' ' }, /needs a reason of 1 to 500 characters/],
    [{ reason: 'r'.repeat(501) }, /needs a reason of 1 to 500 characters/],
  ])('a tool that waits with %j says what is wrong', async (options, problem) => {
    let thrown: unknown;
    const wait = tool('wait', (_args, runtime) => {
      try {
        runtime.pending(options as never);
      } catch (error) {
        thrown = error;
      }
    });
    await new Bench([wait]).call('tool.t.wait');
    expect(thrown).toBeInstanceOf(ConfigError);
    expect(String(thrown)).toMatch(problem);
  });

  it('A3-11.2-2: a call in the name of a turn that has ended is refused', async () => {
    let calls = 0;
    const turn = testTurn();
    const bench = new Bench([tool('x', () => calls++)], { turn });
    turn.close();
    expect(await bench.call('tool.t.x')).toMatchObject({ t: 'halt', error: { kind: 'cancelled', code: 'ERR_CANCELLED' } });
    expect(calls).toBe(0);
  });

  it('the signal is aborted with the call and with the turn', async () => {
    const signals: AbortSignal[] = [];
    const wait = tool('wait', (_args, runtime) => {
      signals.push(runtime.signal);
      return new Promise<never>(() => {});
    });
    const port = variables();
    const reply = new Bench([wait]).call('tool.t.wait', [], port);
    await expect.poll(() => signals.length).toBe(1);
    port.abort.abort();
    expect(await reply).toMatchObject({ t: 'halt' });
    expect(signals[0]?.aborted).toBe(true);
  });
});

describe('tools that call tools', () => {
  const add = tool('add', (args) => Number(args['a']) + Number(args['b']));

  it('go through the same lookup, policy and arguments, in the name of the same fork', async () => {
    const forks: string[] = [];
    const inner = tool('inner', (_args, runtime) => forks.push(runtime.forkId));
    const outer = tool('outer', async (_args, runtime) => {
      await runtime.callTool('t.inner', []);
      return [
        await runtime.callTool('tool.t.ADD', [1, 2]),
        await runtime.callTool('t.denied', []).catch((error: ToolError) => error.nsCode),
      ];
    });
    const denied = tool('denied', () => 1);
    const bench = new Bench([add, inner, outer, denied], { policy: { allow: ['*'], deny: ['*.denied'] } });
    expect(await bench.call('tool.t.outer')).toEqual({ t: 'ok', value: [3, 1003] });
    expect(forks).toEqual(['fork-1.1']);
  });

  it('never reach the magic tool: a token is what the program asks for', async () => {
    const magic = defineTool({ name: MAGIC_TOOL, args: [], run: () => 'a token' });
    const outer = tool('outer', (_args, runtime) => runtime.callTool(MAGIC_TOOL, []));
    const bench = new Bench([outer], { own: [magic] });
    expect(await bench.call(MAGIC_TOOL)).toEqual({ t: 'ok', value: 'a token' });
    expect(await bench.call('tool.t.outer')).toMatchObject({ t: 'error', code: 19 });
  });

  it('CTX-2B-4: a tool that is called from outside of the turn’s asynchronous flow runs inside the turn all the same', async () => {
    const turn = testTurn().derive({ sessionId: 's' });
    const inner = tool('inner', () => currentTurn() === turn);
    const outer = tool('outer', (_args, runtime) => turnStorage.exit(() => runtime.callTool('t.inner', [])));
    expect(await new Bench([outer, inner], { turn }).call('tool.t.outer')).toEqual({ t: 'ok', value: true });
  });

  it('an error of the inner one is the outer one’s, with its own code, unless it is handled', async () => {
    const inner = tool('inner', () => Promise.reject(new ToolError(9, 'gone')));
    const outer = tool('outer', (_args, runtime) => runtime.callTool('t.inner', []));
    expect(await new Bench([inner, outer]).call('tool.t.outer')).toEqual({ t: 'error', code: 9, message: 'gone' });
  });

  it('a breach under halt ends the run even when the tool swallows the exception', async () => {
    const outer = tool('outer', (_args, runtime) => runtime.callTool('t.add', [1, 2]).catch(() => 'swallowed'));
    const bench = new Bench([add, outer], { policy: { allow: ['*.outer'], onPolicyBreach: 'halt' } });
    expect(await bench.call('tool.t.outer')).toMatchObject({ t: 'halt', error: { kind: 'policy' } });
    const other = tool('outer', (_args, runtime) =>
      runtime.callTool('t.add', [1, 2]).catch(() => Promise.reject(new ToolError(9, 'mine'))),
    );
    const again = new Bench([add, other], { policy: { allow: ['*.outer'], onPolicyBreach: 'halt' } });
    expect(await again.call('tool.t.outer')).toMatchObject({ t: 'halt', error: { kind: 'policy' } });
  });

  it('without end: code 37 when nested, a quota when too many', async () => {
    const down = tool('down', (_args, runtime) => runtime.callTool('t.down', []));
    expect(await new Bench([down]).call('tool.t.down')).toMatchObject({ t: 'error', code: 37 });
    const levels = tool('levels', ({ a }, runtime) => (a === 0 ? 'deep' : runtime.callTool('t.levels', [Number(a) - 1])));
    expect(await new Bench([levels]).call('tool.t.levels', [32])).toEqual({ t: 'ok', value: 'deep' });
    expect(await new Bench([levels]).call('tool.t.levels', [33])).toMatchObject({ t: 'error', code: 37 });
    const many = tool('many', async (_args, runtime) => {
      for (;;) await runtime.callTool('t.add', [1, 2]);
    });
    expect(await new Bench([add, many], { limits: { toolCalls: 5 } }).call('tool.t.many')).toMatchObject({
      t: 'halt',
      error: { kind: 'quota', code: 'ERR_QUOTA', limit: 'toolCalls', allowed: 5, used: 6 },
    });
  });

  it('arguments that no script can hold are code 4', async () => {
    const outer = tool('outer', (_args, runtime) => runtime.callTool('t.add', [() => 1]));
    expect(await new Bench([add, outer]).call('tool.t.outer')).toMatchObject({
      code: 4,
      message: expect.stringContaining('a function'),
    });
  });
});

describe('the journal and the audit trail', () => {
  it('A3-11.2-2: every call leaves a record with session, turn, fork, actor, arguments and their digest, outcome and time', async () => {
    const records: AuditRecord[] = [];
    const turn = rootTurn(() => Date.now()).derive({ sessionId: 's-1', turnIndex: 4, clock: () => 1_725_012_345_678 });
    const add = tool('add', (args) => args['a']);
    const outer = tool('outer', (_args, runtime) => runtime.callTool('t.add', [7]));
    const bench = new Bench([add, outer], {
      turn,
      host: testHost({ actor: { id: 'did:x:1' } }),
      init: { audit: (record) => void records.push(record) },
    });
    await bench.call('tool.t.outer');
    await bench.call('tool.t.nothing');
    const at = 1_725_012_345_678;
    const common = { sessionId: 's-1', turnIndex: 4, forkId: 'fork-1.1', actor: 'did:x:1', at, ms: expect.any(Number) };
    const digest = (json: string): string => createHash('sha256').update(json).digest('hex');
    expect(records).toEqual([
      { ...common, tool: 'tool.t.add', nested: true, args: [7], argsDigest: digest('[7]'), outcome: { ok: true, value: 7 } },
      { ...common, tool: 'tool.t.outer', nested: false, args: [], argsDigest: digest('[]'), outcome: { ok: true, value: 7 } },
      {
        ...common,
        tool: 'tool.t.nothing',
        nested: false,
        args: [],
        argsDigest: digest('[]'),
        outcome: { ok: false, code: 3, message: "tool 'tool.t.nothing' not found", hint: 'tool.t has add, outer' },
      },
    ]);
    const kept = records.map(auditEntry);
    expect(kept.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 3]);
    for (const entry of kept) expect(Object.keys(entry)).not.toContain('args');
  });

  it('holds every call of the script in order, with arguments, place, outcome and time', async () => {
    const told: unknown[] = [];
    const bench = new Bench([tool('x', (args) => args['a'])], { init: { onCall: (entry) => void told.push(entry) } });
    await bench.call('tool.T.X', [new Uint8Array([1])]);
    await bench.call('tool.t.x', [1, 2, 3]);
    const journal = bench.dispatcher.finish(null).entries;
    expect(journal).toEqual([
      {
        kind: 'tool',
        seq: 1,
        name: 'tool.t.x',
        args: [{ $bytes: 'AQ==' }],
        at: SITE,
        outcome: { ok: true, value: { $bytes: 'AQ==' } },
        begin: expect.any(Number),
        ms: expect.any(Number),
      },
      {
        kind: 'tool',
        seq: 2,
        name: 'tool.t.x',
        args: [1, 2, 3],
        at: SITE,
        outcome: expect.objectContaining({ ok: false, code: 4 }),
        begin: expect.any(Number),
        ms: expect.any(Number),
      },
    ]);
    expect(told).toEqual(journal);
  });

  it('keeps an answer as it was sent, whatever the receiver does with it', async () => {
    const bench = new Bench([tool('x', () => [1])]);
    const reply = await bench.call('tool.t.x');
    if (reply.t !== 'ok' || !Array.isArray(reply.value)) throw new Error('the call failed');
    reply.value.push(2);
    expect(bench.dispatcher.finish(null).entries).toMatchObject([{ outcome: { ok: true, value: [1] } }]);
  });

  it('counts the time of a call in milliseconds', SLOW, async () => {
    const bench = new Bench([tool('slow', () => new Promise((resolve) => setTimeout(resolve, 50, null)))]);
    const begun = performance.now();
    await bench.call('tool.t.slow');
    const [entry] = bench.dispatcher.finish(null).entries;
    expect(entry?.ms).toBeGreaterThan(45);
    expect(entry?.ms).toBeLessThanOrEqual(performance.now() - begun);
  });

  it('a call leaves nothing behind that waits for its end', async () => {
    const port = variables();
    let waiting = 0;
    const whenOver = (callback: () => void) => {
      waiting += 1;
      const forget = port.whenOver(callback);
      return () => {
        waiting -= 1;
        forget();
      };
    };
    const bench = new Bench([tool('good', () => 1), tool('bad', () => Promise.reject(new Error('no')))]);
    for (const name of ['tool.t.good', 'tool.t.bad']) await bench.call(name, [], { ...port, over: false, whenOver });
    expect(waiting).toBe(0);
  });

  const never = () => new Promise<never>(() => {});
  const stuck = { a: { '~standard': { version: 1, vendor: 'test', validate: never } } } as const;
  it.each([
    ['tool', tool('x', never)],
    ['validator', defineTool({ name: 'tool.t.x', args: stuck, run: () => 1 })],
  ])('a call whose %s never settles ends in the error that ended the run', async (_what, hanging) => {
    const bench = new Bench([hanging]);
    const port = variables();
    const reply = bench.call('tool.t.x', [], port);
    port.abort.abort();
    await reply;
    const error = {
      kind: 'timeout',
      code: 'ERR_TIMEOUT',
      nsCode: null,
      name: 'Timeout',
      message: 'm',
      source: null,
      line: null,
      column: null,
      stack: [],
    } as const;
    expect(bench.dispatcher.finish(error).entries).toMatchObject([{ seq: 1, outcome: { ok: false, halted: error } }]);
  });

  it('callbacks of the application that throw are logged and change nothing', async () => {
    const logged: string[] = [];
    const logger = { debug() {}, info() {}, warn() {}, error: (_fields: object, message: string) => void logged.push(message) };
    const oops = (): never => {
      throw new Error('oops');
    };
    const bench = new Bench([tool('x', () => 1)], { host: testHost({ logger }), init: { onCall: oops, audit: oops } });
    expect(await bench.call('tool.t.x')).toEqual({ t: 'ok', value: 1 });
    expect(logged).toEqual(['the callback audit failed', 'the callback onCall failed']);
  });
});

describe('promptuser and ask', () => {
  const prompt = (bench: Bench, text = 'Name?') => bench.dispatcher.handle({ t: 'prompt', seq: 1, text, at: SITE }, variables());

  it('P35: reads line after line of the host’s input, trimmed, after writing the question', async () => {
    const written: string[] = [];
    const host = testHost({ stdin: [' Ann \nBob'], stdout: { write: (text) => written.push(text) } });
    const bench = new Bench([], { host });
    expect([await prompt(bench), await prompt(bench)]).toEqual([
      { t: 'ok', value: 'Ann' },
      { t: 'ok', value: 'Bob' },
    ]);
    expect(await prompt(bench)).toMatchObject({ t: 'error', code: 26 });
    expect(written).toEqual(['Name? ', 'Name? ', 'Name? ']);
    expect(bench.dispatcher.finish(null).entries).toMatchObject([
      { kind: 'prompt', text: 'Name?', outcome: { ok: true, value: 'Ann' } },
      {},
      { outcome: { code: 26 } },
    ]);
  });

  it('P35: without an input it is code 26', async () => {
    expect(await prompt(new Bench([]))).toMatchObject({ t: 'error', code: 26 });
  });

  it('an input that fails is code 26 too', async () => {
    const stdin = {
      [Symbol.iterator]: (): Iterator<string> => {
        throw new Error('closed');
      },
    };
    expect(await prompt(new Bench([], { host: testHost({ stdin }) }))).toMatchObject({
      code: 26,
      message: expect.stringContaining('closed'),
    });
  });

  it('ask without an agent model is code 9 and stands in the journal', async () => {
    const bench = new Bench([]);
    const ask = {
      t: 'ask',
      seq: 1,
      model: 'm',
      prompt: 'p',
      options: encode({ turns: 1 }),
      left: { fuel: 1, memoryBytes: 1, toolCalls: 1 },
      at: SITE,
    } as const;
    expect(await bench.dispatcher.handle(ask, variables())).toMatchObject({ t: 'error', code: 9 });
    expect(bench.dispatcher.finish(null).entries).toMatchObject([
      { kind: 'ask', model: 'm', prompt: 'p', options: { turns: 1 } },
    ]);
  });
});
