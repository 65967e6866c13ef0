import { pathText, readAs } from '../../files/problem.ts';
import { defined } from '../../wire/defined.ts';
import { ConfigError } from '../../wire/errors.ts';
import { checkObject } from '../../wire/options.ts';
import { canonicalName } from '../names.ts';
import { YamlFile } from '../yaml.ts';
import { type Capability, capabilityText, parseCapability } from './capability.ts';
import { type FlowRules, flowRules } from './flow.ts';
import { policyForm } from './form.ts';
import type { ConditionRow, OrderRule, PolicyContext, PolicyOptions } from './options.ts';

/** A checked, immutable policy. A `PolicyGuard` counts the calls. */
export class Policy {
  /** The kind of its runs. */
  readonly context: PolicyContext;
  /** Patterns of the tools that may be called. */
  readonly allow: readonly string[];
  /** Patterns of the tools that may not be called, even if `allow` has them. */
  readonly deny: readonly string[];
  /** The granted capabilities. */
  readonly grants: readonly Capability[];
  /** Most calls, by canonical name. */
  readonly toolMaxCalls: ReadonlyMap<string, number>;
  /** Conditions on arguments, by a pattern of tools. */
  readonly when: Readonly<Record<string, readonly ConditionRow[]>>;
  /** Rules about the calls before a call. */
  readonly order: readonly OrderRule[];
  /** Rules about where values come from; null without any. */
  readonly flow: FlowRules | null;
  /** `error`: a breach is code 1003. `halt`: a breach ends the run. */
  readonly onPolicyBreach: 'error' | 'halt';

  /** Throws {@link ConfigError} (`ERR_CONFIG`) for options of the wrong form. */
  constructor(options: PolicyOptions = {}) {
    checkObject('the policy', options);
    const { context, allow, deny, grants, toolMaxCalls, when, order, flow, onPolicyBreach } = readAs(
      policyForm(),
      defined(options),
      ({ path, problem }) => {
        throw new ConfigError(`the policy: ${path.length === 0 ? '' : `${pathText(path)}: `}${problem}`);
      },
    );
    this.context = context ?? 'normal';
    this.allow = Object.freeze(allow ?? []);
    this.deny = Object.freeze(deny ?? []);
    this.grants = Object.freeze((grants ?? []).map(parseCapability));
    this.toolMaxCalls = new Map(Object.entries(toolMaxCalls ?? {}).map(([name, most]) => [canonicalName(name), most]));
    this.when = Object.freeze(when ?? {});
    this.order = Object.freeze(order ?? []);
    this.flow = flow === undefined ? null : flowRules(flow);
    this.onPolicyBreach = onPolicyBreach ?? 'error';
    Object.freeze(this);
  }
}

/** The options that make an equal policy; null for no policy at all. */
export function policyOptions(policy: Policy | null): PolicyOptions | null {
  if (policy === null) return null;
  const { context, allow, deny, grants, toolMaxCalls, when, order, flow, onPolicyBreach } = policy;
  return {
    context,
    allow,
    deny,
    grants: grants.map(capabilityText),
    toolMaxCalls: Object.fromEntries(toolMaxCalls),
    ...(Object.keys(when).length === 0 ? {} : { when }),
    ...(order.length === 0 ? {} : { order }),
    ...(flow === null ? {} : { flow: flow.options }),
    onPolicyBreach,
  };
}

export const POLICY_KEYS = [
  'context',
  'allow',
  'deny',
  'grants',
  'toolMaxCalls',
  'when',
  'order',
  'flow',
  'onPolicyBreach',
] as const;

/**
 * A policy file, YAML or JSON (`docs/schemas/policy.schema.json`); its keys are those of {@link PolicyOptions}. Throws
 * {@link ConfigError} (`ERR_CONFIG`) with the file, the line and the problem.
 *
 * @example
 * ```ts
 * import { createRuntime, loadPolicy } from 'neuroscript-runtime';
 *
 * const policy = loadPolicy('allow: [tool.fs.Read]\ngrants: ["fs:read:*"]', 'policy.yaml');
 * await using runtime = await createRuntime({ policy });
 * ```
 */
export function loadPolicy(text: string, fileName: string): Policy {
  return new Policy(new YamlFile(text, fileName).as(policyForm()));
}
