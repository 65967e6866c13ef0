import {
  type CallQuestion,
  type Capability,
  type ConditionRow,
  capabilityText,
  meets,
  type OrderRule,
  type Policy,
  PolicyGuard,
  type PolicyOptions,
  type PolicyVerdict,
  suggestRow,
} from '../../tools/index.ts';
import type { RecordedVerdict } from './verdicts.ts';

/** A recorded verdict that another policy changes from allowed to denied, or from denied to allowed. */
export interface ChangedVerdict extends Pick<RecordedVerdict, 'sid' | 'turn' | 'attempt' | 'call'> {
  /** Canonical name. */
  readonly tool: string;
  /** The recorded verdict. */
  readonly before: PolicyVerdict;
  /** The verdict of the other policy. */
  readonly after: PolicyVerdict;
}

/**
 * The recorded verdicts that a policy changes, in their order. `verdicts` come from `recordedVerdicts`, of any number of sessions one
 * after the other. The call limits of the policy count each session by itself, and count every journalled call that the other rules
 * admit.
 */
export function changedVerdicts(verdicts: readonly RecordedVerdict[], policy: Policy): readonly ChangedVerdict[] {
  const guards = new Map<string, PolicyGuard>();
  return verdicts.flatMap(({ sid, turn, attempt, call, tool, own, question, verdict: before }) => {
    const guard = guards.get(sid) ?? new PolicyGuard(policy);
    guards.set(sid, guard);
    const { breach: _, ...broken } = (question && guard.denial(tool, own, question)) ?? { breach: null };
    const after = 'rule' in broken ? broken : call === null ? guard.verdict(tool, own) : guard.count(tool, own);
    return before.allowed === after.allowed ? [] : [{ sid, turn, attempt, call, tool: tool.canonicalName, before, after }];
  });
}

/** A policy made from recorded verdicts. */
export interface SuggestedPolicy {
  /** The options of the policy, as `createRuntime` and policy files take them. */
  readonly policy: PolicyOptions;
  /** Canonical names of allowed tools whose definitions are not known: the policy lacks the grants and the trust that they require. */
  readonly unknown: readonly string[];
}

/**
 * The smallest policy that allows everything that was allowed. It names each tool, grants the requirements of the known tools, and has
 * the context `config` only if one of them requires trust. It limits no calls. If any of these entries were missing, the policy would deny a
 * recorded call or turn. For each known tool that was called, `when` has one row that all its calls meet. `order` has a rule for a
 * tool that was called three times or more, if another tool of its group was always called before it.
 */
export function suggestPolicy(verdicts: readonly RecordedVerdict[]): SuggestedPolicy {
  const used = verdicts.filter(({ verdict, own }) => verdict.allowed && !own);
  const tools = [...new Map(used.map((each) => [each.tool.canonicalName, each])).values()].toSorted((a, b) =>
    a.tool.canonicalName < b.tool.canonicalName ? -1 : 1,
  );
  const grants = leastGrants(tools.flatMap(({ tool }) => tool.capabilities));
  const called = Map.groupBy(
    used.filter(({ question }) => question !== undefined),
    ({ tool }) => tool.canonicalName,
  );
  const names = tools.map(({ tool }) => tool.canonicalName).filter((name) => called.has(name));
  const questions = (name: string) => (called.get(name) ?? []).flatMap(({ question }) => question ?? []);
  const when = Object.fromEntries(names.flatMap((name) => whenOf(name, questions(name))));
  const order = names.flatMap((name) => orderOf(name, questions(name), names));
  return {
    policy: {
      ...(tools.some(({ tool }) => tool.requiresTrust) ? { context: 'config' } : {}),
      allow: tools.map(({ tool }) => tool.canonicalName),
      ...(grants.length === 0 ? {} : { grants }),
      ...(Object.keys(when).length === 0 ? {} : { when }),
      ...(order.length === 0 ? {} : { order }),
    },
    unknown: unknownTools(tools),
  };
}

function whenOf(name: string, calls: readonly CallQuestion[]): (readonly [string, readonly ConditionRow[]])[] {
  const [first] = calls;
  const row =
    first === undefined
      ? null
      : suggestRow(
          first.tool,
          calls.flatMap(({ args }) => (args === null ? [] : [args])),
        );
  return row === null ? [] : [[name, [row]]];
}

/** So many calls of a tool tell that another one belongs before it. */
const LEAST_CALLS = 3;

/** The tools of the same group that were called before each of the calls, in the same turn if that was always so. */
function orderOf(name: string, calls: readonly CallQuestion[], names: readonly string[]): readonly OrderRule[] {
  if (calls.length < LEAST_CALLS) return [];
  const group = name.slice(0, name.lastIndexOf('.') + 1);
  return names.flatMap((needs): OrderRule[] => {
    if (needs === name || !needs.startsWith(group) || needs.includes('.', group.length)) return [];
    const within = (['turn', 'session'] as const).find((span) =>
      calls.every(({ before }) => before.called(needs, span) === needs),
    );
    return within === undefined ? [] : [{ tool: name, needs, within }];
  });
}

/** Canonical names of the tools of verdicts whose definitions are not known, sorted. */
export function unknownTools(verdicts: readonly RecordedVerdict[]): readonly string[] {
  return [...new Set(verdicts.flatMap(({ tool, known }) => (known ? [] : [tool.canonicalName])))].sort();
}

/** The smallest list of grants that meets every need. */
function leastGrants(capabilities: readonly Capability[]): readonly string[] {
  const needs = distinct(capabilities);
  // A scope such as `[a]` of a path has another meaning as a pattern of a grant. Such a need gets the grant `*`.
  const [exact, others] = [needs.filter((need) => meets(need, need)), needs.filter((need) => !meets(need, need))];
  const grants = distinct([...others.map((need) => ({ ...need, scopes: ['*'] })), ...exact]);
  const kept = grants.reduce<readonly Capability[]>((left, grant) => {
    const rest = left.filter((other) => other !== grant);
    const met = needs.filter((need) => meets(grant, need));
    return met.every((need) => rest.some((other) => meets(other, need))) ? rest : left;
  }, grants);
  return kept.map(capabilityText).sort();
}

function distinct(capabilities: readonly Capability[]): readonly Capability[] {
  return [...new Map(capabilities.map((each) => [capabilityText(each), each])).values()];
}
