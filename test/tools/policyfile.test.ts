import { describe, expect, it } from 'vitest';
import { loadPolicy, Policy, policyOptions } from '../../src/tools/index.ts';
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

  it('has rules about arguments, order and origin', () => {
    const policy = loadPolicy(
      `when:
  tool.mail.Send: [{ to: "*@example.com" }, { to: { in: [ops@partner.org] }, body: { maxLength: 2000 } }]
order:
  - { tool: tool.pay.Transfer, needs: tool.pay.Quote, within: session }
flow:
  labels: { "tool.web.*": [web], userdata.fields.note: [web], "event.mail.*": [web, mail], "mcp.github.*": meta }
  sinks:
    tool.mail.Send.to: { refuse: [web] }
    tool.pay.Transfer: { ask: [mail], deciding: true }
  program: { label: [web], when: output }
  endorse: { tool.review.Approve: [web] }`,
      'p.yaml',
    );
    expect(policy.when).toEqual({
      'tool.mail.Send': [{ to: '*@example.com' }, { to: { in: ['ops@partner.org'] }, body: { maxLength: 2000 } }],
    });
    expect(policy.order).toEqual([{ tool: 'tool.pay.Transfer', needs: 'tool.pay.Quote', within: 'session' }]);
    expect(policy.flow).toMatchObject({
      labels: ['mail', 'private', 'untrusted', 'web'],
      sources: [
        { from: 'tool', pattern: 'tool.web.*', labels: ['web'] },
        { from: 'userdata', path: ['fields', 'note'], labels: ['web'] },
        { from: 'event', pattern: 'mail.*', labels: ['web', 'mail'] },
        { from: 'mcp', server: 'github', pattern: '*', labels: 'meta' },
      ],
      sinks: [
        { entry: 'tool.mail.Send.to', sink: 'tool.mail.send.to', refuse: ['web'], ask: [], deciding: false },
        { sink: 'tool.pay.transfer', refuse: [], ask: ['mail'], deciding: true },
      ],
      program: { label: ['web'], when: 'output' },
      endorse: [{ pattern: 'tool.review.Approve', labels: ['web'] }],
    });
    // What a record keeps of a policy makes an equal one.
    expect(new Policy(policyOptions(policy) ?? {})).toEqual(policy);
  });

  it.each<[string, string, string]>([
    ['an unknown key', 'alow: []', 'p.yaml:1: alow: unknown key; known are context, allow'],
    ['an unknown context', 'allow: []\ncontext: prod', "p.yaml:2: context: must be config, normal or test, got 'prod'"],
    ['a pattern that is no text', 'deny:\n  - tool.x.*\n  - 5', 'p.yaml:3: deny[1]: '],
    ['a pattern of deny that would deny nothing', 'allow: ["*"]\ndeny: [kv.*]', "p.yaml:2: deny[0]: 'kv.*' can match no tool"],
    ['a list that is none', 'allow: "*"', 'p.yaml:1: allow: must be a list, got a text'],
    ['a malformed grant', 'grants:\n  - fs:read\n  - fs', "p.yaml:3: grants[1]: 'fs' is not a capability"],
    [
      'a negative count',
      'toolMaxCalls:\n  tool.a.B: 1\n  tool.a.C: -1',
      'p.yaml:3: toolMaxCalls.tool.a.C: must be at least 0, got -1',
    ],
    [
      'a condition that no value has',
      'when:\n  tool.a.B:\n    - { to: { maxi: 2 } }',
      'p.yaml:3: when.tool.a.B[0].to.maxi: unknown key',
    ],
    ['a pattern of a tool that none has', 'when:\n  a.B:\n    - { to: x }', "p.yaml:2: when.a.B: 'a.B' can match no tool"],
    ['a source that is none', 'flow:\n  labels:\n    web: [web]', "p.yaml:3: flow.labels.web: 'web' is not a source"],
    ['counts that are a list', 'toolMaxCalls: [1]', 'p.yaml:1: toolMaxCalls'],
    ['malformed YAML', 'allow: [', 'p.yaml:1:9: this is not YAML: '],
  ])('%s is refused with its line', (_what, text, problem) => {
    expect(() => loadPolicy(text, 'p.yaml')).toThrow(ConfigError);
    expect(() => loadPolicy(text, 'p.yaml')).toThrow(problem);
  });
});
