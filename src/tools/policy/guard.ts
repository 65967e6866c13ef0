import type { ToolDefinition } from '../define/definition.ts';
import { capabilityText, matchesPattern, meets } from './capability.ts';
import type { Policy } from './policy.ts';

/** Why a policy denies a call. */
export interface Denial {
  /** Canonical name of the tool. */
  readonly tool: string;
  /** `policy`: there is no policy at all; the others name the part of the policy that denies. */
  readonly rule: 'policy' | 'context' | 'deny' | 'allow' | 'grants' | 'toolMaxCalls';
  /** One sentence for the caller. */
  readonly reason: string;
}

/** The part of a tool that a policy judges. */
export type JudgedTool = Pick<ToolDefinition, 'canonicalName' | 'requiresTrust' | 'capabilities'>;

/** A policy with its call counters, as one root interpreter and all its forks share it. */
export class PolicyGuard {
  readonly policy: Policy | null;
  readonly #calls: Map<string, number>;
  /** Verdicts by tool: neither tools nor policies change. */
  readonly #verdicts = {
    own: new WeakMap<JudgedTool, Denial | null>(),
    shared: new WeakMap<JudgedTool, Denial | null>(),
  };

  /** Null: no policy at all, which denies everything. `callsMade` are calls that count already, by canonical name. */
  constructor(policy: Policy | null, callsMade: Readonly<Record<string, number>> = {}) {
    this.policy = policy;
    this.#calls = new Map(Object.entries(callsMade));
  }

  /** The calls so far of the tools that have a call limit, by canonical name. */
  get callsMade(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#calls);
  }

  /**
   * Counts a call and decides it: null when it is allowed. `own` tools need no entry in the allow list, because the host gave them
   * to the calling fork itself; every other rule holds for them too.
   */
  admit(tool: ToolDefinition, own: boolean): Denial | null {
    const denial = this.denial(tool, own);
    if (denial !== null) return denial;
    const name = tool.canonicalName;
    const limit = this.policy?.toolMaxCalls.get(name);
    if (limit === undefined) return null;
    const calls = (this.#calls.get(name) ?? 0) + 1;
    this.#calls.set(name, calls);
    if (calls <= limit) return null;
    return { tool: name, rule: 'toolMaxCalls', reason: `tool '${name}' exceeded its call limit of ${limit}` };
  }

  /** As {@link admit}, but without counting and without the call limit: for checks before anything runs. */
  denial(tool: JudgedTool, own: boolean): Denial | null {
    const verdicts = own ? this.#verdicts.own : this.#verdicts.shared;
    let verdict = verdicts.get(tool);
    if (verdict === undefined) {
      verdict = judge(this.policy, tool, own);
      verdicts.set(tool, verdict);
    }
    return verdict;
  }
}

function judge(policy: Policy | null, tool: JudgedTool, own: boolean): Denial | null {
  const name = tool.canonicalName;
  const deny = (rule: Denial['rule'], reason: string): Denial => ({ tool: name, rule, reason });
  if (policy === null) return deny('policy', 'action denied: no execution policy is set');
  const { context, allow, deny: denied, grants } = policy;
  if (tool.requiresTrust && context !== 'config')
    return deny('context', `tool '${name}' requires a privileged context (config), and this one is ${context}`);
  const pattern = denied.find((each) => matchesPattern(each, name));
  if (pattern !== undefined) return deny('deny', `tool '${name}' denied by policy rule: ${pattern}`);
  if (!own && !allow.some((each) => matchesPattern(each, name)))
    return deny('allow', `tool '${name}' was not found in the policy's allow list. Allow list contains: [${shortList(allow)}]`);
  const missing = tool.capabilities.find((need) => !grants.some((grant) => meets(grant, need)));
  if (missing === undefined) return null;
  const had = grants.length === 0 ? 'none' : grants.map(capabilityText).join(' ');
  const problem = `missing required grants. Required: [${capabilityText(missing)}], Had: [${had}]`;
  return deny('grants', `permission denied for tool '${name}': ${problem}`);
}

/** Most patterns of a list that a message names. */
const MAX_SHOWN = 12;

function shortList(patterns: readonly string[]): string {
  const more = patterns.length - MAX_SHOWN;
  return more <= 0 ? patterns.join(', ') : `${patterns.slice(0, MAX_SHOWN).join(', ')}, … and ${more} more`;
}
