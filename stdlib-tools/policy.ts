import { defineStandard, type ToolDefinition } from '../src/tools/index.ts';
import { isList } from '../src/wire/tagged.ts';
import { isValueMap, type Value } from '../src/wire/values.ts';

/** One step of a plan. */
export interface PlanStep {
  /** The operation, such as `set`. */
  readonly op: string;
  /** The path that the step changes. */
  readonly path: string;
  /** The new value. */
  readonly value: Value;
}

/** Returns why a step is refused, or null if it is allowed. It must be pure: the same step always gets the same answer. */
export type StepRule = (step: PlanStep) => string | null;

/** Maximum number of steps of a plan. */
const MAX_STEPS = 1000;

/**
 * `tool.policy.Allow(plan)`: tells whether a plan may be applied, as [ok, why]. A plan is a list of maps with `op`, `path` and
 * `value`. It may be applied if every step is allowed; otherwise `why` gives the reason for the first step that is not.
 */
export function policyTools(rule: StepRule): readonly ToolDefinition[] {
  return [
    defineStandard({
      name: 'tool.policy.Allow',
      description: 'Tells whether a plan may be applied, as [ok, why]. A plan is a list of {"op", "path", "value"}.',
      example: 'tool.policy.Allow([{"op": "set", "path": "/plans/today", "value": 1}])',
      args: [{ name: 'plan', required: false, description: 'the list of steps' }],
      returns: 'list [ok, why]',
      effects: 'none',
      run({ plan }) {
        const why = refusal(plan, rule);
        return [why === null, why ?? ''];
      },
    }),
  ];
}

/** A rule that allows `set` on the given paths. A path that ends in `*` stands for all paths with that prefix. */
export function pathRule(paths: readonly string[]): StepRule {
  return ({ op, path }) => {
    if (op !== 'set') return `the operation '${op}' is not known`;
    const allowed = paths.some((each) => (each.endsWith('*') ? path.startsWith(each.slice(0, -1)) : path === each));
    return allowed ? null : `${path} may not be written`;
  };
}

function refusal(plan: Value, rule: StepRule): string | null {
  if (!isList(plan)) return 'a plan is a list of steps';
  if (plan.length === 0) return 'the plan has no steps';
  if (plan.length > MAX_STEPS) return `the plan has more than ${MAX_STEPS} steps`;
  for (const [index, step] of plan.entries()) {
    const why = isStep(step)
      ? rule({ op: step.op, path: step.path, value: step.value })
      : 'a step is a map with op, path and value';
    if (why !== null) return `step ${index + 1}: ${why === '' ? 'not allowed' : why}`;
  }
  return null;
}

function isStep(value: Value): value is { readonly op: string; readonly path: string; readonly value: Value } {
  return isValueMap(value) && typeof value['op'] === 'string' && typeof value['path'] === 'string' && 'value' in value;
}
