import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  changedVerdicts,
  LoopController,
  MemoryStore,
  type RecordedVerdict,
  readSession,
  recordedVerdicts,
  runtimeExecutor,
  suggestPolicy,
  turnVerdicts,
  unknownTools,
} from '../../../src/loop/index.ts';
import { createRuntime, type Runtime } from '../../../src/runtime/index.ts';
import { defineTool, Policy, type PolicyOptions, ToolError } from '../../../src/tools/index.ts';
import { ConfigError } from '../../../src/wire/errors.ts';
import { pureTools } from '../../../stdlib-tools/index.ts';
import { newKeyring } from '../../aeiou/kit.ts';
import { reply, TestClock, USERDATA } from '../fake.ts';
import { command, DONE } from '../sessions.ts';
import { type Dice, diceOf, randomOf } from './random.ts';

let calls = 0;
const run = (): number => ++calls;
const tools = [
  defineTool({ name: 'tool.kv.Get', capabilities: ['kv:read'], run }),
  defineTool({ name: 'tool.kv.Set', capabilities: ['kv:write'], run }),
  defineTool({ name: 'tool.kv.Drop', capabilities: ['kv:write'], run }),
  defineTool({ name: 'tool.shop.Price', run }),
  defineTool({ name: 'tool.os.Env', requiresTrust: true, capabilities: ['env:read:HOME'], run }),
  defineTool({
    name: 'tool.late.Refuse',
    run: () => {
      throw new ToolError(1003, 'the shop is closed');
    },
  }),
  ...pureTools(),
];

const POLICY: PolicyOptions = {
  context: 'config',
  allow: ['tool.kv.*', '*.price', 'tool.str.*', '*late*', 'tool.os.env'],
  deny: ['tool.kv.drop'],
  grants: ['kv:read,write', 'env:read:*'],
  toolMaxCalls: { 'tool.shop.Price': 2 },
};

const caught = (line: string): string => `for each i in [1]\n  on error do\n    clear_error\n  endon\n  ${line}\nendfor`;
const NEXT = 'emit tool.aeiou.magic("LOOP", {"action": "continue"})';

/** The programs of the sessions, turn by turn. */
const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  bought: [
    command(
      'emit tool.kv.Get()',
      'emit tool.kv.Set()',
      'emit tool.shop.Price()',
      'emit tool.str.Length("four")',
      caught('emit tool.none.Such()'),
      NEXT,
    ),
    command('emit tool.SHOP.price()', caught('emit tool.shop.Price()'), DONE),
  ],
  refused: [command('emit tool.kv.Get()', 'emit tool.kv.Drop()', 'emit tool.shop.Price()', DONE)],
  trusted: [command('if false', '  emit tool.kv.Set()', 'endif', caught('emit tool.late.Refuse()'), 'emit tool.os.Env()', DONE)],
};

/** What happened in them, by reading them: session, turn, call, tool, and what denied it. */
const PAST: readonly (readonly [sid: string, turn: number, call: string | null, tool: string, deniedBy?: string])[] = [
  ['bought', 1, null, 'tool.str.length'],
  ['bought', 1, '1.1', 'tool.kv.get'],
  ['bought', 1, '1.2', 'tool.kv.set'],
  ['bought', 1, '1.3', 'tool.shop.price'],
  ['bought', 1, '1.5', 'tool.aeiou.magic'],
  ['bought', 2, '2.1', 'tool.shop.price'],
  ['bought', 2, '2.2', 'tool.shop.price', 'toolMaxCalls'],
  ['bought', 2, '2.3', 'tool.aeiou.magic'],
  // A host asks for the names in alphabetical order, up to the first that is denied.
  ['refused', 1, null, 'tool.aeiou.magic'],
  ['refused', 1, null, 'tool.kv.drop', 'deny'],
  ['trusted', 1, null, 'tool.kv.set'],
  ['trusted', 1, '1.1', 'tool.late.refuse'],
  ['trusted', 1, '1.2', 'tool.os.env'],
  ['trusted', 1, '1.3', 'tool.aeiou.magic'],
];

let runtime: Runtime;
const store = new MemoryStore();
let verdicts: readonly RecordedVerdict[];

async function verdictsWith(reading: Runtime): Promise<readonly RecordedVerdict[]> {
  const all = [];
  for (const sid of Object.keys(PROGRAMS)) all.push(...(await recordedVerdicts(reading, await readSession(store, sid))));
  return all;
}

beforeAll(async () => {
  runtime = await createRuntime({ tools, policy: POLICY, concurrency: 1 });
  for (const [sid, programs] of Object.entries(PROGRAMS)) {
    const clock = new TestClock();
    const loop = new LoopController({ executor: runtimeExecutor(runtime), keyring: newKeyring('k', clock), store, clock });
    const agent = { reply: async ({ turn }: { readonly turn: number }) => reply(programs[turn - 1] ?? '') };
    await loop.runLoop({ userdata: USERDATA, agent, sid, maxTurns: programs.length, maxReasks: 0 });
  }
  calls = 0;
  verdicts = await verdictsWith(runtime);
});
afterAll(() => runtime.close());

describe('issue 22.4: a policy against the past', () => {
  it('finds every verdict of the record, also on pure tools, calls that were not reached, and a refused turn', () => {
    const told = verdicts.map(({ sid, turn, call, tool, verdict: { allowed, rule } }) =>
      allowed ? [sid, turn, call, tool.canonicalName] : [sid, turn, call, tool.canonicalName, rule],
    );
    expect(told).toEqual(PAST);
    expect(verdicts.every(({ known }) => known)).toBe(true);
    expect(changedVerdicts(verdicts, new Policy(POLICY))).toEqual([]);
  });

  it('18: the patterns of a foreign record are matched with its names within a bound; beyond it, a call that was made was allowed', async () => {
    const [record] = (await readSession(store, 'bought')).turns;
    const [entry] = record?.journal ?? [];
    const scene = record?.inputs.scene;
    if (record === undefined || entry === undefined || scene == null) throw new Error('there is no call');
    const foreign = (names: number, patterns: number, others: readonly (PolicyOptions | null)[] = []) => {
      const journal = Array.from({ length: names }, (_, seq) => ({ ...entry, seq, name: `tool.a.b${seq}` }));
      const allow = Array.from({ length: patterns }, (_, index) => `*${index}x`);
      const policies = [{ context: 'normal', allow: [...allow, 'tool.*'] }, ...others] as const;
      const host = { ...scene.host, policies };
      return turnVerdicts({ ...record, journal, inputs: { ...record.inputs, scene: { ...scene, host } } } as typeof record);
    };
    const matched = (verdicts: ReturnType<typeof turnVerdicts>) =>
      [...verdicts.calls.values()].filter(({ allowed, entry }) => allowed && entry === 'tool.*').length;
    expect(matched(foreign(1_000, 100))).toBe(1_000);
    const verdicts = foreign(2_000, 2_000);
    expect([...verdicts.calls.values()].filter(({ allowed }) => allowed)).toHaveLength(2_000);
    expect(matched(verdicts)).toBeGreaterThan(300);
    expect(matched(verdicts)).toBeLessThan(600);
    expect(verdicts.calls.get(1_999)?.reason).toContain('too many patterns');
    // A policy without a pattern, and a grant, count too.
    const grants = Array.from({ length: 20_000 }, (_, index) => `fs:read:*a${index}`);
    for (const others of [Array<null>(20_000).fill(null), [{ allow: ['*'], grants }]])
      expect(foreign(2_000, 0, others).calls.get(1_999)?.reason).toContain('too many patterns');
  });

  it('lists exactly the changes for 500 seeded mutations of a policy, and calls no tool', () => {
    let changes = 0;
    for (let seed = 1; seed <= 500; seed++) {
      const policy = mutated(POLICY, diceOf(randomOf(seed)));
      const listed = changedVerdicts(verdicts, new Policy(policy)).map(({ sid, turn, call, tool, before, after }) => ({
        ...{ sid, turn, call, tool, allowed: after.allowed },
        before: before.allowed ? null : before.rule,
        after: after.allowed ? null : after.rule,
      }));
      expect({ seed, policy, listed }).toEqual({ seed, policy, listed: naiveChanges(policy) });
      changes += listed.length;
    }
    expect(changes).toBeGreaterThan(500);
    expect(calls).toBe(0);
  });

  it('suggests a policy that allows what was used, and nothing without which that would hold', () => {
    const { policy, unknown } = suggestPolicy(verdicts);
    expect({ policy, unknown }).toEqual({
      policy: {
        context: 'config',
        allow: ['tool.kv.get', 'tool.kv.set', 'tool.late.refuse', 'tool.os.env', 'tool.shop.price', 'tool.str.length'],
        grants: ['env:read:HOME', 'kv:read', 'kv:write'],
      },
      unknown: [],
    });
    const lostBy = (less: PolicyOptions): number =>
      changedVerdicts(verdicts, new Policy(less)).filter(({ before }) => before.allowed).length;
    expect(lostBy(policy)).toBe(0);
    expect(
      smallerThan(policy)
        .map(lostBy)
        .filter((lost) => lost === 0),
    ).toEqual([]);
  });

  it('suggests for 500 random pasts a policy of which no entry can be left out', () => {
    const words: readonly [string, ...string[]] = ['/d/*', '/d/x', '/d', '/[d]', '/[!d]', '?d', '*', '/*', '/D/x'];
    let entries = 0;
    for (let seed = 1; seed <= 500; seed++) {
      const dice = diceOf(randomOf(seed));
      const capability = (): string => {
        const verbs = dice.pick(['read', 'write', 'read,write', '*'] as const);
        return dice.chance(0.3) ? `fs:${verbs}` : `fs:${verbs}:${dice.pick(words)}`;
      };
      const past = Array.from({ length: 1 + dice.whole(6) }, (_, index): RecordedVerdict => {
        const capabilities = Array.from({ length: dice.whole(3) }, capability);
        const allowed = dice.chance(0.8);
        return {
          ...{ sid: 's', turn: 1, call: `1.${index + 1}`, known: true, own: false },
          tool: defineTool({ name: `tool.a.T${dice.whole(4)}x${index}`, capabilities, requiresTrust: dice.chance(0.1), run }),
          verdict: { tool: 't', allowed, rule: 'allow', entry: null, reason: '' },
        };
      });
      const { policy } = suggestPolicy(past);
      const lost = (less: PolicyOptions): number =>
        changedVerdicts(past, new Policy(less)).filter(({ before }) => before.allowed).length;
      expect({ seed, lost: lost(policy) }).toEqual({ seed, lost: 0 });
      const needless = smallerThan(policy).filter((less) => lost(less) === 0);
      expect({ seed, policy, needless }).toEqual({ seed, policy, needless: [] });
      entries += smallerThan(policy).length;
    }
    expect(entries).toBeGreaterThan(2000);
  });

  it('drops a grant that another one meets, and grants by * a scope that would read as another pattern', () => {
    const verdict = { tool: 't', allowed: true, rule: 'allow', entry: null, reason: '' } as const;
    const needing = (name: string, ...capabilities: string[]): RecordedVerdict => ({
      ...{ sid: 's', turn: 1, call: '1.1', known: true, own: false, verdict },
      tool: defineTool({ name, capabilities, run }),
    });
    const given = [
      needing('tool.a.A', 'fs:read:/d/*'),
      needing('tool.a.B', 'fs:read:/d/x'),
      needing('tool.a.C', 'fs:write:/[a]'),
    ];
    const { policy } = suggestPolicy(given);
    expect(policy.grants).toEqual(['fs:read:/d/*', 'fs:write:*']);
    expect(changedVerdicts(given, new Policy(policy))).toEqual([]);
  });

  it('judges only the names of tools that it does not know, and takes what was denied from the record', async () => {
    await using bare = await createRuntime({ concurrency: 1 });
    const past = await verdictsWith(bare);
    expect(past.map(({ verdict: { allowed, rule } }) => (allowed ? null : rule))).toEqual(PAST.map((row) => row[4] ?? null));
    const names = [...new Set(PAST.map((row) => row[3]))].filter((name) => name !== 'tool.aeiou.magic').sort();
    expect(unknownTools(past)).toEqual(names);
    const { policy, unknown } = suggestPolicy(past);
    expect(policy).toEqual({ allow: names.filter((name) => name !== 'tool.kv.drop') });
    expect(unknown).toEqual(policy.allow);
  });
});

it('issue 22.4: a denial that ended the run is a denial, and a malformed record is refused with its turn', async () => {
  const policy: PolicyOptions = { allow: ['tool.shop.*'], toolMaxCalls: { 'tool.shop.Price': 0 }, onPolicyBreach: 'halt' };
  await using halting = await createRuntime({ tools, policy, concurrency: 1 });
  const kept = new MemoryStore();
  const clock = new TestClock();
  const loop = new LoopController({ executor: runtimeExecutor(halting), keyring: newKeyring('k', clock), store: kept, clock });
  const agent = { reply: async () => reply(command('emit tool.shop.Price()', DONE)) };
  await loop.runLoop({ userdata: USERDATA, agent, sid: 'halted', maxTurns: 1, maxReasks: 0 });
  const session = await readSession(kept, 'halted');
  const past = await recordedVerdicts(halting, session);
  expect(past.map(({ call, verdict: { allowed, rule } }) => [call, allowed, rule])).toEqual([
    [null, true, 'allow'],
    ['1.1', false, 'toolMaxCalls'],
  ]);
  expect(changedVerdicts(past, new Policy({ allow: ['*'] })).map(({ call }) => call)).toEqual(['1.1']);

  const [record] = session.turns;
  if (record === undefined) throw new Error('there is one turn');
  const foreign = JSON.parse(JSON.stringify(record));
  for (const policies of [[5], [{ allow: 5 }]]) {
    foreign.inputs.scene.host.policies = policies;
    await expect(recordedVerdicts(halting, { sid: 's', turns: [foreign] })).rejects.toThrow(ConfigError);
  }
});

it('issue 43: judges the calls of each attempt where it made them, and of a rejected program only what it was denied', async () => {
  const kept = new MemoryStore();
  const clock = new TestClock();
  const loop = new LoopController({ executor: runtimeExecutor(runtime), keyring: newKeyring('k', clock), store: kept, clock });
  const programs = [
    command('emit tool.kv.Drop()', 'emit tool.kv.Get()', DONE),
    command('emit tool.kv.Get()', 'emit tool.kv.Set()', 'fail "no"', DONE),
    command('emit tool.kv.Get()', DONE),
  ];
  const agent = { reply: async ({ attempt }: { readonly attempt: number }) => reply(programs[attempt - 1] ?? '') };
  await loop.runLoop({ userdata: USERDATA, agent, sid: 'repaired' });
  const past = await recordedVerdicts(runtime, await readSession(kept, 'repaired'));
  expect(past.map(({ attempt, call, tool, verdict }) => [attempt, call, tool.canonicalName, verdict.allowed])).toEqual([
    [1, null, 'tool.kv.drop', false],
    [2, null, 'tool.aeiou.magic', true],
    [2, '1.1', 'tool.kv.get', true],
    [2, '1.2', 'tool.kv.set', true],
    [undefined, '1.2', 'tool.aeiou.magic', true],
  ]);
  expect(suggestPolicy(past).policy.allow).toEqual(['tool.kv.get', 'tool.kv.set']);
  const { deny: _, ...lenient } = POLICY;
  expect(changedVerdicts(past, new Policy(lenient))).toMatchObject([{ attempt: 1, call: null, tool: 'tool.kv.drop' }]);
});

/** The policy without each one of its entries. */
function smallerThan(policy: PolicyOptions): readonly PolicyOptions[] {
  const without = (list: readonly string[] = []): readonly string[][] => list.map((_, index) => list.toSpliced(index, 1));
  return [
    ...(policy.context === undefined ? [] : [{ ...policy, context: 'normal' as const }]),
    ...without(policy.allow).map((allow) => ({ ...policy, allow })),
    ...without(policy.grants).map((grants) => ({ ...policy, grants })),
  ];
}

/** A policy with one to three random changes. */
function mutated(policy: PolicyOptions, dice: Dice): PolicyOptions {
  let changed = policy;
  for (let left = 1 + dice.whole(3); left > 0; left--) changed = mutatedOnce(changed, dice);
  return changed;
}

const PATTERNS: readonly [string, ...string[]] = [
  ...(['*', 'tool.*', 'TOOL.KV.*', '*.set', '*.Get', '*op*', 'tool.shop.price', 'tool.str.length'] as const),
  ...['tool.os.*', '*e', 'tool.aeiou.*', '*.drop', 'tool.late.refuse', 'tool.kv.ge', '*magic*'],
];
const GRANTS: readonly [string, ...string[]] = [
  ...(['kv:read', 'kv:write', 'kv:*', 'KV:read,write', '*:*', '*:*:*', 'env:read:HOME', 'env:*:home'] as const),
  ...['env:read:PATH', 'env:write:*', 'fs:read:*'],
];
const LIMITED: readonly [string, ...string[]] = ['tool.shop.Price', 'tool.kv.get', 'tool.aeiou.magic', 'tool.os.Env'];

function mutatedOnce(policy: PolicyOptions, dice: Dice): PolicyOptions {
  const changed = (list: readonly string[] = [], words: readonly [string, ...string[]]): string[] => {
    const at = dice.whole(list.length + 1);
    return dice.chance(0.5) ? list.toSpliced(at, 1) : list.toSpliced(at, 0, dice.pick(words));
  };
  const { allow, deny, grants, toolMaxCalls } = policy;
  return dice.pick<() => PolicyOptions>([
    () => ({ ...policy, allow: changed(allow, PATTERNS) }),
    () => ({ ...policy, deny: changed(deny, PATTERNS) }),
    () => ({ ...policy, grants: changed(grants, GRANTS) }),
    () => ({ ...policy, toolMaxCalls: { ...toolMaxCalls, [dice.pick(LIMITED)]: dice.whole(4) } }),
    () => ({ ...policy, toolMaxCalls: {} }),
    () => ({ ...policy, context: dice.pick(['config', 'normal', 'test']) }),
  ])();
}

/** The list that a policy should give, from {@link PAST} and the rules of docs/policy.md alone. */
function naiveChanges(policy: PolicyOptions): readonly object[] {
  const made = new Map<string, number>();
  return PAST.flatMap(([sid, turn, call, tool, deniedBy = null]) => {
    const limit = Object.entries(policy.toolMaxCalls ?? {}).find(([name]) => name.toLowerCase() === tool)?.[1];
    let after = naiveRule(policy, tool);
    if (after === null && call !== null && limit !== undefined) {
      const count = (made.get(`${sid} ${tool}`) ?? 0) + 1;
      made.set(`${sid} ${tool}`, count);
      if (count > limit) after = 'toolMaxCalls';
    }
    const allowed = after === null;
    return allowed === (deniedBy === null) ? [] : [{ sid, turn, call, tool, allowed, before: deniedBy, after }];
  });
}

const NEEDS: Readonly<Record<string, readonly [resource: string, verb: string, scope?: string]>> = {
  'tool.kv.get': ['kv', 'read'],
  'tool.kv.set': ['kv', 'write'],
  'tool.kv.drop': ['kv', 'write'],
  'tool.os.env': ['env', 'read', 'home'],
};

function naiveRule({ context, allow = [], deny = [], grants = [] }: PolicyOptions, tool: string): string | null {
  const named = (list: readonly string[]): boolean =>
    list.some((pattern) => new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '.*')}$`, 'i').test(tool));
  if (tool === 'tool.os.env' && context !== 'config') return 'context';
  if (named(deny)) return 'deny';
  if (tool !== 'tool.aeiou.magic' && !named(allow)) return 'allow';
  const need = NEEDS[tool];
  if (need === undefined) return null;
  const [resource, verb, scope] = need;
  const met = grants.some((grant) => {
    const [of = '', verbs = '', scopes = ''] = grant.toLowerCase().split(':');
    if (of !== '*' && of !== resource) return false;
    if (verbs !== '*' && !verbs.split(',').includes(verb)) return false;
    return scope === undefined || scopes === '*' || scopes === scope;
  });
  return met ? null : 'grants';
}
