import { checkObject } from '../../wire/options.ts';
import { type Breach, type CallQuestion, decideCall } from './decide.ts';
import type { Policy } from './policy.ts';
import { findingsOf, type JudgedTool, overLimit, type RuleFinding, type RuleFindings } from './rules.ts';

/** The verdict of a policy on a call, and the rule that decides. */
export interface PolicyVerdict extends Omit<RuleFinding, 'passes'> {
  /** Canonical name of the tool. */
  readonly tool: string;
  /** True when the call may be made. */
  readonly allowed: boolean;
}

/** Why a policy denies a call. */
export interface Denial extends PolicyVerdict {
  readonly allowed: false;
  /** The rule about arguments, order or origin that the call breaks; absent for the other rules. */
  readonly breach?: Breach;
}

/** A policy with its call counters, as one root interpreter and all its forks share it. */
export class PolicyGuard {
  readonly policy: Policy | null;
  readonly #calls: Map<string, number>;
  /** Verdicts by tool: neither tools nor policies change. */
  readonly #verdicts = {
    own: new WeakMap<JudgedTool, PolicyVerdict>(),
    shared: new WeakMap<JudgedTool, PolicyVerdict>(),
  };

  /** `policy` is null for a missing policy, which denies everything. `callsMade` are calls that count already, by canonical name. */
  constructor(policy: Policy | null, callsMade: Readonly<Record<string, number>> = {}) {
    this.policy = policy;
    this.#calls = new Map(Object.entries(callsMade));
  }

  /** The calls so far of the tools that have a call limit, by canonical name. */
  get callsMade(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#calls);
  }

  /** Counts a call and decides it: null when it is allowed. */
  admit(tool: JudgedTool, own: boolean): Denial | null {
    return denialIn(this.count(tool, own));
  }

  /**
   * As {@link admit}, but without counting and without the call limit: for checks before anything runs. With a `question`, the rules about
   * arguments, order and origin count as well; a breach may be one that a person can allow, or one that is not sure.
   */
  denial(tool: JudgedTool, own: boolean, question: CallQuestion | null = null): Denial | null {
    const denied = denialIn(this.verdict(tool, own));
    if (denied !== null || question === null || this.policy === null) return denied;
    const [breach] = decideCall(this.policy, question);
    if (breach === undefined) return null;
    const { rule, entry, reason } = breach;
    return { tool: tool.canonicalName, allowed: false, rule, entry, reason, breach };
  }

  /**
   * Counts a call and decides it. `own` tools need no entry in the allow list, because the host gave them to the calling fork
   * itself; every other rule holds for them too.
   */
  count(tool: JudgedTool, own: boolean): PolicyVerdict {
    const verdict = this.verdict(tool, own);
    if (!verdict.allowed) return verdict;
    const name = tool.canonicalName;
    const limit = this.policy?.toolMaxCalls.get(name);
    if (limit === undefined) return verdict;
    const calls = (this.#calls.get(name) ?? 0) + 1;
    this.#calls.set(name, calls);
    return calls <= limit ? verdict : verdictOf(name, overLimit(name, limit));
  }

  /** As {@link count}, but without counting and without the call limit. */
  verdict(tool: JudgedTool, own: boolean): PolicyVerdict {
    const verdicts = own ? this.#verdicts.own : this.#verdicts.shared;
    let verdict = verdicts.get(tool);
    if (verdict === undefined) {
      verdict = judge(tool, findingsOf(this.policy, tool, own));
      verdicts.set(tool, verdict);
    }
    return verdict;
  }
}

/** A verdict with the finding of each rule. */
export interface Explanation extends PolicyVerdict {
  /** In the order in which a policy applies its rules, up to the first that denies. */
  readonly steps: RuleFindings;
  /** Most calls of the tool; null without a limit. */
  readonly maxCalls: number | null;
}

/**
 * Which rule of a policy decides the calls of a tool, and why. Null for no policy at all, which denies everything. `own`: the host
 * gives the tool to the calling fork itself; false when absent.
 */
export function explainPolicy(policy: Policy | null, tool: JudgedTool, own = false): Explanation {
  if (policy !== null) checkObject('the policy', policy);
  checkObject('the tool', tool);
  const steps = findingsOf(policy, tool, own);
  return { ...judge(tool, steps), steps, maxCalls: policy?.toolMaxCalls.get(tool.canonicalName) ?? null };
}

/** The first rule that does not pass decides. A call that passes all is allowed by the rule that admits its name. */
function judge({ canonicalName }: JudgedTool, findings: RuleFindings): PolicyVerdict {
  const decides = findings.find(({ passes }) => !passes) ?? findings.find(({ rule }) => rule === 'allow') ?? findings[0];
  return verdictOf(canonicalName, decides);
}

function verdictOf(tool: string, { passes, rule, entry, reason }: RuleFinding): PolicyVerdict {
  return { tool, allowed: passes, rule, entry, reason };
}

function denialIn(verdict: PolicyVerdict): Denial | null {
  return verdict.allowed ? null : { ...verdict, allowed: false };
}
