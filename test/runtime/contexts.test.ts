import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createRuntime,
  currentTurn,
  defineTool,
  type HostContext,
  type RunResult,
  type Runtime,
  SILENT_LOGGER,
  ToolError,
  type TurnContext,
} from '../../src/entries/index.ts';

/** Each proof goes through the real sandbox: worker process, isolate, pipe. */

const command = (...lines: readonly string[]): string =>
  ['command', ...lines.map((line) => `  ${line}`), 'endcommand', ''].join('\n');
const func = (head: string, ...lines: readonly string[]): string =>
  [`func ${head} means`, ...lines.map((line) => `  ${line}`), 'endfunc', ''].join('\n');

interface Seen {
  readonly fork: string;
  readonly host: HostContext;
  readonly turn: TurnContext;
  readonly who: unknown;
  readonly ambient: boolean;
}

const seen: Seen[] = [];
/** The calls of `tool.test.Wait` whose signal was aborted, and whether that of their turn was. */
const aborted: unknown[] = [];

const TOOLS = [
  defineTool({
    name: 'tool.test.Probe',
    description: 'returns variable x of its caller, with the turn it runs in',
    run: async (_args, runtime) => {
      const { forkId, host, turn, tools } = runtime;
      seen.push({ fork: forkId, host, turn, who: runtime.actor?.id, ambient: currentTurn() === turn && tools.forkId === forkId });
      return { x: (await runtime.getVar('x')) ?? null, sid: turn.sessionId, turn: turn.turnIndex, fork: forkId };
    },
  }),
  defineTool({
    name: 'tool.test.Set',
    args: [{ name: 'name', type: 'string' }, { name: 'value' }],
    run: ({ name, value }, runtime) => runtime.setVar(name, value),
  }),
  defineTool({ name: 'tool.test.Via', run: (_args, runtime) => runtime.callTool('test.Probe', []) }),
  defineTool({
    name: 'tool.test.Sid',
    args: [{ name: 'sid', required: false }],
    run: (_args, runtime) => runtime.turn.sessionId,
  }),
  defineTool({
    name: 'tool.test.Slow',
    args: [{ name: 'ms', type: 'int' }],
    run: async ({ ms }, runtime) => {
      const before = [runtime.turn.sessionId, currentTurn()?.sessionId, await runtime.getVar('mine')];
      await sleep(ms);
      return [...before, runtime.turn.sessionId, currentTurn()?.sessionId, await runtime.getVar('mine')];
    },
  }),
  defineTool({
    name: 'tool.test.Nested',
    description: 'runs a program in a fork of its own, as a nested turn does',
    run: async (_args, runtime) => {
      const turn = runtime.turn.derive({ turnIndex: 9 });
      const result = await nesting.interpreter().fork({ turn }).execute(command('emit tool.test.Probe()'));
      turn.close();
      return [result.values[0] ?? null, runtime.turn.turnIndex, currentTurn()?.turnIndex];
    },
  }),
  defineTool({
    name: 'tool.test.Wait',
    run: (_args, runtime) =>
      new Promise((_, reject) =>
        runtime.signal.addEventListener('abort', () => {
          aborted.push([runtime.turn.sessionId, runtime.turn.signal.aborted]);
          reject(new Error('aborted'));
        }),
      ),
  }),
  defineTool({ name: 'tool.test.Fail', run: () => Promise.reject(new ToolError(9, 'gone', 'look elsewhere')) }),
  defineTool({ name: 'tool.test.Secret', run: () => 'secret' }),
  defineTool({
    name: 'tool.test.Say',
    run: (_args, { host }) => {
      host.stdout?.write('said');
      host.stderr?.write('complained');
    },
  }),
];

let runtime: Runtime;
let nesting: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({ tools: TOOLS, policy: { allow: ['*'], deny: ['*.secret'] } });
  nesting = runtime;
});
afterAll(() => runtime.close());

async function succeed(result: Promise<RunResult>): Promise<RunResult> {
  const ended = await result;
  expect(ended.error).toBeNull();
  return ended;
}

describe('the chain of custody, through the real sandbox', () => {
  it('CTX-1-1 CTX-2B-4 CTX-4-8: a probe at any depth of calls sees actor, session, turn and its caller’s variables', async () => {
    const lib = [0, 1, 2, 3, 4]
      .map((level) =>
        func(`f${level}(needs x returns r)`, level === 4 ? 'return tool.test.Probe()' : `return f${level + 1}(x + 1)`),
      )
      .join('\n');
    const root = runtime.interpreter({ host: { logger: SILENT_LOGGER }, actor: { id: 'did:x:ann' } });
    await root.load(lib);
    const turn = runtime.turn({ sessionId: 'sid-1', turnIndex: 3 });
    seen.length = 0;
    const lines = ['set x = 100', 'emit tool.test.Probe()', ...[4, 3, 2, 1, 0].map((level) => `emit f${level}(x + 1)`)];
    const { values } = await succeed(root.fork({ turn }).execute(command(...lines)));
    turn.close();
    expect(values).toMatchObject([0, 1, 2, 3, 4, 5].map((depth) => ({ x: 100 + depth, sid: 'sid-1', turn: 3 })));
    expect(seen).toHaveLength(6);
    for (const { host, who, ambient } of seen) expect([host === root.host, who, ambient]).toEqual([true, 'did:x:ann', true]);
  });

  it('CTX-3-1 CTX-3-9 CTX-4-5 CTX-4-6: every procedure call is a fork, and a tool gets the fork that called it', async () => {
    const lib =
      func('inner(returns r)', 'return tool.test.Probe()') +
      func('outer(returns r)', 'set x = "outer"', 'set i = inner()', 'return [i, tool.test.Probe()]');
    const root = runtime.interpreter();
    await root.load(lib);
    seen.length = 0;
    const { values } = await succeed(root.execute(command('set x = "top"', 'emit outer()', 'emit tool.test.Probe()')));
    expect(values).toMatchObject([[{ x: null }, { x: 'outer' }], { x: 'top' }]);
    expect(new Set(seen.map(({ fork }) => fork)).size).toBe(3);
  });

  it('CTX-2C-1 CTX-2C-2 CTX-3-7: no procedure, fork or sibling reaches another’s variables, not even through a tool', async () => {
    const lib = func('change(needs x)', 'set x = "changed"', 'set y = 1', 'call tool.test.Set("x", "by tool")', 'emit x');
    const root = runtime.interpreter();
    await root.load(lib);
    const first = await succeed(root.execute(command('set x = "mine"', 'call change(x)', 'emit x', 'emit y')));
    expect(first.values).toEqual(['by tool', 'mine', null]);
    expect((await succeed(root.execute(command('emit x', 'emit y')))).values).toEqual([null, null]);
    const both = await Promise.all(
      [1, 2].map((n) => succeed(root.execute(command(`set x = ${n}`, 'call tool.test.Slow(20)', 'emit x')))),
    );
    expect(both.map(({ values }) => values)).toEqual([[1], [2]]);
  });

  it('P29: setVar of a tool changes the caller’s variable, with any value', async () => {
    const { values } = await succeed(
      runtime.run(
        command(
          'set x = 1',
          'call tool.test.Set("x", [1, {"a": 2}])',
          'emit x[1]["a"]',
          'call tool.test.Set("new", x)',
          'emit new[0]',
        ),
      ),
    );
    expect(values).toEqual([2, 1]);
  });

  it('P7: a tool cannot set a global of the root from a fork either: code 43', async () => {
    const root = runtime.interpreter();
    root.setGlobal('g', 1);
    const { values } = await succeed(
      root.execute(
        command('on error do', '  emit system_error["code"]', '  clear_error', 'endon', 'call tool.test.Set("g", 2)', 'emit g'),
      ),
    );
    expect(values).toEqual([43, 1]);
  });

  it('CTX-2C-4: a fork has the root’s globals and none of its locals; later changes are for later forks', async () => {
    const root = runtime.interpreter();
    root.setGlobal('g', { list: [1] });
    const before = root.fork();
    root.setGlobal('g', 2);
    await succeed(root.execute(command('set local = 1')));
    expect((await succeed(before.execute(command('emit g', 'emit local')))).values).toEqual([{ list: [1] }, null]);
    expect((await succeed(root.execute(command('emit g')))).values).toEqual([2]);
  });

  it('CTX-3-5: procedures of the root are known in every fork, those of one run in no other', async () => {
    const root = runtime.interpreter();
    await root.load(func('shared(returns r)', 'return "shared"'));
    const own = root.fork();
    const sources = [
      { name: 'own', text: func('private(returns r)', 'return shared()') },
      { name: 'src', text: command('emit private()') },
    ];
    expect((await succeed(own.runRequest({ sources }))).values).toEqual(['shared']);
    for (const fork of [root, root.fork(), own])
      expect(await fork.execute(command('emit private()'))).toMatchObject({ error: { code: 'NS2' } });
  });

  it('CTX-2A-3 CTX-2A-5 P35: emits, whispers, questions and answers go through the host’s own streams', async () => {
    const heard: unknown[] = [];
    const host = {
      logger: SILENT_LOGGER,
      stdin: ['Ann\n', 'Lee'],
      stdout: { write: (text: string) => heard.push(['out', text]) },
      stderr: { write: (text: string) => heard.push(['err', text]) },
      emit: (value: unknown, text: string) => void heard.push(['emit', value, text]),
      whisper: (to: string, text: string) => void heard.push(['whisper', to, text]),
    };
    const source = command(
      'promptuser "First?" into a',
      'promptuser "Last?" into b',
      'emit [a, b]',
      'whisper self, a',
      'call tool.test.Say()',
    );
    const result = await succeed(runtime.interpreter({ host }).execute(source));
    expect(heard).toEqual([
      ['out', 'First? '],
      ['out', 'Last? '],
      ['emit', ['Ann', 'Lee'], '["Ann", "Lee"]'],
      ['whisper', 'default_self_buffer', 'Ann'],
      ['out', 'said'],
      ['err', 'complained'],
    ]);
    expect(result.journal).toMatchObject([
      { kind: 'prompt', text: 'First?', outcome: { value: 'Ann' } },
      { kind: 'prompt', outcome: { value: 'Lee' } },
      { kind: 'tool', name: 'tool.test.say' },
    ]);
    expect(await runtime.run(source)).toMatchObject({ error: { code: 'NS26' } });
  });

  it('P35: a question that its run no longer waits for takes no line from the next one', async () => {
    const lines = new TransformStream<string, string>();
    const asked = Promise.withResolvers<void>();
    const host = { logger: SILENT_LOGGER, stdin: lines.readable, stdout: { write: () => asked.resolve() } };
    const root = runtime.interpreter({ host });
    const source = command('promptuser "Name?" into a', 'emit a');
    const given = new AbortController();
    const first = root.fork().execute(source, { signal: given.signal });
    await asked.promise;
    given.abort();
    expect(await first).toMatchObject({ error: { code: 'ERR_CANCELLED' } });
    const second = root.fork().execute(source);
    await lines.writable.getWriter().write('Ann\n');
    expect(await second).toMatchObject({ emits: ['Ann'] });
  });

  it('P35: a turn has no input, whatever its host has', async () => {
    const root = runtime.interpreter({ host: { logger: SILENT_LOGGER, stdin: ['Ann\n'] } });
    const source = { name: 'src', text: command('promptuser "Name?" into a', 'emit a') };
    expect(await root.fork().runRequest({ sources: [source], asTurn: true })).toMatchObject({ error: { code: 'NS26' } });
    expect(await root.fork().runRequest({ sources: [source] })).toMatchObject({ emits: ['Ann'] });
  });

  it('CTX-4-7: an event handler and a tool called by a tool see the actor and their own caller', async () => {
    const root = runtime.interpreter({ actor: { id: 'did:x:bob' } });
    await root.load('on event "tick" as e do\n  set x = e["payload"][0]["Payload"]["n"]\n  emit tool.test.Via()\nendon\n');
    seen.length = 0;
    const { values } = await succeed(root.emitEvent('tick', 'clock', { n: 7 }));
    expect(values).toMatchObject([{ x: 7 }]);
    expect(seen).toMatchObject([{ who: 'did:x:bob', ambient: true }]);
  });

  it('CTX-2B-1 CTX-4-9: a nested run has its own turn on top of its caller’s, which is back afterwards', async () => {
    const turn = runtime.turn({ sessionId: 'outer', turnIndex: 1 });
    const { values } = await succeed(
      runtime.interpreter().fork({ turn }).execute(command('emit tool.test.Nested()', 'emit tool.test.Probe()')),
    );
    turn.close();
    expect(values).toMatchObject([[{ sid: 'outer', turn: 9 }, 1, 1], { sid: 'outer', turn: 1 }]);
  });

  it('AL3-3-3: a tool takes the session from its turn, whatever a script claims', async () => {
    const turn = runtime.turn({ sessionId: 'true-sid' });
    const { values } = await succeed(runtime.interpreter().fork({ turn }).execute(command('emit tool.test.Sid("forged")')));
    turn.close();
    expect(values).toEqual(['true-sid']);
  });

  it('AL3-3-2: 100 sessions at once with slow tools: each sees its own turn and its own variables', async () => {
    const root = runtime.interpreter();
    await root.load(func('work(needs mine, ms returns r)', 'return tool.test.Slow(ms)'));
    const runs = Array.from({ length: 100 }, async (_, index) => {
      const turn = runtime.turn({ sessionId: `s-${index}`, turnIndex: 1 });
      const source = command(
        `set mine = ${index}`,
        `emit tool.test.Slow(${index % 7})`,
        `emit work(${index} + 1000, ${(index * 3) % 5})`,
      );
      const result = await root.fork({ turn }).execute(source);
      turn.close();
      return { index, result };
    });
    for (const { index, result } of await Promise.all(runs)) {
      const sid = `s-${index}`;
      expect(result.error).toBeNull();
      expect(result.values).toEqual([
        [sid, sid, index, sid, sid, index],
        [sid, sid, index + 1000, sid, sid, index + 1000],
      ]);
    }
  });
});

describe('the asynchronous context of whoever runs a script', () => {
  const own = new AsyncLocalStorage<string>();
  const whose = (): string => own.getStore() ?? 'nobody';
  const who = defineTool({
    name: 'tool.test.Who',
    run: async () => {
      const before = whose();
      await sleep(1);
      return [before, whose()];
    },
  });

  it('is there in tools and callbacks, however many run at once, and whoever made the worker', async () => {
    await using runtime = await own.run('maker', () => createRuntime({ tools: [who], policy: { allow: ['*'] }, concurrency: 2 }));
    const heard: string[] = [];
    const run = async (name: string) =>
      own.run(name, async () => {
        const result = await runtime.run(command('emit tool.test.Who()'), {
          onOut: () => heard.push(`${name} out ${whose()}`),
          onCall: () => heard.push(`${name} call ${whose()}`),
        });
        expect([whose(), result.values]).toEqual([name, [[name, name]]]);
      });
    const names = ['a', 'b', 'c', 'd', 'e'];
    await Promise.all(names.map(run));
    expect(heard.toSorted()).toEqual(names.flatMap((name) => [`${name} call ${name}`, `${name} out ${name}`]));
    expect((await runtime.run(command('emit tool.test.Who()'))).values).toEqual([['nobody', 'nobody']]);
  });

  it('is that of the calling tool for a run that a tool begins', async () => {
    const runtimes: Runtime[] = [];
    const nested = defineTool({
      name: 'tool.test.Nested',
      run: async () => (await runtimes[0]?.run(command('emit tool.test.Who()')))?.values ?? null,
    });
    await using runtime = await createRuntime({ tools: [who, nested], policy: { allow: ['*'] }, concurrency: 2 });
    runtimes.push(runtime);
    const { values } = await own.run('caller', () => runtime.run(command('emit tool.test.Nested()')));
    expect(values).toEqual([[['caller', 'caller']]]);
  });

  it('is not held by the worker that was made for a run', async () => {
    const gate = Promise.withResolvers<null>();
    const asked = Promise.withResolvers<void>();
    const wait = (): Promise<null> => {
      asked.resolve();
      return gate.promise;
    };
    const waits = defineTool({ name: 'tool.test.Wait', run: wait });
    await using runtime = await createRuntime({ tools: [waits], policy: { allow: ['*'] }, concurrency: 1, maxWorkers: 2 });
    const held = new AsyncLocalStorage<object>();
    const during = async (): Promise<WeakRef<object>> => {
      const store = {};
      await held.run(store, () => runtime.run(command('emit 1')));
      return new WeakRef(store);
    };
    const first = runtime.run(command('emit tool.test.Wait()'));
    // The only worker waits, so the next run has one made.
    await asked.promise;
    const ref = await during();
    setFlagsFromString('--expose-gc');
    const collect: () => void = runInNewContext('gc');
    const isHeld = (): boolean => {
      collect();
      return ref.deref() !== undefined;
    };
    await expect.poll(isHeld, { timeout: 20_000 }).toBe(false);
    gate.resolve(null);
    expect((await first).ok).toBe(true);
  });
});

describe('errors, policy and cancellation, through the real sandbox', () => {
  const caught = (call: string): string =>
    command('on error do', '  emit [system_error["code"], system_error["name"]]', '  clear_error', 'endon', call, 'emit "on"');

  it('a tool’s error has its code, a policy breach is 1003, and both can be caught', async () => {
    expect((await succeed(runtime.run(caught('call tool.test.Fail()')))).values).toEqual([[9, 'KeyNotFound'], 'on']);
    expect((await succeed(runtime.run(caught('call tool.test.Secret()')))).values).toEqual([[1003, 'Policy'], 'on']);
    expect((await succeed(runtime.run(caught('call tool.test.Nothing()')))).values).toEqual([[3, 'ToolNotFound'], 'on']);
    expect((await succeed(runtime.run(caught('call tool.test.Probe(1)')))).values).toEqual([[4, 'ArgMismatch'], 'on']);
    expect(await runtime.run(command('emit tool.test.Secret()'))).toMatchObject({
      ok: false,
      error: { kind: 'policy', code: 'NS1003', line: 2, column: 8 },
    });
    expect(await runtime.run(command('call tool.test.Fail()'))).toMatchObject({ error: { code: 'NS9', hint: 'look elsewhere' } });
  });

  it('under halt a breach ends the run: no handler sees it', async () => {
    const root = runtime.interpreter();
    const fork = root.fork({ policy: { allow: ['*'], deny: ['*.probe'], onPolicyBreach: 'halt' } });
    const result = await fork.execute(caught('call tool.test.Probe()'));
    expect(result).toMatchObject({ ok: false, values: [], error: { kind: 'policy', code: 'NS1003', nsCode: 1003 } });
    expect(result.journal).toMatchObject([{ name: 'tool.test.probe', outcome: { ok: false, halted: { kind: 'policy' } } }]);
  });

  it('CTX-2B-3: aborting the caller’s signal aborts the tool and ends the run as cancelled', async () => {
    const cancel = new AbortController();
    aborted.length = 0;
    const running = runtime.run(caught('call tool.test.Wait()'), { signal: cancel.signal });
    setTimeout(() => cancel.abort(), 30);
    const result = await running;
    expect(aborted).toEqual([[null, true]]);
    expect(result).toMatchObject({ ok: false, error: { kind: 'cancelled', code: 'ERR_CANCELLED' } });
    expect(result.journal).toMatchObject([{ name: 'tool.test.wait', outcome: { ok: false, halted: { code: 'ERR_CANCELLED' } } }]);
  });

  it('a tool that never answers ends at its time limit, and the next run works', async () => {
    const result = await runtime.run(caught('call tool.test.Wait()'), { limits: { toolMs: 30 } });
    expect(result).toMatchObject({ ok: false, error: { kind: 'timeout', code: 'ERR_TIMEOUT', limit: 'toolMs', allowed: 30 } });
    expect(result.journal).toMatchObject([{ outcome: { halted: { code: 'ERR_TIMEOUT' } } }]);
    expect((await succeed(runtime.run(command('emit 1')))).values).toEqual([1]);
  });

  it('a library with a syntax error says where', async () => {
    await expect(runtime.interpreter().load('func f() means\n  set x =\nendfunc\n', 'tools.ns')).rejects.toThrow(/^tools\.ns:2:/);
    const { diagnostics, files } = await runtime.check([{ name: 'ok.ns', text: command('emit tool.a.B()') }]);
    expect([diagnostics, files[0]?.tools]).toEqual([[], ['tool.a.b']]);
  });

  it('P28: each command block runs once', async () => {
    const root = runtime.interpreter();
    await root.load(func('f()', 'emit "f"'));
    expect((await succeed(root.execute(command('emit 1')))).values).toEqual([1]);
    await root.append(func('g()', 'emit "g"'));
    expect((await succeed(root.execute(command('emit 2')))).values).toEqual([2]);
    expect((await succeed(root.run('g'))).values).toEqual(['g']);
  });
});
