import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import {
  ConfigError,
  createHostContext,
  createRuntime,
  currentTurn,
  defineTool,
  type ErrorInfo,
  LibraryError,
  type RunOptions,
  RuntimeClosedError,
  type RuntimeSettings,
  SILENT_LOGGER,
  type ToolRuntime,
  TurnClosedError,
} from '../../src/entries/index.ts';
import { type FakeProgram, fakeRuntime } from './fake.ts';

/** As an application in plain JavaScript sees a runtime: nobody checks what it hands in. */
interface Loose {
  run(source: unknown, options?: unknown): unknown;
  check(sources: unknown): unknown;
  interpreter(options?: unknown): {
    load(source: unknown): unknown;
    run(procedure: unknown, args?: unknown, options?: unknown): unknown;
    execute(source: unknown, options?: unknown): unknown;
    emitEvent(name: unknown, source: unknown, payload: unknown, options?: unknown): unknown;
    fork(options?: unknown): { execute(source: unknown, options?: unknown): unknown; runRequest(request: unknown): unknown };
  };
}

const nothing: FakeProgram = async () => undefined;
const allow = { allow: ['*'] };

describe('the result of a run', () => {
  it('has everything that was said, in order, and what was used', async () => {
    const { runtime } = fakeRuntime(async (guest) => {
      guest.emit('one');
      guest.whisper('self', 'psst');
      guest.emit('two');
      return { result: 7, phase: 'call' };
    });
    expect(await runtime.run('command …')).toEqual({
      ok: true,
      phase: 'call',
      emits: ['one', 'two'],
      values: ['one', 'two'],
      whispers: [{ to: 'self', text: 'psst' }],
      result: 7,
      eventErrors: [],
      error: null,
      usage: expect.objectContaining({ fuel: 1 }),
      journal: [],
    });
  });

  it('takes JavaScript values for variables, arguments and payloads', async () => {
    const { runtime, sandbox } = fakeRuntime(nothing);
    await runtime.run('src', {
      lib: ['a', 'b'],
      call: { name: 'main', args: [new Uint8Array([1]), undefined] },
      globals: { given: { $num: 'NaN' } },
      values: { when: new Date(0) },
      events: [{ name: 'tick', payload: new Map([['a', 1]]) }],
    });
    expect(sandbox.inputs[0]).toMatchObject({
      sources: [
        { name: 'lib', text: 'a' },
        { name: 'lib2', text: 'b' },
        { name: 'src', text: 'src' },
      ],
      call: { name: 'main', args: [{ $bytes: 'AQ==' }, null] },
      globals: { given: { $num: 'NaN' }, when: { $time: '1970-01-01T00:00:00Z' } },
      events: [{ name: 'tick', source: '', payload: { a: 1 } }],
      turn: false,
      stdin: false,
    });
  });

  it('an aborted signal is kind cancelled, before the start as well', async () => {
    const { runtime, sandbox } = fakeRuntime(() => new Promise(() => {}));
    const cancel = new AbortController();
    const running = runtime.run('x', { signal: cancel.signal });
    cancel.abort();
    expect(await running).toMatchObject({ ok: false, error: { kind: 'cancelled', code: 'ERR_CANCELLED' } });
    expect(await runtime.run('x', { signal: cancel.signal })).toMatchObject({
      ok: false,
      phase: 'request',
      error: { kind: 'cancelled' },
    });
    expect(sandbox.inputs).toHaveLength(1);
  });
});

describe('a run with tools, a policy and a session of its own', () => {
  const read = defineTool({ name: 'tool.own.Read', run: (_args, { turn }) => turn.sessionId });
  const calling: FakeProgram = async (guest) => {
    const reply = await guest.tool('tool.own.Read');
    guest.emit(JSON.stringify(reply));
    return undefined;
  };
  const said = async (settings: RuntimeSettings, options: RunOptions) =>
    (await fakeRuntime(calling, settings).runtime.run('x', options)).emits.join();

  it('calls the tool, which learns the session', async () => {
    expect(await said({}, { tools: [read], session: 'job-7' })).toContain('"job-7"');
  });

  it('the policy of the run counts alone where the runtime was made without one, and narrows one that it has', async () => {
    const allow = { allow: ['tool.own.*'] };
    expect(await said({ tools: [read] }, {})).toContain('1003');
    expect(await said({ tools: [read] }, { policy: allow })).toContain('"ok"');
    expect(await said({ tools: [read], policy: {} }, { policy: allow })).toContain('1003');
    expect(await said({ tools: [read], policy: null }, { policy: allow })).toContain('1003');
    expect(await said({ tools: [read], policy: allow }, { policy: { allow: ['tool.other.*'] } })).toContain('1003');
    expect(await said({ tools: [read], policy: allow }, { policy: allow })).toContain('"ok"');
  });

  it('refuses a variable that has the name of a constant', async () => {
    const symbols = { libraries: [], constants: { limit: 1 } } as const;
    await expect(fakeRuntime(nothing).runtime.run('x', { symbols, values: { limit: 2 } })).rejects.toMatchObject({
      code: 'ERR_CONFIG',
    });
  });
});

describe('misuse and state', () => {
  it.each<[string, (runtime: ReturnType<typeof fakeRuntime>['runtime']) => Promise<unknown> | unknown]>([
    ['an unknown limit', (runtime) => runtime.run('x', { limits: { fuell: 1 } as never })],
    ['a limit of 0', (runtime) => runtime.interpreter().fork({ limits: { wallMs: 0 } })],
    ['a value that is a function', (runtime) => runtime.run('x', { values: { f: () => 1 } })],
    ['a global of another name', (runtime) => runtime.interpreter().setGlobal('a b', 1)],
    ['an argument that is a cycle', (runtime) => runtime.run('x', { call: { name: 'f', args: [new WeakMap()] } })],
    [
      'a malformed tag',
      (runtime) =>
        runtime
          .interpreter()
          .fork()
          .runRequest({ globals: { a: { $what: 1 } } }),
    ],
    ['a host without logger', (runtime) => runtime.interpreter({ host: { logger: null } as never })],
    [
      'a second actor',
      (runtime) => runtime.interpreter({ host: createHostContext({ logger: SILENT_LOGGER }), actor: { id: 'x' } }),
    ],
    ['a policy with an unknown key', (runtime) => runtime.interpreter().fork({ policy: { alow: [] } as never })],
  ])('%s is a ConfigError', async (_name, misuse) => {
    const { runtime } = fakeRuntime(nothing);
    await expect((async () => misuse(runtime))()).rejects.toThrow(ConfigError);
  });

  it.each<[string, string, (runtime: Loose) => unknown]>([
    ['a run', "unknown key 'limit' in the options of a run", (runtime) => runtime.run('x', { limit: { cpuMs: 1 } })],
    ['an interpreter', "unknown key 'hots' in the options of an interpreter", (runtime) => runtime.interpreter({ hots: 1 })],
    ['a fork', "unknown key 'limit' in the options of a fork", (runtime) => runtime.interpreter().fork({ limit: {} })],
    ['an execution', "unknown key 'signals'", (runtime) => runtime.interpreter().fork().execute('x', { signals: 1 })],
    ['a request', "unknown key 'source'", (runtime) => runtime.interpreter().fork().runRequest({ source: [] })],
    [
      'a call',
      "unknown key 'arg' in the options of a run: call",
      (runtime) => runtime.run('x', { call: { name: 'f', arg: [1] } }),
    ],
    [
      'a delivery',
      "unknown key 'ID' in the options of an event; known are globals, limits, signal",
      (runtime) => runtime.interpreter().emitEvent('e', 's', 1, { ID: 'x' }),
    ],
    [
      'an event',
      "unknown key 'data' in the options of a run: events[0]",
      (runtime) => runtime.run('x', { events: [{ name: 'e', data: 1 }] }),
    ],
  ])('an unknown key in %s is refused, never ignored', async (_what, message, misuse) => {
    const { runtime, sandbox } = fakeRuntime(nothing);
    await expect((async () => misuse(runtime))()).rejects.toThrow(expect.objectContaining({ code: 'ERR_CONFIG' }));
    await expect((async () => misuse(runtime))()).rejects.toThrow(message);
    expect(sandbox.inputs).toEqual([]);
  });

  it.each<[string, (runtime: Loose) => unknown]>([
    ['the program must be a text, got number', (runtime) => runtime.run(5)],
    ['sources[0]: text must be a text, got undefined', (runtime) => runtime.check([{ name: 'a', text: undefined }])],
    ['sources must be a list, got string', (runtime) => runtime.check('x')],
    ['the options of a run: name must be a text, got number', (runtime) => runtime.run('x', { name: 5 })],
    ['sources[0]: text must be a text, got number', (runtime) => runtime.interpreter().load(5)],
    ['tenant must be a text or an object, got number', (runtime) => runtime.run('x', { tenant: 5 })],
    ['lib must be a list, got number', (runtime) => runtime.run('x', { lib: 5 })],
    ['call must be an object, got string', (runtime) => runtime.run('x', { call: 'f' })],
    ['the options of a run: call.name must be a text, got undefined', (runtime) => runtime.run('x', { call: {} })],
    ['the options of a run: events[0] must be an object, got number', (runtime) => runtime.run('x', { events: [5] })],
    ['globals must be an object, got null', (runtime) => runtime.run('x', { globals: null })],
    ['limits must be an object, got null', (runtime) => runtime.run('x', { limits: null })],
    ['signal must be an AbortSignal, got number', (runtime) => runtime.run('x', { signal: 5 })],
    ['onOut must be a function, got number', (runtime) => runtime.run('x', { onOut: 5 })],
    ['the arguments of f must be a list, got number', (runtime) => runtime.interpreter().run('f', 5)],
    ['the options of a call must be an object, got null', (runtime) => runtime.interpreter().run('f', [], null)],
    ['the options of an execution must be an object, got null', (runtime) => runtime.interpreter().execute('x', null)],
    ['the options of an event must be an object, got null', (runtime) => runtime.interpreter().emitEvent('e', 's', 1, null)],
    ['turn of a fork must be a TurnContext', (runtime) => runtime.interpreter().fork({ turn: {} })],
    ['the options of a run must be an object, got null', (runtime) => runtime.run('x', null)],
  ])('%s', async (message, misuse) => {
    const { runtime, sandbox } = fakeRuntime(nothing);
    await expect((async () => misuse(runtime))()).rejects.toThrow(
      expect.objectContaining({ code: 'ERR_CONFIG', message: expect.stringContaining(message) }),
    );
    expect(sandbox.inputs).toEqual([]);
  });

  it('options of a runtime are checked before any process is started', async () => {
    await expect(createRuntime({ launcherr: 1 } as never)).rejects.toThrow(
      /unknown key 'launcherr' in the options of the runtime; known are tools/,
    );
    await expect(createRuntime({ telemetry: 3 as never })).rejects.toThrow(
      'the options of the runtime: telemetry must be an object',
    );
    await expect(createRuntime(null as never)).rejects.toThrow(/the options of the runtime must be an object, got null/);
    await expect(createRuntime({ limits: null } as never)).rejects.toThrow(/limits must be an object, got null/);
    await expect(createRuntime({ audit: 5 } as never)).rejects.toThrow(/audit must be a function, got number/);
    await expect(createRuntime({ now: 5 } as never)).rejects.toThrow(/now must be a function, got number/);
    await expect(createRuntime({ tools: 'x' } as never)).rejects.toThrow(/tools must be a list, got string/);
    await expect(createRuntime({ tools: [{ name: 'tool.a.B', run: () => 1 }] } as never)).rejects.toThrow(
      /a tool must be made with defineTool/,
    );
    await expect(createRuntime({ limits: { memoryBytes: 64 } })).rejects.toThrow(/memoryBytes must be at least/);
    await expect(createRuntime({ policy: { allow: 'x' } as never })).rejects.toThrow(ConfigError);
    const tool = defineTool({ name: 'tool.a.B', run: () => 1 });
    await expect(createRuntime({ tools: [tool, tool] })).rejects.toThrow(/there is a tool tool\.a\.B already/);
  });

  it('after close everything rejects with RuntimeClosedError, and what runs is cancelled', async () => {
    const { runtime, sandbox } = fakeRuntime(() => new Promise(() => {}));
    const interpreter = runtime.interpreter();
    const fork = interpreter.fork();
    const running = runtime.run('x');
    await runtime.close();
    await runtime[Symbol.asyncDispose]();
    expect(await running).toMatchObject({ error: { kind: 'cancelled' } });
    expect(sandbox.closed).toBe(true);
    await expect(runtime.run('x')).rejects.toThrow(RuntimeClosedError);
    await expect(fork.execute('x')).rejects.toThrow(RuntimeClosedError);
    await expect(interpreter.load('x')).rejects.toThrow(RuntimeClosedError);
    await expect(runtime.check([])).rejects.toThrow(RuntimeClosedError);
    expect(() => interpreter.fork()).toThrow(RuntimeClosedError);
  });
});

describe('limits', () => {
  it('only ever tighten, from the runtime over the fork to the run', async () => {
    const { runtime, sandbox } = fakeRuntime(nothing, { limits: { fuel: 1000, toolCalls: 5 } });
    const fork = runtime.interpreter().fork({ limits: { fuel: 2000, toolCalls: 3, callDepth: 9 } });
    await fork.execute('x', { limits: { fuel: 10, toolCalls: 4 } });
    expect(sandbox.inputs[0]?.limits).toMatchObject({ fuel: 10, toolCalls: 3, callDepth: 9 });
    expect(runtime.limits.fuel).toBe(1000);
    expect(fork.limits).toMatchObject({ fuel: 1000, toolCalls: 3 });
  });

  it('CTX-2B-3: a deadline shortens the wall time, and passing it is a timeout, not a cancellation', async () => {
    let time = 1_000_000;
    const { runtime, sandbox } = fakeRuntime(nothing, { now: () => time });
    const fork = runtime.interpreter().fork({ turn: runtime.turn({ deadline: time + 500 }) });
    await fork.execute('x');
    time += 200;
    await fork.execute('x', { limits: { wallMs: 400 } });
    expect(sandbox.inputs.map(({ limits }) => limits.wallMs)).toEqual([500, 300]);
    const slow = fakeRuntime(() => new Promise(() => {}), { now: () => time });
    const turn = slow.runtime.turn({ deadline: time + 20 });
    const late = slow.runtime.interpreter().fork({ turn });
    const timeout = { kind: 'timeout', code: 'ERR_TIMEOUT', limit: 'wallMs' };
    expect(await late.execute('x')).toMatchObject({ ok: false, error: timeout });
    // A timer may fire before the clock shows its time.
    time += 20;
    expect(await late.execute('x')).toMatchObject({ ok: false, phase: 'request', error: timeout });
  });
});

describe('a root interpreter', () => {
  it('CTX-2A-1: gets its host context when it is made, and no other ever after', () => {
    const { runtime } = fakeRuntime(nothing);
    const root = runtime.interpreter({ host: { logger: SILENT_LOGGER }, actor: { id: 'did:x:1' } });
    expect(root.host.actor).toEqual({ id: 'did:x:1' });
    expect(() => Object.assign(root, { host: createHostContext({ logger: SILENT_LOGGER }) })).toThrow(TypeError);
    expect(() => Object.assign(root.fork(), { host: null })).toThrow(TypeError);
  });

  it('loads libraries: load replaces, append adds, forks made before see them too', async () => {
    const { runtime, sandbox } = fakeRuntime(nothing);
    const root = runtime.interpreter();
    const fork = root.fork();
    await root.load('func a', 'first');
    await root.append('func b');
    expect(root.procedures).toEqual(['a', 'b']);
    await fork.execute('x');
    expect(sandbox.inputs[0]?.sources.map(({ name }) => name)).toEqual(['first', 'lib2', 'src']);
    await root.load('func c');
    expect(root.procedures).toEqual(['c']);
  });

  it('refuses a library with errors, with command blocks, or with a procedure twice, and keeps what it has', async () => {
    const { runtime } = fakeRuntime(nothing);
    const root = runtime.interpreter();
    await root.load('func a');
    const refused = await root.load('oops').catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(LibraryError);
    expect(refused).toMatchObject({ code: 'ERR_CONFIG', message: 'lib:1:2: oops', diagnostics: [{ line: 1 }] });
    await expect(root.append('command')).rejects.toThrow(/run its command blocks with execute/);
    await expect(root.append('func a')).rejects.toThrow(/there is a procedure 'a' already/);
    expect(root.procedures).toEqual(['a']);
  });

  it('loads in the order in which it was asked', async () => {
    const { runtime } = fakeRuntime(nothing);
    const root = runtime.interpreter();
    await Promise.all([root.load('func a'), root.append('func b'), root.append('func c')]);
    expect(root.procedures).toEqual(['a', 'b', 'c']);
  });

  it('CTX-2C-4: a fork has copies of the globals as they were when it was made', async () => {
    const { runtime, sandbox } = fakeRuntime(nothing);
    const root = runtime.interpreter();
    const list = [1];
    root.setGlobal('k', list);
    const before = root.fork();
    list.push(2);
    root.setGlobal('k', 'new');
    root.setGlobal('more', true);
    await before.runRequest({ globals: { own: 1 } });
    await root.fork().runRequest({});
    expect(sandbox.inputs.map(({ globals }) => ({ ...globals }))).toEqual([
      { k: [1], own: 1 },
      { k: 'new', more: true },
    ]);
  });

  it('run, execute and emitEvent each happen in a fork of their own', async () => {
    const { runtime, sandbox } = fakeRuntime(nothing);
    const root = runtime.interpreter();
    await root.run('main', [1, 'x']);
    await root.execute('command', { name: 'job' });
    await root.emitEvent('tick', 'clock', { n: 1 });
    expect(sandbox.inputs).toMatchObject([
      { call: { name: 'main', args: [1, 'x'] }, sources: [] },
      { call: null, sources: [{ name: 'job' }] },
      { events: [{ name: 'tick', source: 'clock', payload: { n: 1 } }] },
    ]);
    expect(new Set(sandbox.inputs.map(({ forkId }) => forkId)).size).toBe(3);
  });
});

describe('forks', () => {
  it('CTX-3-6: every fork has an id of its own', () => {
    const { runtime } = fakeRuntime(nothing);
    const roots = [runtime.interpreter(), runtime.interpreter()];
    const ids = Array.from({ length: 1000 }, (_, index) => roots[index % 2]?.fork().id);
    expect(new Set(ids).size).toBe(1000);
    expect(roots[0]?.fork({ id: 'recorded' }).id).toBe('recorded');
  });

  it('CTX-2A-7 CTX-3-3: the host context is the same object in every fork', () => {
    const { runtime } = fakeRuntime(nothing);
    const root = runtime.interpreter();
    expect([root.fork().host, root.fork({ turn: runtime.turn({}) }).host].every((host) => host === root.host)).toBe(true);
  });

  it('CTX-4-4: a fork has the turn context of whoever forks, until it is given one', async () => {
    const { runtime } = fakeRuntime(async (guest) => void (await guest.tool('tool.t.fork')), {
      policy: allow,
      tools: [defineTool({ name: 'tool.t.Fork', run: () => void inner.push(root.fork().turn === currentTurn()) })],
    });
    const inner: boolean[] = [];
    const root = runtime.interpreter();
    const turn = runtime.turn({ sessionId: 's' });
    expect(root.fork().turn).toBe(root.turn);
    expect(root.fork({ turn }).turn).toBe(turn);
    await root.fork({ turn }).execute('x');
    expect(inner).toEqual([true]);
  });

  it('CTX-2B-1: the run’s own context ends with the run, the one before stays', async () => {
    const kept: ToolRuntime[] = [];
    const { runtime } = fakeRuntime(async (guest) => void (await guest.tool('tool.t.keep')), {
      policy: allow,
      tools: [defineTool({ name: 'tool.t.Keep', run: (_args, tool) => void kept.push(tool) })],
    });
    const turn = runtime.turn({ sessionId: 's' });
    await runtime.interpreter().fork({ turn }).execute('x');
    expect([kept[0]?.turn.sessionId, kept[0]?.turn.closed, kept[0]?.signal.aborted, turn.closed, currentTurn()]).toEqual([
      's',
      true,
      true,
      false,
      undefined,
    ]);
    await expect(kept[0]?.getVar('x')).rejects.toThrow(TurnClosedError);
    turn.close();
    await expect(runtime.interpreter().fork({ turn }).execute('x')).rejects.toThrow(TurnClosedError);
  });

  it('have their own tools, allowed by being given, under the policy of the root and their own', async () => {
    const own = defineTool({ name: 'tool.aeiou.Magic', run: () => 'token' });
    const shared = defineTool({ name: 'tool.t.Shared', run: () => 'shared' });
    const program: FakeProgram = async (guest) => ({
      result: [(await guest.tool('tool.aeiou.magic')).t, (await guest.tool('tool.t.shared')).t],
    });
    const { runtime } = fakeRuntime(program, { tools: [shared], policy: { allow: ['tool.t.*'] } });
    const root = runtime.interpreter();
    const results = [
      await root.fork({ tools: [own] }).execute('x'),
      await root.fork().execute('x'),
      await root.fork({ tools: [own], policy: { allow: ['tool.other.*'] } }).execute('x'),
    ];
    expect(results.map(({ result }) => result)).toEqual([
      ['ok', 'ok'],
      ['error', 'ok'],
      ['ok', 'error'],
    ]);
    const fork = root.fork({ tools: [own], policy: { deny: ['*shared'], allow: ['*'] } });
    expect([fork.denied('tool.aeiou.magic'), fork.denied('t.shared'), fork.denied('tool.un.known')]).toEqual([
      null,
      "tool 'tool.t.shared' denied by policy rule: *shared",
      null,
    ]);
  });

  it('the policy of a fork can only take away what the root allows', async () => {
    const tools = [defineTool({ name: 'tool.t.X', run: () => 1 })];
    const program: FakeProgram = async (guest) => ({ result: (await guest.tool('tool.t.x')).t });
    const root = fakeRuntime(program, { tools, policy: { allow: ['tool.other.*'] } }).runtime.interpreter();
    expect((await root.fork({ policy: { context: 'config', allow: ['*'] } }).execute('x')).result).toBe('error');
  });

  it('A3-11.2-1: without a policy a runtime denies every tool', async () => {
    const tools = [defineTool({ name: 'tool.t.X', run: () => 1 })];
    const program: FakeProgram = async (guest) => {
      const reply = await guest.tool('tool.t.x');
      return { result: reply.t === 'error' ? [reply.code, reply.message] : reply.t };
    };
    expect((await fakeRuntime(program, { tools }).runtime.run('x')).result).toEqual([
      1003,
      expect.stringContaining('allow list'),
    ]);
    expect((await fakeRuntime(program, { tools, policy: null }).runtime.run('x')).result).toEqual([
      1003,
      expect.stringContaining('no execution policy'),
    ]);
    expect((await fakeRuntime(program, { tools, policy: allow }).runtime.run('x')).result).toBe('ok');
  });

  it('call limits span all forks of a root, and no other root', async () => {
    const tools = [defineTool({ name: 'tool.t.X', run: () => 1 })];
    const program: FakeProgram = async (guest) => ({ result: (await guest.tool('tool.t.x')).t });
    const { runtime } = fakeRuntime(program, { tools, policy: { allow: ['*'], toolMaxCalls: { 'tool.t.x': 2 } } });
    const root = runtime.interpreter();
    const results: unknown[] = [];
    for (let index = 0; index < 3; index++) results.push((await root.fork().execute('x')).result);
    results.push((await runtime.run('x')).result);
    expect(results).toEqual(['ok', 'ok', 'error', 'ok']);
  });

  it('a run that a tool starts is marked as nested, and only while the call lasts', async () => {
    const late: Promise<unknown>[] = [];
    const tool = defineTool({
      name: 'tool.t.X',
      run: async () => {
        await root.execute('during');
        late.push(
          sleep(20).then(() =>
            inner.runtime
              .interpreter()
              .fork({ turn: inner.runtime.turn({}) })
              .execute('after'),
          ),
        );
      },
    });
    const inner = fakeRuntime(nothing);
    const outer = fakeRuntime(async (guest) => void (await guest.tool('tool.t.x')), { tools: [tool], policy: allow });
    const root = inner.runtime.interpreter();
    await outer.runtime.run('x');
    await Promise.all(late);
    expect([outer.sandbox.nested, inner.sandbox.nested]).toEqual([[false], [true, false]]);
  });
});

describe('the host’s callbacks', () => {
  const talking: FakeProgram = async (guest) => {
    guest.emit('e');
    guest.whisper('to', 'w');
    return { eventErrors: [{ event: 'tick', error: FAILED }] };
  };
  const FAILED: ErrorInfo = {
    kind: 'runtime',
    code: 'NS1',
    nsCode: 1,
    name: 'FailStatement',
    message: 'm',
    source: null,
    line: null,
    column: null,
    stack: [],
  };

  it('CTX-2A-5: receive what is emitted and whispered, and the errors of event handlers', async () => {
    const heard: unknown[] = [];
    const host = {
      logger: SILENT_LOGGER,
      emit: (value: unknown, text: string) => void heard.push(['emit', value, text]),
      whisper: (to: string, text: string) => void heard.push(['whisper', to, text]),
      onEventError: (event: string, source: string, error: ErrorInfo) => void heard.push([event, source, error.code]),
    };
    await fakeRuntime(talking).runtime.interpreter({ host }).emitEvent('tick', 'clock', null);
    expect(heard).toEqual([
      ['emit', 'e', 'e'],
      ['whisper', 'to', 'w'],
      ['tick', 'clock', 'NS1'],
    ]);
  });

  it('hear nothing of a turn, nor of a run with a listener of its own', async () => {
    const heard: unknown[] = [];
    const host = { logger: SILENT_LOGGER, emit: () => void heard.push('host') };
    const root = fakeRuntime(talking).runtime.interpreter({ host });
    await root.fork().runRequest({ asTurn: true });
    await root.fork().runRequest({ onOut: (out) => void heard.push(...out.emits) });
    expect(heard).toEqual(['e']);
  });

  it.each(['onOut', 'onCall'] as const)(
    'of the request itself, %s, ends the run when it throws, and the run rejects with that',
    async (name) => {
      const forever = new Promise<undefined>(() => {});
      const { runtime } = fakeRuntime(async (guest) => {
        await guest.tool('tool.none.Such');
        guest.emit('e');
        return forever;
      });
      const failure = new Error('full disk');
      const run = runtime.run('x', {
        [name]: () => {
          throw failure;
        },
      });
      await expect(run).rejects.toBe(failure);
    },
  );

  it('may throw: the run goes on, and the log says so', async () => {
    const logged: string[] = [];
    const logger = { ...SILENT_LOGGER, error: (_fields: object, message: string) => void logged.push(message) };
    const emit = (): never => {
      throw new Error('full disk');
    };
    const result = await fakeRuntime(talking).runtime.interpreter({ host: { logger, emit } }).execute('x');
    expect([result.ok, result.emits, logged]).toEqual([true, ['e'], ['the callback emit failed']]);
  });
});
