import { describe, expect, it } from 'vitest';
import { defineTool, Policy } from '../../src/tools/index.ts';
import {
  capsuleTools,
  MemoryCapsules,
  memoryTools,
  pathRule,
  policyTools,
  scratchTools,
  systemTools,
} from '../../stdlib-tools/index.ts';
import { emitted, values } from './call.ts';

describe('tool.system.Caps', () => {
  it('AL1-6-1: answers from the policy in force: allowed and granted is true, all else is false', async () => {
    const others = [
      ...memoryTools(),
      defineTool({ name: 'tool.fs.Copy', capabilities: ['fs:read,write:/tmp/*'], run: () => null }),
      defineTool({ name: 'tool.net.Get', capabilities: ['net:read'], run: () => null }),
      defineTool({ name: 'tool.pure.Nothing', run: () => null }),
    ];
    const caps = async (allow: readonly string[], grants: readonly string[], deny: readonly string[] = []) => {
      const options = { allow: ['tool.system.*', ...allow], grants, deny };
      const tools = [...systemTools({ policy: new Policy(options) }), ...others];
      const [result] = await emitted(tools, ['tool.system.Caps()'], { policy: options });
      return result?.values[0];
    };
    const none = { 'memory:read': false, 'memory:write': false, 'fs:read': false, 'fs:write': false, 'net:read': false };
    expect(await caps([], [])).toEqual(none);
    expect(await caps(['*'], ['memory:read'])).toEqual({ ...none, 'memory:read': true });
    expect(await caps([], ['memory:*'])).toEqual(none);
    expect(await caps(['*'], ['memory:*', 'net:read'], ['tool.net.*'])).toEqual({
      ...none,
      'memory:read': true,
      'memory:write': true,
    });
    expect(await caps(['*'], ['fs:read:/tmp/*'])).toEqual(none);
    expect(await caps(['*'], ['fs:*:/tmp/*'])).toEqual({ ...none, 'fs:read': true, 'fs:write': true });
  });
});

describe('tool.capsule', () => {
  const store = new MemoryCapsules([
    { id: 'capsule/b', version: '1', content: 'old' },
    { id: 'capsule/b', version: '2', content: 'new', metadata: { mime: 'text/plain' } },
    { id: 'capsule/a', version: '7', content: 'other' },
  ]);

  it('AL1-6-2: lists ids, reads the newest or a named version, and gives nil for what it does not know', async () => {
    const newest = { id: 'capsule/b', version: '2', content: 'new', metadata: { mime: 'text/plain' } };
    expect(
      await values(
        capsuleTools(store),
        'tool.capsule.List()',
        'tool.capsule.Read("capsule/b")',
        'tool.capsule.Read("capsule/b@1")',
        'tool.capsule.Read("capsule/b@3")',
        'tool.capsule.Read("capsule/zzz")',
        'tool.capsule.Read("")',
      ),
    ).toEqual([
      ['capsule/a', 'capsule/b'],
      newest,
      { id: 'capsule/b', version: '1', content: 'old', metadata: {} },
      null,
      null,
      null,
    ]);
  });

  it('refuses capsules that could not be named', () => {
    const one = { id: 'a', version: '1', content: '' };
    for (const bad of [[one, one], [{ ...one, id: '' }], [{ ...one, version: '' }], [{ ...one, id: 'a@b' }]])
      expect(() => new MemoryCapsules(bad)).toThrow(expect.objectContaining({ code: 'ERR_CONFIG' }));
  });
});

describe('tool.memory', () => {
  it('AL1-6-3: Get gives value and version, CAS writes when the version is right and says which one is stored', async () => {
    expect(
      await values(
        memoryTools(),
        'tool.memory.Get("/a")',
        'tool.memory.CAS("/a", 1, "x")',
        'tool.memory.CAS("/a", 0, {"k": [1, nil]})',
        'tool.memory.Get("/a")',
        'tool.memory.CAS("/a", 0, "y")',
        'tool.memory.CAS("/a", 1, nil)',
        'tool.memory.Get("/a")',
        'tool.memory.Get("/b")',
      ),
    ).toEqual([
      [null, 0],
      [false, 0],
      [true, 1],
      [{ k: [1, null] }, 1],
      [false, 1],
      [true, 2],
      [null, 2],
      [null, 0],
    ]);
  });

  it('AL1-6-3: actors have a memory each, over their sessions; without an actor every session has its own', async () => {
    const tools = memoryTools();
    const write = ['tool.memory.CAS("/a", 0, "x")'];
    const stored = async (options: Parameters<typeof emitted>[2]) =>
      (await emitted(tools, write, options)).map((run) => run.values[0]);
    expect(await stored({ actor: 'ann', sessions: ['s1', 's2'] })).toEqual([
      [true, 1],
      [false, 1],
    ]);
    expect(await stored({ actor: 'bob', sessions: ['s1'] })).toEqual([[true, 1]]);
    expect(await stored({ sessions: ['s1', 's2', 's1'] })).toEqual([
      [true, 1],
      [true, 1],
      [false, 1],
    ]);
    // An actor cannot be named so that it meets a session.
    expect(await stored({ actor: 's1' })).toEqual([[true, 1]]);
    const [outside] = await emitted(tools, write, { sessions: [null] });
    expect(outside?.error).toMatchObject({ code: 'NS19' });
  });

  it('reads need memory:read, writes need memory:write', async () => {
    const policy = { allow: ['*'], grants: ['memory:read'] };
    const [read] = await emitted(memoryTools(), ['tool.memory.Get("/a")'], { policy });
    const [write] = await emitted(memoryTools(), ['tool.memory.CAS("/a", 0, 1)'], { policy });
    expect([read?.error, write?.error?.code]).toEqual([null, 'NS1003']);
  });
});

describe('tool.policy.Allow', () => {
  it('AL1-6-4: allows a plan of which every step is allowed, and says why not otherwise', async () => {
    const step = (op: string, path: string) => `{"op": "${op}", "path": "${path}", "value": "v"}`;
    const good = step('set', '/queue/x');
    const results = await values(
      policyTools(pathRule(['/queue/*', '/exact'])),
      `tool.policy.Allow([${good}, ${step('set', '/exact')}])`,
      `tool.policy.Allow([${good}, ${step('set', '/exact/not')}])`,
      `tool.policy.Allow([${step('delete', '/queue/x')}])`,
      'tool.policy.Allow([])',
      'tool.policy.Allow("everything")',
      'tool.policy.Allow(nil)',
      'tool.policy.Allow([{"op": "set", "path": "/exact"}])',
    );
    expect(results).toEqual([
      [true, ''],
      [false, 'step 2: /exact/not may not be written'],
      [false, "step 1: the operation 'delete' is not known"],
      [false, 'the plan has no steps'],
      [false, 'a plan is a list of steps'],
      [false, 'a plan is a list of steps'],
      [false, 'step 1: a step is a map with op, path and value'],
    ]);
  });

  it('AL1-6-4: it is pure: it says so, needs no grant, and gives the same answer again; a refusal always has a reason', async () => {
    const [tool] = policyTools(() => '');
    expect(tool).toMatchObject({ effects: 'none', capabilities: [] });
    const plan = 'tool.policy.Allow([{"op": "set", "path": "/a", "value": 1}])';
    expect(
      await values(
        policyTools(() => ''),
        plan,
        plan,
      ),
    ).toEqual([
      [false, 'step 1: not allowed'],
      [false, 'step 1: not allowed'],
    ]);
  });
});

describe('tool.scratch', () => {
  it('AL1-6-5: keeps a value under CAS, per session', async () => {
    const tools = scratchTools();
    const work = [
      'tool.scratch.Get("k")',
      'tool.scratch.PutCAS("k", 0, "v", 60)',
      'tool.scratch.PutCAS("k", 0, "w", 60)',
      'tool.scratch.Get("k")',
    ];
    const runs = await emitted(tools, work, { sessions: ['s1', 's2', 's1'] });
    expect(runs.map((run) => run.values)).toEqual([
      [
        [null, 0],
        [true, 1],
        [false, 1],
        ['v', 1],
      ],
      [
        [null, 0],
        [true, 1],
        [false, 1],
        ['v', 1],
      ],
      [
        ['v', 1],
        [false, 1],
        [false, 1],
        ['v', 1],
      ],
    ]);
  });

  it('AL1-2.11-1: it expires with its time to live, and a version from before never matches again', async () => {
    let now = 1000;
    const tools = scratchTools();
    const at = async (...work: string[]) => (await emitted(tools, work, { clock: () => now }))[0]?.values;
    expect(await at('tool.scratch.PutCAS("k", 0, "v", 2)')).toEqual([[true, 1]]);
    now += 1999;
    expect(await at('tool.scratch.Get("k")')).toEqual([['v', 1]]);
    now += 1;
    expect(await at('tool.scratch.Get("k")', 'tool.scratch.PutCAS("k", 1, "w", 2)')).toEqual([
      [null, 0],
      [false, 0],
    ]);
    expect(await at('tool.scratch.PutCAS("k", 0, "w", 2)', 'tool.scratch.PutCAS("k", 1, "x", 2)')).toEqual([
      [true, 2],
      [false, 2],
    ]);
  });

  it('AL1-6-5: a time to live above the cap, below zero or none at all is refused; without one the default holds', async () => {
    let now = 0;
    const tools = scratchTools({ maxTtlSeconds: 10 });
    const at = async (...work: string[]) => (await emitted(tools, work, { clock: () => now }))[0]?.values;
    for (const ttl of ['11', '0', '-1']) expect(await values(tools, `tool.scratch.PutCAS("k", 0, "v", ${ttl})`)).toEqual(['NS4']);
    expect(await at('tool.scratch.PutCAS("k", 0, "v", 10)', 'tool.scratch.PutCAS("d", 0, "v")')).toEqual([
      [true, 1],
      [true, 1],
    ]);
    now = 10_000;
    expect(await at('tool.scratch.Get("k")', 'tool.scratch.Get("d")')).toEqual([
      [null, 0],
      [null, 0],
    ]);
    expect(() => scratchTools({ maxTtlSeconds: 0 })).toThrow(expect.objectContaining({ code: 'ERR_CONFIG' }));
  });
});
