/**
 * Explores, breadth first, what calls lead to: under every policy of a set, in forks that share a policy and in forks that have a second one;
 * under bounds; with an approval; and under limits of calls.
 */

import { RealmSandbox } from '../../../src/engine/sandbox.ts';
import { checkSettings, type Fork, Runtime } from '../../../src/runtime/index.ts';
import { Approval, Bound, defineTool } from '../../../src/tools/index.ts';
import type { Exploration, Bound as Most } from '../../states/explorer.ts';
import { admit, breachesOf, countable, type Foreseen, type Guard, type Rule, type Rules, type Tool } from './model.ts';

const SANDBOX = new RealmSandbox();

const JUDGED: readonly Tool[] = [
  { name: 'tool.a.x', trust: false, needs: [] },
  { name: 'tool.a.y', trust: true, needs: [] },
  { name: 'tool.b.x', trust: false, needs: ['fs:read'] },
  { name: 'tool.b.y', trust: true, needs: ['fs:read', 'fs:write'] },
];

const TOOLS = [
  ...JUDGED.map(({ name, trust, needs }) => defineTool({ name, requiresTrust: trust, capabilities: needs, run: () => 1 })),
  defineTool({ name: 'tool.c.inner', run: () => 1 }),
  defineTool({
    name: 'tool.c.outer',
    args: [{ name: 'times', type: 'int' }],
    run: async ({ times }, runtime) => {
      for (let made = 0; made < times; made += 1) await runtime.callTool('tool.c.inner', []);
      return 1;
    },
  }),
];

const product = <A, B>(as: readonly A[], bs: readonly B[]): (readonly [A, B])[] =>
  as.flatMap((a) => bs.map((b) => [a, b] as const));

const CONTEXTS = ['normal', 'config'] as const;
const LISTS = product([[], ['*'], ['tool.A.*'], ['*.x', 'tool.b.y', 'tool.b.xy']], [[], ['tool.b.*'], ['*x'], ['*A*']]);
const GRANTS = [[], ['fs:read'], ['fs:*'], ['*:read', 'fs:write']];
const LIMITS: readonly Readonly<Record<string, number>>[] = [{}, { 'tool.a.x': 1, 'tool.b.x': 0 }];

const POLICIES: readonly (Rules | null)[] = [
  null,
  ...product(product(CONTEXTS, LISTS), product(GRANTS, LIMITS)).map(([[context, [allow, deny]], [grants, toolMaxCalls]]) => {
    return { context, allow, deny, grants, toolMaxCalls };
  }),
];

/** The second policy of the third fork. */
const NARROW: Rules = { context: 'config', allow: ['*.x'], deny: [], grants: ['fs:read'], toolMaxCalls: { 'tool.a.x': 1 } };

/** By what the message of a denial says. */
const WORDS: Readonly<Record<Rule, string>> = {
  policy: 'no execution policy is set',
  context: 'requires a privileged context',
  deny: 'denied by policy rule',
  allow: 'was not found in the policy',
  grants: 'missing required grants',
  toolMaxCalls: 'exceeded its call limit',
};

const FORKS = [0, 1, 2] as const;
interface Call {
  readonly fork: (typeof FORKS)[number];
  readonly tool: Tool;
}
const CALLS: readonly Call[] = product(FORKS, JUDGED).map(([fork, tool]) => ({ fork, tool }));

/** The forks of a root interpreter: two alike, and one with a second policy. */
class Root {
  readonly #forks: readonly Fork[];
  readonly #guards: readonly (readonly Guard[])[];

  constructor(rules: Rules | null, halts: boolean) {
    const policy = rules === null ? null : { ...rules, onPolicyBreach: halts ? ('halt' as const) : ('error' as const) };
    const root = new Runtime(SANDBOX, checkSettings({ tools: TOOLS, policy })).interpreter();
    this.#forks = [root.fork(), root.fork(), root.fork({ policy: NARROW })];
    const shared = { rules, calls: new Map<string, number>(), halts: rules !== null && halts };
    const own = { rules: NARROW, calls: new Map<string, number>(), halts: false };
    this.#guards = [[shared], [shared], [shared, own]];
  }

  /** What the call of a program answers, and what the model does. */
  async make({ fork, tool }: Call): Promise<{ readonly is: string; readonly wanted: string }> {
    const { denial, halts } = admit(this.#guards[fork] ?? [], tool);
    const source = `command\n  on error do\n    emit system_error.message\n    clear_error\n  endon\n  set x = ${tool.name}()\n  emit "end"\nendcommand`;
    const result = await this.#forks[fork]?.execute(source);
    const said = [...(result?.emits ?? []), result?.error?.message ?? ''].join('\n');
    const found = Object.entries(WORDS).find(([, words]) => said.includes(words))?.[0] ?? 'allowed';
    return { is: `${found}, ${result?.ok}`, wanted: `${denial ?? 'allowed'}, ${!halts}` };
  }

  state(): string {
    return JSON.stringify(this.#guards.map((guards) => guards.map(({ calls }) => [...calls].sort())));
  }
}

class Count implements Exploration {
  states = 0;
  transitions = 0;
  wrong: string | null = null;

  judge(what: string, is: unknown, wanted: unknown, path: unknown): void {
    this.transitions += 1;
    if (is !== wanted) this.wrong ??= `${what} answers ${String(is)}, and the model ${String(wanted)}\n  ${JSON.stringify(path)}`;
  }
}

/** `calls`: most of them one after the other under a policy; two more under an approval and limits, three more under a bound. */
export async function explore({ calls = 0 }: Most): Promise<Exploration> {
  const count = new Count();
  bounds(count, calls + 3);
  await approvals(count, calls + 2);
  await limits(count, calls + 2);
  for (const rules of POLICIES) {
    if (count.wrong !== null) break;
    for (const halts of [false, true]) await policy(count, rules, halts, calls);
  }
  return count;
}

async function policy(count: Count, rules: Rules | null, halts: boolean, most: number): Promise<void> {
  const seen = new Set<string>();
  let frontier: (readonly Call[])[] = [[]];
  for (let level = 0; level < most; level += 1) {
    const next: (readonly Call[])[] = [];
    for (const [before, call] of product(frontier, CALLS)) {
      const root = new Root(rules, halts);
      for (const earlier of before) await root.make(earlier);
      const { is, wanted } = await root.make(call);
      count.judge('A3-11.2-1: a call', is, wanted, { rules, halts, calls: [...before, call] });
      if (count.wrong !== null) return;
      if (seen.has(root.state())) continue;
      seen.add(root.state());
      count.states += 1;
      next.push([...before, call]);
    }
    frontier = next;
  }
}

const ROWS: readonly Foreseen[] = product([[1], [1, 2], null], [1, 2, null]).map(([values, most]) => ({ values, most }));

const TOOL = { canonicalName: 'tool.t.x', parameters: [{ name: 'a' }] };

function bounds(count: Count, most: number): void {
  const previews = [
    ...ROWS.map((row) => [row]),
    ...product(ROWS, ROWS),
    ...product(product(ROWS, ROWS), ROWS).map(([two, row]) => [...two, row]),
  ];
  for (const rows of previews) {
    let frontier: (readonly number[])[] = [[]];
    const seen = new Set<string>();
    for (let level = 0; level < most; level += 1) {
      const next: (readonly number[])[] = [];
      for (const [before, value] of product(frontier, [1, 2, 3])) {
        const bound = new Bound({
          calls: rows.map(({ values, most: often }, index) => ({
            number: index + 1,
            tool: TOOL.canonicalName,
            ...(values === null ? {} : { when: { a: values.length === 1 ? (values[0] ?? 0) : { in: values } } }),
            ...(often === null ? {} : { times: often }),
          })),
        });
        for (const earlier of before) bound.admit({ tool: TOOL, args: [earlier] });
        const is = bound.admit({ tool: TOOL, args: [value] }) === null;
        const wanted = countable([...before, value], rows);
        count.judge('22.3: a bound', is, wanted, { rows, calls: [...before, value] });
        const key = [...before, value].sort().join();
        if (!wanted || seen.has(key)) continue;
        seen.add(key);
        count.states += 1;
        next.push([...before, value]);
      }
      frontier = next;
    }
  }
}

/** Offers plans to an approval of plan `a`, through a gate that does the work, or denies, or finds that the work fails. */
async function approvals(count: Count, most: number): Promise<void> {
  const offers = product(['a', 'b'], ['agrees', 'denies', 'fails'] as const);
  const all = Array.from({ length: most }).reduce<(readonly (typeof offers)[number][])[]>(
    (paths) => product(paths, offers).map(([path, offer]) => [...path, offer]),
    [[]],
  );
  for (const path of all) {
    let gate: 'agrees' | 'denies' | 'fails' = 'agrees';
    let [asked, worked, used]: [number, number, boolean] = [0, 0, false];
    const approval = new Approval({
      hash: 'hash of a',
      hashOf: ({ tool }) => `hash of ${String(tool)}`,
      gate: async (work) => {
        asked += 1;
        if (gate === 'denies') return { state: 'denied', verdict: { line: 'no' } };
        const value = await work();
        return gate === 'fails' ? { state: 'failed', error: new Error('it failed') } : { state: 'executed', value };
      },
    });
    let [wantedAsked, wantedWorked] = [0, 0];
    for (const [plan, answer] of path) {
      gate = answer;
      const { state } = await approval.spend({ tool: plan }, async () => {
        worked += 1;
      });
      const reaches = plan === 'a' && !used;
      if (reaches) {
        used = true;
        wantedAsked += 1;
        wantedWorked += answer === 'denies' ? 0 : 1;
      }
      const ends = { agrees: 'executed', denies: 'denied', fails: 'failed' } as const;
      const wanted = `${reaches ? ends[answer] : 'denied'} ${wantedAsked} ${wantedWorked}`;
      count.judge('ARGO-8-2: an approval', `${state} ${asked} ${worked}`, wanted, path);
    }
    count.states += 1;
  }
}

/** Runs programs whose calls make others. */
async function limits(count: Count, most: number): Promise<void> {
  const all = Array.from({ length: most }).reduce<(readonly number[])[]>(
    (paths) => [...paths, ...product(paths, [0, 1, 2]).map(([path, times]) => [...path, times])],
    [[]],
  );
  const root = new Runtime(SANDBOX, checkSettings({ tools: TOOLS, policy: { allow: ['*'] } })).interpreter();
  for (const [toolCalls, toolCallsPerTool] of product([0, 1, 2, 3, 4, 100], [1, 2, 3, 100]))
    for (const path of all) {
      const statements = path.map((times) => `  set x = tool.c.outer(${times})`);
      const source = ['command', '  set x = 1', ...statements, 'endcommand'].join('\n');
      const limits = { toolCalls, toolCallsPerTool };
      const { error } = await root.fork({ limits }).execute(source);
      const wanted = breachesOf(path, limits);
      const is = error === null ? 'the end' : (error.limit ?? error.code);
      // Where a call breaches both limits, either may be named.
      count.judge('AL3-7-2: a run', wanted.includes(is) ? wanted.join(' or ') : is, wanted.join(' or ') || 'the end', {
        limits,
        path,
      });
      count.states += 1;
    }
}
