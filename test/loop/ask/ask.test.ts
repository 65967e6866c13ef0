import { describe, expect, it } from 'vitest';
import { exportSession, functionAgent } from '../../../src/loop/index.ts';
import { defineTool } from '../../../src/tools/index.ts';
import { askBench, envelope, replies, token } from './bench.ts';

const DONE = token('done');
const GO_ON = token('continue');

describe('the value of ask', () => {
  it('P34 A3-3.3-9: is the OUTPUT of the last turn without its token and its whispers, nil when nothing was emitted', async () => {
    await using bench = await askBench({
      agents: {
        three: replies(
          envelope('emit "one"', GO_ON),
          envelope('emit "two"', GO_ON),
          envelope('emit "a"', 'whisper self, "private"', 'emit "b"', DONE),
        ),
        silent: replies(envelope(DONE)),
      },
    });
    const result = await bench.run('ask "three", "go" into x', 'emit x', 'ask "SILENT", "go" into y', 'emit y == nil');
    expect(result.error).toBeNull();
    expect(result.values).toEqual(['a\nb', true]);
  });

  it('P34: ABORT is code 1 with the reason, HALT code 6 with its own, a provider that fails code 16, an unknown model code 9', async () => {
    await using bench = await askBench({
      agents: {
        aborts: replies(envelope(token('abort', '{"reason": "no way"}'))),
        bare: replies(envelope(token('abort'))),
        mute: replies(envelope('emit "no token"')),
        stuck: replies(envelope('emit "same"', GO_ON)),
        endless: functionAgent(async ({ turn }) => envelope(`emit ${turn}`, GO_ON)),
        broken: functionAgent(async () => {
          throw new Error('socket hang up');
        }),
        odd: replies('prose'),
        failing: replies(envelope('fail "inside"')),
      },
      models: { odd: { max_retries: 0 } },
    });
    const failed = async (model: string, options = '') => {
      const { error } = await bench.run(`ask "${model}", "go"${options} into x`);
      return [error?.nsCode, error?.message];
    };
    expect(await failed('aborts')).toEqual([1, 'no way']);
    expect(await failed('bare')).toEqual([1, expect.any(String)]);
    expect(await failed('mute')).toEqual([6, expect.stringContaining('ERR_TOKEN_MISSING')]);
    expect(await failed('stuck')).toEqual([6, expect.stringContaining('ERR_NO_PROGRESS')]);
    expect(await failed('endless', ' with {"max_turns": 2}')).toEqual([6, expect.stringContaining('ERR_MAX_TURNS')]);
    expect(await failed('broken')).toEqual([16, expect.stringContaining('socket hang up')]);
    expect(await failed('odd')).toEqual([6, expect.stringContaining('ERR_ENV_')]);
    expect(await failed('failing')).toEqual([6, expect.stringContaining('inside')]);
    expect(await failed('nobody')).toEqual([9, expect.stringContaining('nobody')]);
  });

  it('a model that names an unknown provider or account, is disabled, or may not go on, is a typed error', async () => {
    const agent = replies(envelope('emit 1', GO_ON));
    await using bench = await askBench({
      agents: { lost: agent, keyless: agent, off: agent, once: agent, toolless: replies(envelope('emit tool.t.One()', DONE)) },
      models: {
        lost: { provider: 'nowhere' },
        keyless: { account_name: 'missing' },
        off: { disabled: true },
        once: { auto_loop_enabled: false },
        toolless: { tool_loop_permitted: false },
      },
      runtime: { tools: [defineTool({ name: 'tool.t.One', run: () => 1 })] },
    });
    const failed = async (model: string) => {
      const { error } = await bench.run(`ask "${model}", "go"`);
      return [error?.nsCode, error?.message];
    };
    expect(await failed('lost')).toEqual([1004, expect.stringContaining('nowhere')]);
    expect(await failed('keyless')).toEqual([9, expect.stringContaining('account')]);
    expect(await failed('off')).toEqual([19, expect.stringContaining('disabled')]);
    expect(await failed('once')).toEqual([6, expect.stringContaining('ERR_POLICY')]);
    expect(await failed('toolless')).toEqual([6, expect.stringContaining('ERR_POLICY')]);
  });

  it('can be caught', async () => {
    await using bench = await askBench({ agents: { aborts: replies(envelope(token('abort', '{"reason": "no"}'))) } });
    const result = await bench.run(
      'on error do',
      '  emit system_error.code',
      '  clear_error',
      'endon',
      'ask "aborts", "go"',
      'emit "on"',
    );
    expect([result.error, result.values]).toEqual([null, [1, 'on']]);
  });
});

describe('what is asked', () => {
  it('AMB-27: a prompt becomes a field; what is USERDATA already, as a map or as text, is taken as it is', async () => {
    const prompts: string[] = [];
    const agent = functionAgent(async ({ prompt }) => {
      prompts.push(/USERDATA>>>\n(.*)\n/.exec(prompt)?.[1] ?? '');
      return envelope('emit userdata.fields', DONE);
    });
    await using bench = await askBench({ agents: { a: agent } });
    const result = await bench.run(
      'ask "a", "what?" into x',
      'emit x',
      'ask "a", {"subject": "s", "fields": {"k": 1}} into x',
      'emit x',
      `ask "a", '{"subject": "s", "fields": {"k": 2}}' into x`,
      'emit x',
      'ask "a", {"k": [1, 2]} into x',
      'emit x',
      // Canonical JSON has its own order; no key is written with a $ for the sake of another.
      'ask "a", {"subject": "s", "fields": {"k": 3, "10": 1, "2": 2}} into x',
      'ask "a", {"k": 3, "2": {"10": 1, "9": 2}} into x',
      'ask "a", "{not json" into x',
    );
    expect(result.error).toBeNull();
    expect(prompts.map((text) => JSON.parse(text))).toEqual([
      { subject: 'ask', fields: { prompt: 'what?' } },
      { subject: 's', fields: { k: 1 } },
      { subject: 's', fields: { k: 2 } },
      { subject: 'ask', fields: { prompt: { k: [1, 2] } } },
      { subject: 's', fields: { k: 3, 10: 1, 2: 2 } },
      { subject: 'ask', fields: { prompt: { k: 3, 2: { 10: 1, 9: 2 } } } },
      { subject: 'ask', fields: { prompt: '{not json' } },
    ]);
  });

  it('tells the model the rules, the language, and exactly the tools that it may call', async () => {
    let system = '';
    const agent = functionAgent(async (request) => {
      system = request.system;
      return envelope(DONE);
    });
    const tools = ['Yes', 'No'].map((name) => defineTool({ group: 't', name, run: () => 1 }));
    await using bench = await askBench({ agents: { a: agent }, runtime: { tools, policy: { allow: ['tool.t.yes'] } } });
    await bench.run('ask "a", "go"');
    expect(system).toContain('tool.t.Yes(');
    expect(system).not.toContain('tool.t.No(');
    expect(system).toContain('NeuroScript');
  });

  it('P27: options are evaluated and checked; an unknown one is code 4', async () => {
    await using bench = await askBench({ agents: { a: replies(envelope('emit "x"', DONE)) } });
    const failed = async (options: string) => {
      const { error } = await bench.run(`ask "a", "go" with ${options}`);
      return [error?.nsCode, error?.message];
    };
    expect(await failed('{"max_turn": 3}')).toEqual([
      4,
      expect.stringContaining("'max_turn' is not an option of ask; known are fuel"),
    ]);
    expect(await failed('{"fuel": 0}')).toEqual([4, expect.stringContaining('fuel must be at least')]);
    expect(await failed('{"max_turns": 0}')).toEqual([4, expect.stringContaining('max_turns')]);
    expect(await failed('{"wall_ms": "soon"}')).toEqual([4, expect.stringContaining('wall_ms')]);
    expect(await failed('5')).toEqual([7, expect.any(String)]);
    expect((await bench.run('ask "a", "go" with {"max_turns": 1 + 1, "fuel": 100000} into x', 'emit x')).values).toEqual(['x']);
  });
});

describe('nested programs', () => {
  it('CTX-3-2: run in forks of their own, with the definitions and globals of the asking run, and not its variables', async () => {
    const forks: string[] = [];
    const probe = defineTool({ name: 'tool.t.Fork', run: (_, { forkId }) => void forks.push(forkId) });
    const agent = replies(envelope('call tool.t.Fork()', 'emit double(21)', 'emit secret == nil', DONE));
    const lib = 'func double(needs n returns m) means\n  call tool.t.Fork()\n  return n * 2\nendfunc';
    await using bench = await askBench({ agents: { a: agent }, runtime: { tools: [probe] }, lib });
    const result = await bench.run('set secret = 1', 'call tool.t.Fork()', 'ask "a", "go" into x', 'emit x', 'emit secret');
    expect([result.error, result.values]).toEqual([null, ['42\ntrue', 1]]);
    expect(new Set(forks).size).toBe(3);
  });

  it('CTX-1-1, CTX-2B-1, CTX-2B-5, CTX-4-1, CTX-4-9: every tool sees its own session and turn at every depth; the caller has its own back', async () => {
    const seen: unknown[] = [];
    const probe = defineTool({
      name: 'tool.t.Probe',
      args: [{ name: 'label', type: 'string' }],
      run: ({ label }, { turn, host }) =>
        void seen.push([label, turn.sessionId, turn.turnIndex, turn.value('app'), host.actor?.id]),
    });
    const lib = 'func inner(needs label returns x) means\n  call tool.t.Probe(label)\n  return 1\nendfunc';
    const agents = {
      outer: replies(
        envelope('call inner("outer 1")', GO_ON),
        envelope('ask "deep", "go" into y', 'call inner("outer 2")', 'emit y', DONE),
      ),
      deep: replies(envelope('call inner("deep 1")', 'emit "bottom"', DONE)),
    };
    await using bench = await askBench({ agents, runtime: { tools: [probe] }, lib });
    const { AgentModelStore, createStores } = await import('../../../src/context/index.ts');
    const models = new AgentModelStore();
    for (const name of Object.keys(agents)) models.register(name, { provider: 'test', model: name });
    const root = bench.runtime.interpreter({ actor: { id: 'did:ann' }, stores: createStores({ models }) });
    await root.load(lib);
    using turn = bench.runtime.turn({ sessionId: 'host', turnIndex: 7, values: { app: 'mine' } });
    const source =
      'command\n  call tool.t.Probe("before")\n  ask "outer", "go" into x\n  call tool.t.Probe("after")\n  emit x\nendcommand';
    const result = await root.fork({ turn }).execute(source);
    expect(result.error).toBeNull();
    expect(result.values).toEqual(['bottom']);
    const sessions = seen.map((each) => (each as readonly unknown[])[1]);
    const [host, outer, , deep] = [sessions[0], sessions[1], null, sessions[2]];
    expect(seen).toEqual([
      ['before', 'host', 7, 'mine', 'did:ann'],
      ['outer 1', outer, 1, 'mine', 'did:ann'],
      ['deep 1', deep, 1, 'mine', 'did:ann'],
      ['outer 2', outer, 2, 'mine', 'did:ann'],
      ['after', 'host', 7, 'mine', 'did:ann'],
    ]);
    expect(new Set([host, outer, deep]).size).toBe(3);
    const kept = await bench.store.list();
    expect(kept.map(({ sid, status, parent }) => ({ sid, status, parent }))).toEqual(
      expect.arrayContaining([
        { sid: outer, status: 'done', parent: { sid: 'host', turn: 7, seq: 2 } },
        { sid: deep, status: 'done', parent: { sid: outer, turn: 2, seq: 1 } },
      ]),
    );
    expect((await exportSession(bench.store, String(deep)))?.parent).toEqual({ sid: outer, turn: 2, seq: 1 });
  });

  it('obey the policy of the run that asks, its call limits included', async () => {
    const tool = defineTool({ name: 'tool.t.Once', run: () => 1 });
    await using bench = await askBench({
      agents: { a: replies(envelope('emit tool.t.Once()', DONE)) },
      runtime: { tools: [tool], policy: { allow: ['tool.t.once'], toolMaxCalls: { 'tool.t.once': 1 } } },
    });
    const result = await bench.run('emit tool.t.Once()', 'ask "a", "go" into x');
    expect(result.values).toEqual([1]);
    expect(result.error?.message).toContain('call limit');
  });

  it('nest no deeper than the host allows: code 38', async () => {
    await using bench = await askBench({
      agents: { a: replies(envelope('ask "a", "go" into x', 'emit x', DONE)) },
      ask: { maxDepth: 3 },
    });
    const { error } = await bench.run('ask "a", "go" into x');
    expect(error?.message).toContain('nested 3 deep');
  });

  it('three deep on one worker place do not wait for each other for ever, also where a look ahead needs a worker', async () => {
    const agents = {
      one: replies(envelope('ask "two", "go" into x', 'emit x', DONE)),
      two: replies(envelope('ask "three", "go" into x', 'emit x', DONE)),
      three: replies(envelope('emit tool.t.Priced()', DONE)),
    };
    const priced = defineTool({ name: 'tool.t.Priced', cost: { usd: 0.1 }, run: () => 'deepest' });
    const policy = { allow: ['*'], order: [{ tool: 'tool.t.priced', 'not-after': 'tool.t.never' }] };
    await using bench = await askBench({ agents, runtime: { maxWorkers: 5, tools: [priced], policy, limits: { cost: 1 } } });
    const results = await Promise.all([1, 2, 3].map(() => bench.run('ask "one", "go" into x', 'emit x')));
    expect(results.map(({ error, values }) => [error, values])).toEqual([
      [null, ['deepest']],
      [null, ['deepest']],
      [null, ['deepest']],
    ]);
  });

  it('a tool that would answer later cannot: code 19, and the loop goes on', async () => {
    const later = defineTool({ name: 'tool.t.Later', run: (_, runtime) => runtime.pending({ reason: 'a human' }) });
    await using bench = await askBench({
      agents: {
        a: replies(envelope('on error do', '  emit system_error.code', '  clear_error', 'endon', 'call tool.t.Later()', DONE)),
      },
      runtime: { tools: [later] },
    });
    expect((await bench.run('ask "a", "go" into x', 'emit x')).values).toEqual(['19']);
  });
});
