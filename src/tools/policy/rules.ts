import type { ToolDefinition } from '../define/definition.ts';
import { capabilityText, matchesPattern, meets } from './capability.ts';
import type { Policy } from './policy.ts';

/** The part of a tool that a policy judges. */
export type JudgedTool = Pick<ToolDefinition, 'canonicalName' | 'requiresTrust' | 'capabilities'>;

/** The part of a policy that decides a call; `policy`: there is no policy at all. */
export type PolicyRule = 'policy' | 'context' | 'deny' | 'allow' | 'grants' | 'when' | 'order' | 'flow' | 'toolMaxCalls';

/** The finding of one rule of a policy about a tool. */
export interface RuleFinding {
  /** The rule. */
  readonly rule: PolicyRule;
  /** A rule that does not pass denies the call. */
  readonly passes: boolean;
  /** The entry of the policy on which the finding is based: a pattern, the grants or a limit; null without one. */
  readonly entry: string | null;
  /** One sentence. */
  readonly reason: string;
}

/** The findings of the rules, at least one. */
export type RuleFindings = readonly [RuleFinding, ...(readonly RuleFinding[])];

/** The findings of every rule but the call limit, in the order in which a policy applies them. The first that does not pass is the last. */
export function findingsOf(policy: Policy | null, tool: JudgedTool, own: boolean): RuleFindings {
  if (policy === null) return [fails('policy', null, NO_POLICY)];
  let last = contextRule(policy, tool, own);
  const findings: [RuleFinding, ...RuleFinding[]] = [last];
  for (const rule of [denyRule, allowRule, grantsRule]) {
    if (!last.passes) break;
    last = rule(policy, tool, own);
    findings.push(last);
  }
  return findings;
}

/** The finding for a call above the call limit. */
export function overLimit(name: string, limit: number): RuleFinding {
  return fails('toolMaxCalls', `${limit}`, `${BEGINNINGS.toolMaxCalls(name)} of ${limit}`);
}

/** The rule that a recorded denial names; null for a message that no policy wrote about this tool. */
export function ruleOf(name: string, message: string): PolicyRule | null {
  return RULES.find((rule) => message.startsWith(BEGINNINGS[rule](name))) ?? null;
}

const NO_POLICY = 'action denied: no execution policy is set';

/** The beginning of the denial of each rule. Records hold these texts, and {@link ruleOf} reads them. */
export const BEGINNINGS: Readonly<Record<PolicyRule, (name: string) => string>> = {
  policy: () => NO_POLICY,
  context: (name) => `tool '${name}' requires a privileged context (`,
  deny: (name) => `tool '${name}' denied by policy rule: `,
  allow: (name) => `tool '${name}' was not found in the policy's allow list`,
  grants: (name) => `permission denied for tool '${name}': missing required grants`,
  when: (name) => `tool '${name}' may not be called with these arguments`,
  order: (name) => `tool '${name}' may not be called now`,
  flow: (name) => `tool '${name}' may not be called with what came from elsewhere`,
  toolMaxCalls: (name) => `tool '${name}' exceeded its call limit`,
};

const RULES: readonly PolicyRule[] = ['policy', 'context', 'deny', 'allow', 'grants', 'when', 'order', 'flow', 'toolMaxCalls'];

type Ask = (policy: Policy, tool: JudgedTool, own: boolean) => RuleFinding;

const passes = (rule: PolicyRule, entry: string | null, reason: string): RuleFinding => ({ rule, passes: true, entry, reason });
const fails = (rule: PolicyRule, entry: string | null, reason: string): RuleFinding => ({ rule, passes: false, entry, reason });

const contextRule: Ask = ({ context }, { canonicalName: name, requiresTrust }) => {
  if (!requiresTrust) return passes('context', context, 'the tool requires no trust');
  if (context === 'config') return passes('context', context, 'the context is config, which admits tools that require trust');
  return fails('context', context, `${BEGINNINGS.context(name)}config), and this one is ${context}`);
};

const denyRule: Ask = ({ deny }, { canonicalName: name }) => {
  const pattern = deny.find((each) => matchesPattern(each, name));
  if (pattern === undefined) return passes('deny', null, 'no pattern of deny matches');
  return fails('deny', pattern, `${BEGINNINGS.deny(name)}${pattern}`);
};

const allowRule: Ask = ({ allow }, { canonicalName: name }, own) => {
  if (own) return passes('allow', null, 'the host gave this tool to the fork itself, so it needs no entry in allow');
  const pattern = allow.find((each) => matchesPattern(each, name));
  if (pattern !== undefined) return passes('allow', pattern, `the pattern ${pattern} of allow matches`);
  return fails('allow', null, `${BEGINNINGS.allow(name)}. Allow list contains: [${shortList(allow, name)}]`);
};

const grantsRule: Ask = ({ grants }, { canonicalName: name, capabilities }) => {
  if (capabilities.length === 0) return passes('grants', null, 'the tool requires no capability');
  const missing = capabilities.find((need) => !grants.some((grant) => meets(grant, need)));
  const had = grants.length === 0 ? 'none' : grants.map(capabilityText).join(' ');
  if (missing !== undefined)
    return fails('grants', null, `${BEGINNINGS.grants(name)}. Required: [${capabilityText(missing)}], Had: [${had}]`);
  const used = grants.filter((grant) => capabilities.some((need) => meets(grant, need)));
  return passes('grants', used.map(capabilityText).join(' '), `granted: ${capabilities.map(capabilityText).join(' ')}`);
};

/** Most patterns of a list that a message names. */
const MAX_SHOWN = 12;

/** A list for a message about a tool: all of a short one; of a long one, the tools of the same group, and how many others there are. */
function shortList(patterns: readonly string[], name: string): string {
  if (patterns.length <= MAX_SHOWN) return patterns.join(', ');
  const group = name.slice(0, name.lastIndexOf('.') + 1);
  const near = patterns.filter((pattern) => pattern.startsWith(group)).slice(0, MAX_SHOWN);
  const rest = patterns.length - near.length;
  return near.length === 0 ? `${rest} patterns, none for ${group}*` : `${near.join(', ')}, … and ${rest} more`;
}
