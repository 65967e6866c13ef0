import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { loadMockTools } from '../../src/tools/index.ts';
import { ConfigError } from '../../src/wire/errors.ts';
import { Bench, variables } from './probe.ts';

const bench = (yaml: string): Bench => new Bench(loadMockTools(yaml, 'tools.yaml'));

const MEMORY = `
tools:
  tool.memory.Get:
    description: reads an entry
    args: [path]
    cases:
      - when: { path: /x }
        returns: [{ a: 1 }, 3]
      - when: { path: /missing }
        returns: [null, 0]
      - when: { path: [deep, { b: 2, a: 1 }] }
        returns: { $bytes: "AQI=" }
      - when: { path: /broken }
        throws: { code: 9, message: no such entry }
    otherwise: error
  tool.clock.Now:
    args: []
    cases:
      - returns: { $time: "2025-01-01T00:00:00Z" }
`;

describe('mock tools', () => {
  it('answer by argument name, cases in order', async () => {
    const tools = bench(MEMORY);
    expect(await tools.call('tool.memory.get', ['/x'])).toEqual({ t: 'ok', value: [{ a: 1 }, 3] });
    expect(await tools.call('tool.memory.get', ['/missing'])).toEqual({ t: 'ok', value: [null, 0] });
    expect(await tools.call('tool.memory.get', [['deep', { a: 1, b: 2 }]])).toEqual({ t: 'ok', value: { $bytes: 'AQI=' } });
    expect(await tools.call('tool.clock.now')).toEqual({ t: 'ok', value: { $time: '2025-01-01T00:00:00Z' } });
  });

  it('throw what a case says', async () => {
    expect(await bench(MEMORY).call('tool.memory.get', ['/broken'])).toEqual({ t: 'error', code: 9, message: 'no such entry' });
    const named = 'tools: { tool.a.B: { cases: [{ throws: { code: KeyNotFound } }] } }';
    expect(await bench(named).call('tool.a.b')).toMatchObject({ code: 9 });
  });

  it('an unexpected call is an error that shows the nearest case', async () => {
    const tools = bench(
      'tools: { tool.m.CAS: { args: [path, version, value], cases: [{ when: { path: /a, version: 1, value: x }, returns: 1 }, { when: { path: /b, version: 2 }, returns: 2 }] } }',
    );
    expect(await tools.call('tool.m.cas', ['/a', 2, 'x'])).toEqual({
      t: 'error',
      code: 21,
      message:
        'the mock tool.m.CAS expects no call with path = "/a", version = 2, value = "x"; the nearest is case 1 of 2, which wants version = 1',
    });
    expect(await tools.call('tool.m.cas', ['/b', 9, 'x'])).toMatchObject({
      message: expect.stringContaining('case 2 of 2, which wants version = 2'),
    });
  });

  it('otherwise may answer instead', async () => {
    const yaml = 'tools: { tool.a.B: { args: [x?], cases: [{ when: { x: 1 }, returns: one }], otherwise: { returns: other } } }';
    expect([await bench(yaml).call('tool.a.b', [1]), await bench(yaml).call('tool.a.b', [])]).toEqual([
      { t: 'ok', value: 'one' },
      { t: 'ok', value: 'other' },
    ]);
    const throwing = 'tools: { tool.a.B: { otherwise: { throws: { message: never } } } }';
    expect(await bench(throwing).call('tool.a.b')).toEqual({ t: 'error', code: 21, message: 'never' });
  });

  it('a sequence answers one after the other, and stays at its last', async () => {
    const tools = bench(
      'tools: { tool.a.B: { cases: [{ sequence: [{ returns: 1 }, { throws: { code: 20, message: slow down } }, { returns: 3 }] }] } }',
    );
    const replies = [];
    for (let call = 0; call < 4; call++) replies.push(await tools.call('tool.a.b'));
    expect(replies).toMatchObject([{ value: 1 }, { code: 20 }, { value: 3 }, { value: 3 }]);
  });

  it('arguments may have types, defaults and be required', async () => {
    const tools = bench(`
tools:
  tool.a.B:
    args: [{ name: n, type: int }, { name: unit, type: string, default: ms, description: of n }]
    cases: [{ when: { n: 5, unit: ms }, returns: yes }]
`);
    expect(await tools.call('tool.a.b', ['5'])).toEqual({ t: 'ok', value: 'yes' });
    expect(await tools.call('tool.a.b', [])).toMatchObject({ code: 4 });
    expect(await tools.call('tool.a.b', [5, 'ms', 1])).toMatchObject({ code: 4 });
  });

  it('wait as long as they are told', async () => {
    const tools = bench('tools: { tool.a.B: { cases: [{ returns: 1, delayMs: 30 }] } }');
    const start = performance.now();
    expect(await tools.call('tool.a.b')).toEqual({ t: 'ok', value: 1 });
    expect(performance.now() - start).toBeGreaterThanOrEqual(29);
  });

  it.each(['never', '86400000'])('a delay of %s ends with the call that is given up', async (delay) => {
    const tools = bench(`tools: { tool.a.B: { cases: [{ returns: 1, delayMs: ${delay} }] } }`);
    const port = variables();
    const reply = tools.call('tool.a.b', [], port);
    await sleep(10);
    const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const before = timers();
    port.abort.abort();
    expect(await reply).toMatchObject({ t: 'halt' });
    expect(timers()).toBe(delay === 'never' ? before : before - 1);
  });

  it('what never answers needs no answer in the file', () => {
    expect(loadMockTools('tools: { tool.a.B: { cases: [{ delayMs: never }] } }', 'f')).toHaveLength(1);
  });

  it('may be JSON, and say what else a tool is', () => {
    const json = JSON.stringify({
      tools: {
        'tool.a.B': {
          requiresTrust: true,
          effects: 'none',
          capabilities: ['fs:read:/x'],
          returns: 'int',
          cases: [{ returns: 1 }],
        },
      },
    });
    expect(loadMockTools(json, 'tools.json')).toMatchObject([
      { name: 'tool.a.B', requiresTrust: true, effects: 'none', returns: 'int', capabilities: [{ resource: 'fs' }] },
    ]);
  });
});

describe('a tools file that is wrong', () => {
  const tool = (spec: string): string => `tools:\n  tool.a.B:\n${spec.replace(/^/gm, '    ')}\n`;

  it.each<[string, string, string]>([
    ['malformed YAML', 'tools:\n  tool.a.B: [1,\n', 'tools.yaml:3:1: '],
    ['a key twice', 'tools:\n  tool.a.B: {}\n  tool.a.B: {}\n', 'tools.yaml:3:3: Map keys must be unique'],
    ['an unknown YAML tag', 'tools: !secret x\n', 'tools.yaml:1:8: Unresolved tag: !secret'],
    ['nothing', '', 'tools.yaml: must be a map, got nothing'],
    ['a list', '- 1\n', 'tools.yaml:1: must be a map, got a list'],
    ['another top key', 'tols: {}\n', 'tools.yaml:1: tols: unknown key; known are tools'],
    ['no tools', '{}', 'tools.yaml:1: tools: must be a map, got nothing'],
    [
      'a bad name',
      'tools:\n  memory.Get: { cases: [{ returns: 1 }] }\n',
      "tools.yaml:2: tools.memory.Get: a tool's name has the form",
    ],
    [
      'one tool in two spellings',
      'tools:\n  tool.a.B: { otherwise: { returns: 1 } }\n  tool.A.b: { otherwise: { returns: 1 } }\n',
      'tools.yaml:3: tools.tool.A.b: the tool is declared twice',
    ],
    [
      'an unknown key',
      tool('cases: [{ returns: 1 }]\nretuns: 1'),
      'tools.yaml:4: tools.tool.a.B.retuns: unknown key; known are description, args',
    ],
    ['no cases', tool('args: [a]'), 'tools.yaml:2: tools.tool.a.B: needs cases or otherwise'],
    ['cases that are a map', tool('cases: { returns: 1 }'), 'tools.yaml:3: tools.tool.a.B.cases: must be a list, got a map'],
    [
      'a case without answer',
      tool('cases:\n  - when: {}'),
      'tools.yaml:4: tools.tool.a.B.cases[0]: needs exactly one of returns and throws',
    ],
    ['a case with both', tool('cases:\n  - returns: 1\n    throws: {}'), 'needs exactly one of returns and throws'],
    [
      'when with an unknown argument',
      tool('args: [path]\ncases:\n  - returns: 1\n    when:\n      pat: /x'),
      'tools.yaml:7: tools.tool.a.B.cases[0].when.pat: is no argument of the tool; it has path',
    ],
    [
      'a negative delay',
      tool('cases: [{ returns: 1, delayMs: -1 }]'),
      "delayMs: must be milliseconds from 0 to 86400000, or 'never'",
    ],
    ['an unknown error name', tool('cases: [{ throws: { code: Oops } }]'), 'code: must be an error code such as 9'],
    ['a negative code', tool('cases: [{ throws: { code: -1 } }]'), 'must be an error code'],
    ['an unknown key of throws', tool('cases: [{ throws: { msg: x } }]'), 'throws.msg: unknown key; known are code, message'],
    ['a malformed value tag', tool('cases: [{ returns: { $byts: AA== } }]'), "returns: '$byts' is not a known tag"],
    [
      'an unknown type',
      tool('args: [{ name: a, type: integer }]\ncases: [{ returns: 1 }]'),
      "args[0].type: unknown type 'integer'",
    ],
    [
      'an argument without name',
      tool('args: [{ type: int }]\ncases: [{ returns: 1 }]'),
      'args[0].name: must be a text, got nothing',
    ],
    ['an unknown key of an argument', tool('args: [{ name: a, typ: int }]\ncases: [{ returns: 1 }]'), 'args[0].typ: unknown key'],
    ['sequence beside returns', tool('cases: [{ returns: 1, sequence: [] }]'), 'returns: cannot stand beside sequence'],
    ['an empty sequence', tool('cases: [{ sequence: [] }]'), 'sequence: is empty'],
    ['otherwise in other words', tool('otherwise: fail'), "otherwise: must be 'error', or a map"],
    ['effects in other words', tool('effects: reads\ncases: [{ returns: 1 }]'), 'effects: must be none, read or write'],
    ['trust in words', tool('requiresTrust: "yes"\ncases: [{ returns: 1 }]'), 'requiresTrust: must be true or false, got a text'],
  ])('%s', (_name, text, message) => {
    const load = (): unknown => loadMockTools(text, 'tools.yaml');
    expect(load).toThrow(ConfigError);
    expect(load).toThrow(message);
  });

  it('aliases that multiply are refused, not expanded', () => {
    let text = 'tools:\n  a0: &a0 [x, x]\n';
    for (let level = 1; level < 30; level++) text += `  a${level}: &a${level} [*a${level - 1}, *a${level - 1}]\n`;
    expect(() => loadMockTools(text, 'bomb.yaml')).toThrow(/bomb\.yaml: Excessive alias count/);
  });
});
