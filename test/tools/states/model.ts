/** What a policy, a bound, an approval and the limits of calls answer: docs/policy.md and docs/foresee.md in a page, without the code. */

export interface Rules {
  readonly context: 'normal' | 'config';
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  /** Capabilities as `resource:verb`. */
  readonly grants: readonly string[];
  readonly toolMaxCalls: Readonly<Record<string, number>>;
}

export interface Tool {
  readonly name: string;
  readonly trust: boolean;
  readonly needs: readonly string[];
}

/** The reason of a denial. */
export type Rule = 'policy' | 'context' | 'deny' | 'allow' | 'grants' | 'toolMaxCalls';

const matches = (pattern: string, name: string): boolean =>
  new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '.*')}$`, 'i').test(name);

/** The first reason that applies, of those that do not depend on earlier calls. */
export function denialOf(rules: Rules | null, { name, trust, needs }: Tool): Rule | null {
  if (rules === null) return 'policy';
  if (trust && rules.context !== 'config') return 'context';
  if (rules.deny.some((pattern) => matches(pattern, name))) return 'deny';
  if (!rules.allow.some((pattern) => matches(pattern, name))) return 'allow';
  const isGranted = (need: string): boolean => {
    const [resource, verb] = need.split(':');
    return rules.grants.some((grant) => grant === need || grant === `${resource}:*` || grant === `*:${verb}`);
  };
  return needs.every(isGranted) ? null : 'grants';
}

/** A policy, and its count of the calls that it was asked for and did not deny otherwise. */
export interface Guard {
  readonly rules: Rules | null;
  readonly calls: Map<string, number>;
  /** Whether a denial ends the run; the program can catch it otherwise. */
  readonly halts: boolean;
}

/** The answer of policies that all must admit a call. They are asked one after the other. */
export function admit(guards: readonly Guard[], tool: Tool): { readonly denial: Rule | null; readonly halts: boolean } {
  for (const { rules, calls, halts } of guards) {
    const denial = denialOf(rules, tool);
    if (denial !== null) return { denial, halts };
    const most = rules?.toolMaxCalls[tool.name];
    if (most === undefined) continue;
    const count = (calls.get(tool.name) ?? 0) + 1;
    calls.set(tool.name, count);
    if (count > most) return { denial: 'toolMaxCalls', halts };
  }
  return { denial: null, halts: false };
}

/** A foreseen call: the values that its argument can have, and how often it happens at most. */
export interface Foreseen {
  readonly values: readonly number[] | null;
  readonly most: number | null;
}

/** Whether there is any way to count every call for a row that it fits. */
export function countable([first, ...rest]: readonly number[], rows: readonly Foreseen[]): boolean {
  if (first === undefined) return true;
  return rows.some(({ values, most }, index) => {
    if (most === 0 || (values !== null && !values.includes(first))) return false;
    return countable(
      rest,
      rows.map((row, at) => (at === index && most !== null ? { ...row, most: most - 1 } : row)),
    );
  });
}

/** The limits that a run breaches first, each of whose calls makes so many calls of another tool; none when it comes to its end. */
export function breachesOf(
  nested: readonly number[],
  most: { readonly toolCalls: number; readonly toolCallsPerTool: number },
): readonly string[] {
  let [calls, outer, inner] = [0, 0, 0];
  const breached = (same: number): readonly string[] => [
    ...(calls > most.toolCalls ? ['toolCalls'] : []),
    ...(same > most.toolCallsPerTool ? ['toolCallsPerTool'] : []),
  ];
  for (const times of nested) {
    calls += 1;
    outer += 1;
    let breaches = breached(outer);
    for (let made = 0; made < times && breaches.length === 0; made += 1) {
      calls += 1;
      inner += 1;
      breaches = breached(inner);
    }
    if (breaches.length > 0) return breaches;
  }
  return [];
}
