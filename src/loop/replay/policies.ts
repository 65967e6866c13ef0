import {
  type Capability,
  capabilityText,
  meets,
  type Policy,
  PolicyGuard,
  type PolicyOptions,
  type PolicyVerdict,
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
 * the context `config` only if one of them requires trust. It limits no calls. If any entry were missing, the policy would deny a
 * recorded call or turn.
 */
export function suggestPolicy(verdicts: readonly RecordedVerdict[]): SuggestedPolicy {
  const used = verdicts.filter(({ verdict, own }) => verdict.allowed && !own);
  const tools = [...new Map(used.map((each) => [each.tool.canonicalName, each])).values()].toSorted((a, b) =>
    a.tool.canonicalName < b.tool.canonicalName ? -1 : 1,
  );
  const grants = leastGrants(tools.flatMap(({ tool }) => tool.capabilities));
  return {
    policy: {
      ...(tools.some(({ tool }) => tool.requiresTrust) ? { context: 'config' } : {}),
      allow: tools.map(({ tool }) => tool.canonicalName),
      ...(grants.length === 0 ? {} : { grants }),
    },
    unknown: unknownTools(tools),
  };
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
