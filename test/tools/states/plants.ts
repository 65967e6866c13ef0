import type { Bound, Plant } from '../../states/explorer.ts';

const RULES = 'src/tools/policy/rules.ts';
const GUARD = 'src/tools/policy/guard.ts';
const BOUND = 'src/tools/grant/bound.ts';
const APPROVAL = 'src/tools/dispatch/approval.ts';
const QUOTAS = 'src/tools/dispatch/quotas.ts';

/** The bound of `npm test`, and of the search for bugs. */
export const SMALL: Bound = { calls: 1 };

/** Bugs to plant in the code of policies, bounds, approvals and limits of calls, one at a time. */
export const PLANTS: readonly Plant[] = [
  {
    what: 'allow is asked before deny',
    file: RULES,
    from: '[denyRule, allowRule, grantsRule]',
    to: '[allowRule, denyRule, grantsRule]',
    breaks: 'A3-11.2-1',
  },
  {
    what: 'one capability of several is enough',
    file: RULES,
    from: 'const missing = capabilities.find((need) => !grants',
    to: 'const missing = capabilities.slice(0, 1).find((need) => !grants',
    breaks: 'A3-11.2-1',
  },
  {
    what: 'any context admits tools that require trust',
    file: RULES,
    from: 'if (!requiresTrust) return',
    to: "if (!requiresTrust || context === 'normal') return",
    breaks: 'A3-11.2-1',
  },
  {
    what: 'patterns heed letter case',
    file: 'src/tools/policy/capability.ts',
    from: 'const wanted = pattern.toLowerCase();',
    to: 'const wanted = pattern;',
    breaks: 'A3-11.2-1',
  },
  {
    what: 'a pattern that ends with a star matches anywhere',
    file: 'src/tools/policy/capability.ts',
    from: 'if (open && close) return',
    to: 'if (close) return',
    breaks: 'A3-11.2-1',
  },
  {
    what: 'a limit of calls admits one more',
    file: GUARD,
    from: 'return calls <= limit ? verdict',
    to: 'return calls <= limit + 1 ? verdict',
    breaks: 'A3-11.2-1',
  },
  {
    what: 'a fork is asked for its own policy alone',
    file: 'src/tools/dispatch/toolcall.ts',
    from: 'const { tools, guards, turn, bound } = context;',
    to: 'const { tools, turn, bound } = context; const guards = context.guards.slice(-1);',
    breaks: 'A3-11.2-1',
  },
  {
    what: 'a denial never ends a run',
    file: 'src/tools/dispatch/toolcall.ts',
    from: "policy?.onPolicyBreach === 'halt'",
    to: "policy?.onPolicyBreach !== 'halt' && policy?.onPolicyBreach !== 'error'",
    breaks: 'A3-11.2-1',
  },
  {
    what: 'a call is never counted for another row',
    file: BOUND,
    from: '    for (const other of groups.values()) reach(other, step);\n',
    to: '',
    breaks: '22.3',
  },
  {
    what: 'a call that moves is counted twice',
    file: BOUND,
    from: '    left.count--;\n',
    to: '',
    breaks: '22.3',
  },
  {
    what: 'a granted call may happen once more',
    file: BOUND,
    from: 'used < call.times) return step;',
    to: 'used <= call.times) return step;',
    breaks: '22.3',
  },
  {
    what: 'an approval is good twice',
    file: APPROVAL,
    from: '    this.#used = true;\n',
    to: '',
    breaks: 'ARGO-8-2',
  },
  {
    what: 'a plan that was not approved uses the approval up',
    file: APPROVAL,
    from: "if (problem !== null) return { state: 'denied'",
    to: "this.#used = true; if (problem !== null) return { state: 'denied'",
    breaks: 'ARGO-8-2',
  },
  {
    what: 'an approval covers every plan',
    file: APPROVAL,
    from: 'if (hash !== approved) return',
    to: "if (hash === '') return",
    breaks: 'ARGO-8-2',
  },
  {
    what: 'calls that tools make are free',
    file: QUOTAS,
    from: 'const used = this.#nestedCalls + this.#scriptCalls;',
    to: 'const used = this.#scriptCalls;',
    breaks: 'AL3-7-2',
  },
  {
    what: 'calls after those of tools are free',
    file: QUOTAS,
    from: '    this.#scriptCalls++;\n    this.#count(tool);\n',
    to: '    this.#scriptCalls++;\n',
    breaks: 'AL3-7-2',
  },
];
