import { defineStandard, type Policy, PolicyGuard, type ToolDefinition, type ToolView } from '../src/tools/index.ts';

/**
 * `tool.system.Caps()`: a map from `resource:verb` to a boolean, for every capability that a registered tool needs. The answer comes from
 * the policy: a capability is true if the policy admits at least one tool that needs it. `policy` is the policy of the runtime; the
 * policies of forks are not considered.
 */
export function systemTools({ policy }: { readonly policy: Policy }): readonly ToolDefinition[] {
  const guard = new PolicyGuard(policy);
  return [
    defineStandard({
      name: 'tool.system.Caps',
      description:
        'Returns the capabilities that this host permits, as a map such as {"memory:read": true, "memory:write": false}.',
      example: 'tool.system.Caps()',
      returns: 'map from resource:verb to boolean',
      effects: 'read',
      run: (_, { tools }) => capabilities(tools, guard),
    }),
  ];
}

function capabilities(tools: ToolView, guard: PolicyGuard): Readonly<Record<string, boolean>> {
  const found: Record<string, boolean> = Object.create(null);
  for (const name of tools.names()) {
    const tool = tools.lookup(name);
    const admitted = tool !== undefined && guard.denial(tool, tools.isOwn(name)) === null;
    for (const { resource, verbs } of tool?.capabilities ?? [])
      for (const verb of verbs) found[`${resource}:${verb}`] = admitted || found[`${resource}:${verb}`] === true;
  }
  return found;
}
