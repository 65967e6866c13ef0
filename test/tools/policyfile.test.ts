import { describe, expect, it } from 'vitest';
import { loadPolicy } from '../../src/tools/index.ts';
import { ConfigError } from '../../src/wire/errors.ts';

describe('a policy file', () => {
  it('holds everything that a policy has', () => {
    const policy = loadPolicy(
      `
context: config
allow: [tool.memory.*, "*.get"]
deny: [tool.memory.cas]
grants: ["memory:read,write", "fs:read:/data/*"]
toolMaxCalls: { tool.memory.Get: 3 }
onPolicyBreach: halt
`,
      'p.yaml',
    );
    expect(policy).toMatchObject({
      context: 'config',
      allow: ['tool.memory.*', '*.get'],
      deny: ['tool.memory.cas'],
      grants: [
        { resource: 'memory', verbs: ['read', 'write'] },
        { resource: 'fs', verbs: ['read'], scopes: ['/data/*'] },
      ],
      onPolicyBreach: 'halt',
    });
    expect(policy.toolMaxCalls).toEqual(new Map([['tool.memory.get', 3]]));
    expect(loadPolicy('{}', 'p')).toMatchObject({ context: 'normal', allow: [] });
  });

  it.each<[string, string, string]>([
    ['an unknown key', 'alow: []', 'p.yaml:1: alow: unknown key; known are context, allow'],
    [
      'an unknown context',
      'allow: []\ncontext: prod',
      "p.yaml:2: context: the policy: context must be config, normal or test, got 'prod'",
    ],
    ['a pattern that is no text', 'deny:\n  - tool.x.*\n  - 5', 'p.yaml:3: deny[1]: '],
    [
      'a pattern of deny that would deny nothing',
      'allow: ["*"]\ndeny: [kv.*]',
      "p.yaml:2: deny[0]: deny of the policy: 'kv.*' can",
    ],
    ['a list that is none', 'allow: "*"', 'p.yaml:1: allow: the policy: allow must be a list'],
    ['a malformed grant', 'grants:\n  - fs:read\n  - fs', "p.yaml:3: grants[1]: 'fs' is not a capability"],
    [
      'a negative count',
      'toolMaxCalls:\n  tool.a.B: 1\n  tool.a.C: -1',
      'p.yaml:3: toolMaxCalls.tool.a.C: the policy: toolMaxCalls.tool.a.C must be a whole number',
    ],
    ['counts that are a list', 'toolMaxCalls: [1]', 'p.yaml:1: toolMaxCalls'],
    ['malformed YAML', 'allow: [', 'p.yaml:1:9: this is not YAML: '],
  ])('%s is refused with its line', (_what, text, problem) => {
    expect(() => loadPolicy(text, 'p.yaml')).toThrow(ConfigError);
    expect(() => loadPolicy(text, 'p.yaml')).toThrow(problem);
  });
});
