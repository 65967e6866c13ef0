import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { loadMockTools, loadPolicy, perSession, recordTools } from '../../src/tools/index.ts';
import { ConfigError } from '../../src/wire/errors.ts';
import type { TaggedJson } from '../../src/wire/protocol.ts';
import { SLOW } from '../groups.ts';
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

  it('issue 50: may have a name of one part, as scripts of others use them', async () => {
    const tools = bench('tools: { tool.Ping: { args: [n], cases: [{ when: { n: 1 }, returns: pong }] } }');
    expect(await tools.call('tool.ping', [1])).toEqual({ t: 'ok', value: 'pong' });
    expect(() => bench('tools: { tool.: { cases: [] } }')).toThrow(ConfigError);
    expect(loadPolicy('allow: [tool.Ping]', 'policy.yaml')).toMatchObject({ allow: ['tool.Ping'] });
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
        'the mock tool.m.CAS expects no call with path = "/a", version = 2, value = "x"; the nearest is case 1 of 2, which wants version = 1, not 2',
    });
    expect(await tools.call('tool.m.cas', ['/b', 9, 'x'])).toMatchObject({
      message: expect.stringContaining('case 2 of 2, which wants version = 2'),
    });
  });

  it.each<[string, string, unknown, string]>([
    [
      'the part of an argument that differs',
      '{ p: [{ op: set, path: /x, value: taken }] }',
      [{ op: 'set', path: '/x', value: 'free' }],
      'p[0].value = "taken", not "free"',
    ],
    [
      'parts that are missing and that are too many',
      '{ p: { a: 1, b: 2 } }',
      { b: 2, c: 3 },
      'p.a = 1, not left out; p.c left out, not 3',
    ],
    ['lists of another length as a whole', '{ p: [1, 2] }', [1], 'p = [1,2], not [1]'],
    [
      'no more than three',
      '{ p: [1, 2, 3, 4, 5] }',
      [0, 0, 0, 0, 5],
      'p[0] = 1, not 0; p[1] = 2, not 0; p[2] = 3, not 0, and 1 more',
    ],
    ['three without a count of others', '{ p: [1, 2, 3] }', [0, 0, 0], 'p[0] = 1, not 0; p[1] = 2, not 0; p[2] = 3, not 0'],
    ['a pattern', '{ p: { $like: "/x/*" } }', '/y', 'p like "/x/*", not "/y"'],
    ['a type', '{ p: { $type: list } }', '/y', 'p of type list, not "/y"'],
  ])('shows %s', async (_what, when, given, wants) => {
    const tools = bench(`tools: { tool.m.X: { args: [p], cases: [{ when: ${when}, returns: 1 }] } }`);
    expect(await tools.call('tool.m.x', [given])).toMatchObject({ message: expect.stringMatching(wanting(wants)) });
  });

  it('the error of an unexpected call shows 80 characters of a value', async () => {
    const tools = bench('tools: { tool.a.B: { args: [x], cases: [{ when: { x: 1 }, returns: 1 }] } }');
    const shown = async (text: string): Promise<unknown> => tools.call('tool.a.b', [text]);
    expect(await shown('a'.repeat(78))).toMatchObject({ message: expect.stringContaining(`"${'a'.repeat(78)}";`) });
    expect(await shown('a'.repeat(79))).toMatchObject({ message: expect.stringContaining(`"${'a'.repeat(79)}…;`) });
  });

  it('a sum may have one part', async () => {
    const tools = bench('tools: { tool.a.B: { args: [x], cases: [{ returns: { $add: [{ $arg: x }] } }] } }');
    expect(await tools.call('tool.a.b', [4])).toEqual({ t: 'ok', value: 4 });
  });

  it('a pattern or a type matches what fits it', async () => {
    const tools = bench(
      'tools: { tool.m.X: { args: [p], cases: [{ when: { p: { $like: "/x/*" } }, returns: path }, { when: { p: { $type: number } }, returns: number }, { when: { p: { $type: map } }, returns: map }], otherwise: { returns: else } } }',
    );
    const replies = [];
    for (const given of ['/x/1', 5, {}, [], null]) replies.push(await tools.call('tool.m.x', [given]));
    expect(replies.map((reply) => ('value' in reply ? reply.value : reply))).toEqual(['path', 'number', 'map', 'else', 'else']);
  });

  it('a case answers as often as it says, and then the next one does', async () => {
    const tools = bench('tools: { tool.a.B: { cases: [{ returns: 1, times: 2 }, { returns: 2, times: 1 }] } }');
    const replies = [];
    for (let call = 0; call < 4; call++) replies.push(await tools.call('tool.a.b'));
    expect(replies).toMatchObject([
      { value: 1 },
      { value: 1 },
      { value: 2 },
      { code: 21, message: expect.stringContaining('has given all its answers already') },
    ]);
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

  it('wait as long as they are told', SLOW, async () => {
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

const wanting = (text: string): RegExp => new RegExp(`which wants ${text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`);

const STORE = `
state: { items: { /a: first }, versions: { /a: 1 }, writes: 0 }
tools:
  tool.kv.Get:
    args: [path]
    cases:
      - returns: [{ $state: [items, { $arg: path }] }, { $default: [{ $state: [versions, { $arg: path }] }, 0] }]
  tool.kv.CAS:
    args: [path, version, value]
    cases:
      - inState: { writes: 2 }
        throws: { code: RateLimited, message: { $text: "{{state.writes}} writes, and now {{path}} = {{value.0}}" } }
      - when: { version: { $default: [{ $state: [versions, { $arg: path }] }, 0] } }
        set:
          - { at: [items, { $arg: path }], to: { $arg: value } }
          - { at: [versions, { $arg: path }], to: { $add: [{ $arg: version }, 1] } }
          - { at: [writes], to: { $add: [{ $state: writes }, 1] } }
        returns: [true, { $add: [{ $arg: version }, 1] }]
    otherwise:
      returns: [false, { $state: [versions, { $arg: path }] }]
  tool.kv.Reset:
    args: []
    cases: [{ set: { items: {}, versions: {} }, returns: { $state: items } }]
`;

describe('mock tools with state and computed results', () => {
  const values = async (tools: Bench, calls: readonly (readonly [string, ...unknown[]])[]): Promise<unknown[]> => {
    const replies = [];
    for (const [name, ...args] of calls) replies.push(await tools.call(`tool.kv.${name}`, args));
    return replies.map((reply) => (reply.t === 'ok' ? reply.value : reply));
  };

  it('keep state that all tools of the file share, and compute from it and from arguments', async () => {
    expect(
      await values(bench(STORE), [
        ['get', '/a'],
        ['get', '/b'],
        ['cas', '/a', 1, 'second'],
        ['get', '/a'],
        ['cas', '/a', 1, 'third'],
        ['cas', '/b', 0, ['new']],
        ['cas', '/b', 1, ['more']],
        ['reset'],
        ['get', '/a'],
      ]),
    ).toEqual([
      ['first', 1],
      [null, 0],
      [true, 2],
      ['second', 2],
      [false, 2],
      [true, 1],
      { t: 'error', code: 20, message: '2 writes, and now /b = more' },
      // What it returns is computed before the state is changed.
      { '/a': 'second', '/b': ['new'] },
      [null, 0],
    ]);
  });

  it('begin anew with every root interpreter and every session, and go on within one', async () => {
    const tools = loadMockTools(
      'state: { n: 0 }\ntools: { tool.kv.Next: { cases: [{ set: { n: { $add: [{ $state: n }, 1] } }, returns: { $state: n } }] }, tool.kv.Seq: { cases: [{ sequence: [{ returns: a }, { returns: b }] }] } }',
      'f',
    );
    const calls = [['next'], ['seq'], ['next'], ['seq']] as const;
    expect(await values(new Bench(tools), calls)).toEqual([0, 'a', 1, 'b']);
    expect(await values(new Bench(tools), calls)).toEqual([0, 'a', 1, 'b']);
    const ofSession = perSession(() => ({ calls: 0 }));
    const stores = {};
    const [s, t] = [{}, {}];
    const runtime = (handles: object | null): never =>
      Object({ stores, turn: { sessionId: handles === null ? null : 'id' }, handles }) as never;
    const [first, again, other] = [ofSession(runtime(s)), ofSession(runtime(s)), ofSession(runtime(t))];
    expect([first === again, first === other, ofSession(runtime(null)) === first]).toEqual([true, false, false]);
  });

  it('calls at the same time take their answers in the order in which they were made', async () => {
    const tools = bench('tools: { tool.a.B: { cases: [{ sequence: [{ returns: 1, delayMs: 20 }, { returns: 2 }] }] } }');
    expect(await Promise.all([tools.call('tool.a.b'), tools.call('tool.a.b')])).toMatchObject([{ value: 1 }, { value: 2 }]);
  });

  it('what cannot be computed is an error of the call', async () => {
    expect(
      await bench('tools: { tool.a.B: { args: [x], cases: [{ returns: { $add: [{ $arg: x }, 1] } }] } }').call('tool.a.b', ['1']),
    ).toMatchObject({
      code: 21,
      message: 'the mock adds numbers, and got string',
    });
    expect(
      await bench('tools: { tool.a.B: { args: [x], cases: [{ set: [{ at: [{ $arg: x }], to: 1 }], returns: 1 }] } }').call(
        'tool.a.b',
        [[]],
      ),
    ).toMatchObject({
      code: 21,
      message: 'the mock sets a key of its state that is a list',
    });
  });

  it('a key of the state that is not there is nil, whatever every object has', async () => {
    const tools = bench(
      'state: { n: 1 }\ntools: { tool.a.B: { cases: [{ inState: { constructor: 1 }, returns: no }, { inState: { toString: null }, returns: { $text: "{{state.toString}} {{state.n}} {{state}}" } }] } }',
    );
    expect(await tools.call('tool.a.b')).toEqual({ t: 'ok', value: 'nil 1 {"n":1}' });
  });

  it('a state of a script cannot reach what every object has', async () => {
    const tools = bench(
      'state: { m: {} }\ntools: { tool.a.B: { args: [k], cases: [{ set: [{ at: [m, { $arg: k }, x], to: 1 }], returns: [{ $state: [m, { $arg: k }] }, { $state: [{ $arg: k }] }] }] } }',
    );
    for (const key of ['__proto__', 'constructor', 'toString'])
      expect(await tools.call('tool.a.b', [key])).toEqual({ t: 'ok', value: [null, null] });
    expect(Object.prototype).not.toHaveProperty('x');
    expect(await tools.call('tool.a.b', ['__proto__'])).toEqual({ t: 'ok', value: [{ x: 1 }, null] });
  });

  it('keep a state and make texts of a bounded size, whatever a script calls: the host stays alive', async () => {
    const tools = bench(`
state: { g: [x], t: "${'x'.repeat(1000)}" }
tools:
  tool.m.Double: { cases: [{ set: { g: [{ $state: g }, { $state: g }] }, returns: 1 }] }
  tool.m.Write: { cases: [{ set: { t: { $text: "{{state.t}}{{state.t}}" } }, returns: 1 }] }
  tool.m.Keep: { args: [k, v], cases: [{ set: [{ at: [{ $arg: k }], to: { $arg: v } }], returns: 1 }] }
  tool.m.Show: { cases: [{ returns: { $text: "${'{{state.t}}'.repeat(100)}" } }] }
  tool.m.Size: { cases: [{ returns: { $text: "{{state.g}}" } }] }
`);
    const repeat = async (name: string, args: () => readonly TaggedJson[] = () => []): Promise<unknown> => {
      for (let call = 0; call < 100; call++) {
        const reply = await tools.call(name, args());
        if (reply.t !== 'ok') return reply;
      }
      return 'no end';
    };
    const full = { t: 'error', code: 37, message: expect.stringContaining('state of the mocks cannot be set') };
    expect(await repeat('tool.m.double')).toMatchObject(full);
    expect((await tools.call('tool.m.size')).t).toBe('ok');
    expect(await repeat('tool.m.write')).toMatchObject(full);
    let key = 0;
    expect(await repeat('tool.m.keep', () => [`k${++key}`, 'v'.repeat(100_000)])).toMatchObject(full);
    expect(await tools.call('tool.m.show')).toMatchObject({ t: 'error', code: 37 });
  });
});

it.each<[string, () => unknown, RegExp]>([
  ['a tools file', () => loadMockTools(5 as never, 'f.yaml'), /the text of f\.yaml must be a text, got number/],
  ['a file without a name', () => loadPolicy('{}', 5 as never), /the name of a file must be a text, got number/],
  ['a policy file', () => loadPolicy(null as never, 'p.yaml'), /the text of p\.yaml must be a text, got null/],
  ['a journal', () => recordTools('x' as never, []), /the journal must be a list, got string/],
  ['the tools of a recording', () => recordTools([], undefined as never), /the tools of a recording must be a list/],
  ['the state of a session', () => perSession({} as never), /perSession takes a function that makes the state, got object/],
])('%s of another type is refused in words', (_what, misuse, problem) => {
  expect(misuse).toThrow(ConfigError);
  expect(misuse).toThrow(problem);
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
      'tools.yaml:4: tools.tool.a.B.retuns: unknown key; known are description, example, args',
    ],
    [
      'two keys twice',
      'tools:\n  tool.a.B: { args: [], args: [], otherwise: error, otherwise: error }\n',
      'tools.yaml:2:25: Map keys must be unique',
    ],
    ['a state without a key', tool('cases: [{ returns: { $state: [] } }]'), '$state must name a key of the state'],
    ['a sum of nothing', tool('cases: [{ returns: { $add: [] } }]'), '$add must be a list of values'],
    ['no cases', tool('args: [a]'), 'tools.yaml:2: tools.tool.a.B: needs cases or otherwise'],
    ['cases that are a map', tool('cases: { returns: 1 }'), 'tools.yaml:3: tools.tool.a.B.cases: must be a list, got a map'],
    [
      'a case without answer',
      tool('cases:\n  - when: {}'),
      'tools.yaml:4: tools.tool.a.B.cases[0]: needs exactly one of returns, throws and pending',
    ],
    ['a case with both', tool('cases:\n  - returns: 1\n    throws: {}'), 'needs exactly one of returns, throws and pending'],
    [
      'when with an unknown argument',
      tool('args: [path]\ncases:\n  - returns: 1\n    when:\n      pat: /x'),
      'tools.yaml:7: tools.tool.a.B.cases[0].when.pat: is not an argument of the tool; it has path',
    ],
    [
      'a negative delay',
      tool('cases: [{ returns: 1, delayMs: -1 }]'),
      "delayMs: must be milliseconds from 0 to 86400000, or 'never'",
    ],
    ['an unknown error name', tool('cases: [{ throws: { code: Oops } }]'), 'code: must be an error code such as 9'],
    ['a negative code', tool('cases: [{ throws: { code: -1 } }]'), 'must be an error code'],
    ['a code with a fraction', tool('cases: [{ throws: { code: 1.5 } }]'), 'must be an error code'],
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
    [
      'a message that is no text',
      tool('cases: [{ throws: { message: 5 } }]'),
      'throws.message: must be a text, got the number 5',
    ],
    [
      'an unknown argument in a value',
      tool('args: [a]\ncases: [{ returns: [{ $arg: b }] }]'),
      'returns: $arg must name an argument of the tool, which has a',
    ],
    [
      'an unknown argument in a text',
      tool('args: [a]\ncases: [{ returns: { $text: "{{b}}" } }]'),
      '$text has {{b}}, but the arguments are a',
    ],
    ['nothing to add', tool('cases: [{ returns: { $add: 1 } }]'), '$add must be a list of values'],
    [
      'an unknown type to match',
      tool('args: [a]\ncases: [{ when: { a: { $type: text } }, returns: 1 }]'),
      '$type: must be one of nil, boolean',
    ],
    ['a change of nothing', tool('cases: [{ returns: 1, set: [{ at: [], to: 1 }] }]'), 'set[0].at: is empty'],
    ['no times at all', tool('cases: [{ returns: 1, times: 0 }]'), 'times: must be a whole number from 1, got the number 0'],
    [
      'state beside a sequence',
      tool('cases: [{ sequence: [{ returns: 1 }], set: { a: 1 } }]'),
      'set: cannot stand beside sequence',
    ],
    ['a state that is a list', 'state: []\ntools: {}\n', 'tools.yaml:1: state: must be a map, got a list'],
    ['trust in words', tool('requiresTrust: "yes"\ncases: [{ returns: 1 }]'), 'requiresTrust: must be true or false, got a text'],
  ])('%s', (_name, text, message) => {
    const load = (): unknown => loadMockTools(text, 'tools.yaml');
    expect(load).toThrow(ConfigError);
    expect(load).toThrow(message);
    // The place stands once, although the parts of a file are read within each other.
    expect(load).not.toThrow(/tools\.yaml.*tools\.yaml/s);
  });

  it('aliases that multiply are refused, not expanded', () => {
    let text = 'tools:\n  a0: &a0 [x, x]\n';
    for (let level = 1; level < 30; level++) text += `  a${level}: &a${level} [*a${level - 1}, *a${level - 1}]\n`;
    expect(() => loadMockTools(text, 'bomb.yaml')).toThrow(/bomb\.yaml: Excessive alias count/);
  });
});
