import { describe, expect, it } from 'vitest';
import {
  definePure,
  defineTool,
  Policy,
  PolicyGuard,
  type PolicyOptions,
  ToolRegistry,
  toolAdvice,
} from '../../src/tools/index.ts';
import { matchesPattern, meets, parseCapability } from '../../src/tools/policy/capability.ts';
import { ConfigError } from '../../src/wire/errors.ts';
import { SLOW } from '../groups.ts';

const run = (): null => null;
const plain = defineTool({ name: 'tool.memory.Get', run });
const trusted = defineTool({ name: 'tool.os.Getenv', requiresTrust: true, capabilities: ['env:read:HOME'], run });
const admit = (policy: PolicyOptions | null, tool = plain): string | null =>
  new PolicyGuard(policy === null ? null : new Policy(policy)).admit(tool, false)?.reason ?? null;

describe('the policy gate', () => {
  it('A3-11.2-1: a tool that no allow pattern matches is denied, and an empty or missing list denies everything', () => {
    for (const policy of [{}, { allow: [] }, { allow: ['tool.memory.put', '*.get2'] }])
      expect(admit(policy)).toContain("was not found in the policy's allow list");
    for (const pattern of ['*', 'tool.memory.get', 'TOOL.Memory.*', '*.get', '*mem*'])
      expect(admit({ allow: [pattern] })).toBeNull();
  });

  it('asks in the documented order: no policy, trust, deny, allow, capabilities, call limit', () => {
    const deny = ['tool.os.*'];
    const allow = ['*'];
    const grants = ['env:read:HOME'];
    expect(admit(null, trusted)).toContain('no execution policy');
    expect(admit({ deny, allow: [] }, trusted)).toContain('requires a privileged context');
    expect(admit({ context: 'config', deny, allow: [] }, trusted)).toContain('denied by policy rule: tool.os.*');
    expect(admit({ context: 'config', allow: [] }, trusted)).toContain('allow list');
    expect(admit({ context: 'config', allow }, trusted)).toContain('Required: [env:read:HOME], Had: [none]');
    expect(admit({ context: 'config', allow, grants, toolMaxCalls: { 'tool.os.Getenv': 0 } }, trusted)).toContain(
      'call limit of 0',
    );
    expect(admit({ context: 'config', allow, grants }, trusted)).toBeNull();
    expect(admit({ context: 'test', allow, grants }, trusted)).toContain('privileged');
  });

  it('counts calls up to the limit, and only calls that everything else admits', () => {
    const guard = new PolicyGuard(new Policy({ allow: ['*'], toolMaxCalls: { 'memory.get': 2 } }));
    expect([guard.admit(plain, false), guard.admit(plain, false)]).toEqual([null, null]);
    expect(guard.denial(plain, false)).toBeNull();
    expect(guard.admit(plain, false)).toEqual({
      tool: 'tool.memory.get',
      allowed: false,
      rule: 'toolMaxCalls',
      entry: '2',
      reason: "tool 'tool.memory.get' exceeded its call limit of 2",
    });
    const denying = new PolicyGuard(new Policy({ allow: [], toolMaxCalls: { 'tool.memory.get': 0 } }));
    expect(denying.admit(plain, false)?.rule).toBe('allow');
  });

  it('names of a long allow list the tools of the same group, and how long it is', () => {
    const others = Array.from({ length: 100 }, (_, index) => `tool.g.t${index}`);
    const same = Array.from({ length: 20 }, (_, index) => `tool.memory.t${index}`);
    expect(admit({ allow: others })).toMatch(/\[100 patterns, none for tool\.memory\.\*\]$/);
    expect(admit({ allow: [...others, 'tool.memory.cas'] })).toMatch(/\[tool\.memory\.cas, … and 100 more\]$/);
    expect(admit({ allow: [...others, ...same] })).toMatch(/\[tool\.memory\.t0, .*, tool\.memory\.t11, … and 108 more\]$/);
    expect(admit({ allow: others.slice(0, 12) })).toMatch(/\[tool\.g\.t0, .*, tool\.g\.t11\]$/);
  });

  it('a tool of the fork itself needs no entry in the allow list, but obeys every other rule', () => {
    const own = (policy: PolicyOptions | null, tool = plain): string | null =>
      new PolicyGuard(policy === null ? null : new Policy(policy)).admit(tool, true)?.reason ?? null;
    expect(own({})).toBeNull();
    expect(own(null)).toContain('no execution policy');
    expect(own({ deny: ['*'] })).toContain('denied by policy rule');
    expect(own({}, trusted)).toContain('privileged');
    expect(own({ context: 'config' }, trusted)).toContain('missing required grants');
    expect(own({ toolMaxCalls: { 'tool.memory.get': 0 } })).toContain('call limit');
  });

  it.each<[unknown, RegExp]>([
    [{ alow: [] }, /the policy: alow: unknown key; known are context, allow/],
    [{ allow: 'tool.*' }, /the policy: allow: must be a list, got a text/],
    [{ deny: [1] }, /the policy: deny\[0\]: must be a text, got the number 1/],
    // Each of these would let through what somebody meant to forbid, or forbid what somebody meant to allow.
    [{ deny: ['memory.*'] }, /deny\[0\]: 'memory\.\*' can match no tool; whole names are matched/],
    [{ allow: ['memory.get'] }, /allow\[0\]: 'memory\.get' can match no tool/],
    [{ allow: ['tool:memory:*'] }, /can match no tool/],
    [{ allow: ['tool'] }, /'tool' can match no tool/],
    [{ allow: ['tool..*'] }, /can match no tool/],
    [{ allow: ['*.'] }, /can match no tool/],
    [{ allow: ['tool.2*'] }, /can match no tool/],
    [{ when: { 'mail.*': [{ to: 'x' }] } }, /when\.mail\.\*: 'mail\.\*' can match no tool/],
    [{ when: { 'tool.mail.Send': [] } }, /when\.tool\.mail\.Send: must not be empty/],
    [{ when: { 'tool.mail.Send': [{}] } }, /must have a condition; a tool whose every call is allowed needs no row/],
    [{ when: { 'tool.mail.Send': [{ to: { in: [] } }] } }, /\[0\]\.to\.in: must not be empty/],
    [{ when: { 'tool.mail.Send': [{ to: { maximum: 1 } }] } }, /\[0\]\.to\.maximum: unknown key; known are type, in, min, max/],
    [{ when: { 'tool.mail.Send': [{ 'to!': 1 }] } }, /'to!' is not a name of an argument/],
    [{ order: [{ tool: 'tool.a.b' }] }, /order\[0\]: must have either needs or not-after/],
    [{ order: [{ tool: 'tool.a.b', needs: 'a' }] }, /order\[0\]\.needs: 'a' can match no tool/],
    [{ order: [{ tool: 'tool.a.b', needs: '*', until: 1 }] }, /order\[0\]\.until: unknown key; known are tool, needs/],
    [{ flow: { labels: { 'web.*': ['web'] } } }, /'web\.\*' is not a source; sources are tools/],
    [{ flow: { labels: { 'userdata.note': ['web'] } } }, /'userdata\.note' is not a source/],
    [{ flow: { labels: { 'tool.web.*': 'meta' } } }, /flow\.labels: only an MCP server can give labels of its own/],
    [
      { flow: { labels: { 'mcp.s.*': 'meta' }, sinks: { 'tool.a.b': { refuse: ['web'] } } } },
      /nothing has the label 'web'; labels of this policy are untrusted, private/,
    ],
    [{ flow: { labels: { 'tool.web.*': ['Web'] } } }, /must be a label/],
    [{ flow: { labels: { 'tool.web.*': ['web'] }, sinks: { 'tool.a.b': { refuse: ['wb'] } } } }, /nothing has the label 'wb'/],
    [{ flow: { sinks: { 'tool.a.b': { deciding: true } } } }, /must have refuse or ask/],
    [{ flow: { program: { label: ['a'], when: 'input' } } }, /flow\.program\.when: must be output or always, got 'input'/],
    [
      { flow: { labels: { '*': Array.from({ length: 31 }, (_, index) => `l${index}`) } } },
      /the policy: flow: names 31 labels, at most 30 are possible/,
    ],
    [{ deny: ['tool.*.Drop'] }, /'tool\.\*\.Drop' can match no tool/],
    [{ deny: ['memory.Drop'] }, /'memory\.Drop' can match no tool/],
    [{ deny: ['tool:memory:*'] }, /can match no tool/],
    [{ deny: ['***'] }, /can match no tool/],
    [{ toolMaxCalls: { 'tool.memory.*': 1 } }, /toolMaxCalls\.tool\.memory\.\*: is a pattern/],
    [{ context: 'root' }, /the policy: context: must be config, normal or test, got 'root'/],
    [{ grants: ['fs'] }, /'fs' is not a capability/],
    [{ toolMaxCalls: { 'tool.a.b': -1 } }, /toolMaxCalls\.tool\.a\.b: must be at least 0, got -1/],
    [{ onPolicyBreach: 'stop' }, /onPolicyBreach: must be error or halt/],
  ])('refuses the policy %j', (policy, problem) => {
    expect(() => new Policy(policy as PolicyOptions)).toThrow(ConfigError);
    expect(() => new Policy(policy as PolicyOptions)).toThrow(problem);
  });

  it.each(['*', '**', '*.get', '*mem*', 'tool.memory.get', 'TOOL.Memory.*', 'too*', 'tool*', 'tool.*', '*y.g*'])(
    'deny takes %s, which names the tool',
    (pattern) => {
      expect(admit({ allow: ['*'], deny: [pattern] })).toBe(`tool 'tool.memory.get' denied by policy rule: ${pattern}`);
    },
  );

  it('cannot be changed afterwards', () => {
    const policy = new Policy({ allow: ['*'] });
    for (const part of [policy, policy.allow, policy.deny, policy.grants]) expect(Object.isFrozen(part)).toBe(true);
  });
});

describe('patterns', () => {
  it.each<[string, string, boolean]>([
    ['t.echo', 'tool.t.echo', false],
    ['*.echo', 'tool.t.echo', true],
    ['tool.t.*', 'tool.t.echo', true],
    ['tool.t.*', 'tool.tx.echo', false],
    ['tool.t.echo', 'tool.t.echo', true],
    ['tool.t.echo', 'tool.t.echx', false],
    ['*', 'anything', true],
    ['**', 'anything', true],
    ['tool.*.echo', 'tool.t.echo', false],
  ])('%s on %s: %s', (pattern, text, result) => {
    expect(matchesPattern(pattern, text)).toBe(result);
  });
});

describe('capabilities', () => {
  it.each<[grant: string, need: string, met: boolean]>([
    ['fs:read', 'FS:READ', true],
    ['fs:read', 'fs:write', false],
    ['fs:read,write', 'fs:write,read', true],
    ['fs:*', 'fs:write', true],
    ['*:*', 'net:read', true],
    ['*:*', 'net:read:example.org', false],
    ['*:*:*', 'net:read:example.org', true],
    ['net:read', 'fs:read', false],
    ['fs:read:/data/*', 'fs:read:/data/a.txt', true],
    ['fs:read:/data/*', 'fs:read:/data/a/b.txt', false],
    ['fs:read:/data/?.[tc]sv', 'fs:read:/data/a.csv', true],
    ['fs:read:/data/a.txt', 'fs:read:/data/aXtxt', false],
    ['fs:read:/data/a[b]', 'fs:read:/data/ab', true],
    ['fs:read:/data/a[b]', 'fs:read:/data/aa', false],
    ['fs:read:/data/a[b]', 'fs:read:/data/a[', false],
    ['fs:read:/data/[]a]', 'fs:read:/data/]', true],
    ['fs:read:/data/[]a]', 'fs:read:/data/a', true],
    ['fs:read:/data/[]a]', 'fs:read:/data/[]a]', false],
    ['fs:read:/data/[^a]', 'fs:read:/data/b', true],
    ['fs:read:/data/[^a]', 'fs:read:/data/a', false],
    ['fs:read:/data/[^a]*b', 'fs:read:/data//b', true],
    ['fs:read:[^x][^x]*c', 'fs:read:ab/c', false],
    ['fs:read:*[^x][^x]*c', 'fs:read:ab/c', true],
    ['fs:read:**', 'fs:read:', true],
    ['fs:read:*/*', 'fs:read:a/b', true],
    ['fs:read:*/*', 'fs:read:a/b/c', false],
    ['fs:read:a\\*', 'fs:read:a*', true],
    ['fs:read:a\\*', 'fs:read:ab', false],
    ['fs:read:a\\', 'fs:read:a\\', true],
    ['fs:read:?', 'fs:read:👩', true],
    ['fs:read:[[', 'fs:read:[[', true],
    ['fs:read:/a,/b', 'fs:read:/a,/b', true],
    ['fs:read:/a', 'fs:read:/a,/b', false],
    ['fs:read:/a', 'fs:read', true],
    ['net:read:example.org', 'net:read:example.org:443', true],
    ['net:read:example.org:80', 'net:read:example.org:443', false],
    ['net:read:*:443', 'net:read:example.org:443', true],
    ['net:read:*.example.org', 'net:read:api.example.org:443', true],
    ['net:read:*.example.org', 'net:read:example.org', true],
    ['net:read:*.example.org', 'net:read:badexample.org', false],
    ['net:read:example.org', 'net:read:ample.org', false],
    ['net:read:ap?.example.org', 'net:read:api.example.org', true],
    ['env:read:APP_*', 'env:read:app_key', true],
    ['env:read:APP_*', 'env:read:HOME', false],
    ['model:use:gpt', 'model:use:other', false],
    ['bus:read:true', 'bus:read:topic', true],
    ['bus:read:Topic', 'bus:read:topic', true],
    ['bus:read:to*', 'bus:read:topic', false],
  ])('%s meets %s: %s', (grant, need, met) => {
    expect(meets(parseCapability(grant), parseCapability(need))).toBe(met);
  });

  it('18: a glob takes no time that grows faster than its length and that of the scope', SLOW, () => {
    const [grant, need] = [`${'*a'.repeat(200)}b`, 'a'.repeat(200)];
    for (const resource of ['fs', 'net'])
      for (const end of ['', 'b']) {
        const begun = process.cpuUsage();
        const met = meets(parseCapability(`${resource}:read:${grant}`), parseCapability(`${resource}:read:${need}${end}`));
        expect([met, process.cpuUsage(begun).user < 1_000_000]).toEqual([end === 'b', true]);
      }
  });

  it('a glob with a broken class grants nothing', () => {
    expect(meets(parseCapability('fs:read:[z-a]'), parseCapability('fs:read:b'))).toBe(false);
  });
});

describe('the registry and its views', () => {
  it('CTX-3-8: every fork has its own view object over the same definitions', () => {
    const registry = new ToolRegistry([plain]);
    const [one, two] = [registry.forFork('fork-1'), registry.forFork('fork-2')];
    expect(one).not.toBe(two);
    expect([one.forkId, two.forkId, one.bind('fork-1.1').forkId]).toEqual(['fork-1', 'fork-2', 'fork-1.1']);
    expect(one.lookup('tool.memory.Get')).toBe(two.lookup('tool.MEMORY.get'));
    expect(two.lookup('memory.get')).toBe(plain);
    expect(registry.lookup('tool.tool.memory.get')).toBe(plain);
    registry.register(trusted);
    expect(one.names()).toEqual(['tool.memory.get', 'tool.os.getenv']);
  });

  it('refuses a name twice, and a tool of a fork that would replace a shared one', () => {
    const registry = new ToolRegistry([plain]);
    const again = defineTool({ name: 'tool.Memory.GET', run });
    expect(() => registry.register(again)).toThrow(/there is a tool tool\.memory\.Get already/);
    expect(() => registry.forFork('f', [again])).toThrow(ConfigError);
    expect(() => registry.forFork('f', [trusted, trusted])).toThrow(ConfigError);
  });

  it('refuses tools that are no list', () => {
    for (const tools of [{}, 'x', null]) expect(() => new ToolRegistry(tools as never)).toThrow(/tools must be a list/);
  });

  it('names the pure tools that every guard admits, and those of the fork itself without an entry in the allow list', () => {
    const pure = (name: string) =>
      definePure(name, { description: 'Pure.', args: [], returns: 'nil', example: [`emit ${name}()`, 'nil'] });
    const registry = new ToolRegistry([plain, pure('tool.a.One'), pure('tool.a.Two')]);
    const guard = (policy: PolicyOptions) => new PolicyGuard(new Policy(policy));
    const all = guard({ allow: ['*'] });
    const view = registry.forFork('f', [pure('tool.own.Three'), trusted]);
    expect(registry.pureNames(all)).toEqual(['tool.a.one', 'tool.a.two']);
    expect(registry.pureNames(guard({ allow: ['tool.a.one'] }))).toEqual(['tool.a.one']);
    expect(registry.pureNames(guard({ allow: [] }))).toEqual([]);
    expect(registry.pureNames(new PolicyGuard(null))).toEqual([]);
    expect(view.pureNames([all])).toEqual(['tool.a.one', 'tool.a.two', 'tool.own.three']);
    expect(view.pureNames([all, guard({ allow: ['tool.a.two'] })])).toEqual(['tool.a.two', 'tool.own.three']);
    expect(view.pureNames([all, guard({ allow: ['*'], deny: ['tool.own.*'] })])).toEqual(['tool.a.one', 'tool.a.two']);
    expect(view.pureNames([])).toEqual([]);
  });

  it('a fork sees its own tools beside the shared ones, others do not', () => {
    const registry = new ToolRegistry([plain]);
    const view = registry.forFork('f', [trusted]);
    expect([view.isOwn('tool.os.getenv'), view.isOwn('tool.memory.get'), view.bind('f.1').isOwn('tool.os.getenv')]).toEqual([
      true,
      false,
      true,
    ]);
    expect(registry.forFork('g').lookup('tool.os.getenv')).toBeUndefined();
    expect(toolAdvice('tool.memory.gte', view.names())).toBe('did you mean tool.memory.get?');
  });
});
