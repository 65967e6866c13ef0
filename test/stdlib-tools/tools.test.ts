import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { CapsuleLayers } from '../../src/context/index.ts';
import { defineTool, Policy } from '../../src/tools/index.ts';
import {
  capsuleTools,
  MemoryStorage,
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
  const fields = (name: string, version: number, content: string) => ({ name, version, description: 'd', content });
  const ADMIN = { context: 'config', allow: ['*'], grants: ['*:*:*'] } as const;
  const shown = (id: string, version: string, content: string) => ({
    id,
    version,
    content,
    metadata: {
      description: 'd',
      mime: 'text/markdown',
      sha256: createHash('sha256').update(content).digest('hex'),
    },
  });
  const read = (...ids: readonly string[]) => ids.map((id) => `tool.capsule.Read("${id}")`);
  const add = (name: string, version: unknown, content: string) =>
    `tool.capsule.Add({"name": "${name}", "version": ${version}, "description": "d", "content": "${content}"})`;

  it('AL1-6-2: lists the names of the interpreter, reads the newest or a named version, and gives nil for what it does not know', async () => {
    const capsules = new CapsuleLayers([[fields('capsule/b', 1, 'old'), fields('capsule/b', 2, 'new')]]);
    capsules.register(fields('capsule/a', 7, 'other'));
    const asked = ['tool.capsule.List()', ...read('capsule/b', 'capsule/b@1', 'capsule/b@3', 'capsule/b@01', 'capsule/zzz', '')];
    const [run] = await emitted(capsuleTools(), asked, { stores: { capsules } });
    expect(run?.values).toEqual([
      ['capsule/a', 'capsule/b'],
      shown('capsule/b', '2', 'new'),
      shown('capsule/b', '1', 'old'),
      ...[null, null, null, null],
    ]);
  });

  it("CTX-3-4: what a trusted program adds is the interpreter's, and a version is added once", async () => {
    const capsules = new CapsuleLayers();
    const asked = [add('capsule/a', 1, 'x'), ...read('capsule/a'), add('capsule/a', 1, 'y')];
    const [run] = await emitted(capsuleTools(), asked, { stores: { capsules }, policy: ADMIN });
    expect(run?.values).toEqual([true, shown('capsule/a', '1', 'x')]);
    expect(run?.error).toMatchObject({ code: 'NS42' });
    expect(capsules.get('capsule/a', 1)?.content).toBe('x');
    const [refused] = await emitted(capsuleTools(), [add('capsule/b', 1, 'x')]);
    expect(refused?.error).toMatchObject({ code: 'NS1003' });
  });

  it.each([
    ['no map of fields', '{}', 'name is missing; version is missing'],
    ['a field that capsules do not have', '{"colour": 1}', "'colour' is not one of its fields"],
    ['a name of another form', '{"name": "Rules", "version": 1, "description": "d", "content": "x"}', "name must be 'capsule/'"],
    ['a version that is none', '{"name": "capsule/a", "version": 0, "description": "d", "content": "x"}', 'version must be'],
  ])('refuses %s', async (_, given, problem) => {
    const [run] = await emitted(capsuleTools(), [`tool.capsule.Add(${given})`], { policy: ADMIN });
    expect(run?.error).toMatchObject({ code: 'NS21', message: expect.stringContaining(problem) });
  });

  it('keeps in a storage what is added, for every interpreter that has it; its own come first', async () => {
    const storage = new MemoryStorage();
    const tools = capsuleTools({ storage });
    const adds = [add('capsule/a', 9, 'nine'), add('capsule/a', 10, 'ten'), add('capsule/c', 1, 'far'), add('capsule/c', 1, 'x')];
    const [added] = await emitted(tools, adds, { policy: ADMIN });
    expect(added?.values).toEqual([true, true, true]);
    expect(added?.error).toMatchObject({ code: 'NS42' });
    const asked = ['tool.capsule.List()', ...read('capsule/a', 'capsule/a@9', 'capsule/c', 'capsule/c@2')];
    const capsules = new CapsuleLayers([[fields('capsule/c', 2, 'own')]]);
    const [other] = await emitted(tools, asked, { stores: { capsules } });
    expect(other?.values).toEqual([
      ['capsule/a', 'capsule/c'],
      shown('capsule/a', '10', 'ten'),
      shown('capsule/a', '9', 'nine'),
      ...[shown('capsule/c', '2', 'own'), shown('capsule/c', '2', 'own')],
    ]);
    const [own] = await emitted(tools, [add('capsule/c', 2, 'x')], { stores: { capsules }, policy: ADMIN });
    expect(own?.error).toMatchObject({ code: 'NS42' });
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

  it('P9: keeps the order of whole-number keys, in memory and in scratch', async () => {
    const [memory] = await emitted(memoryTools(), [
      'tool.memory.CAS("/a", 0, {"2025": {"9": 1, "8": 2}, "2024": 5})',
      'tool.memory.Get("/a")',
    ]);
    const [scratch] = await emitted(
      scratchTools(),
      ['tool.scratch.PutCAS("k", 0, {"2025": {"9": 1, "8": 2}, "2024": 5})', 'tool.scratch.Get("k")'],
      { sessions: ['s'] },
    );
    for (const run of [memory, scratch]) expect(run?.emits[1]).toBe('[{"2025": {"9": 1, "8": 2}, "2024": 5}, 1]');
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
