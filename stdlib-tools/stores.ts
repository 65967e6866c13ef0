import { defineStandard, type ToolDefinition } from '../src/tools/index.ts';

/**
 * `tool.account.*` and `tool.agentmodel.*`: the accounts and agent models of the interpreter. Every program may read them,
 * except the keys of accounts. Changing them takes a policy of context `config`. Names ignore letter case.
 */
export function storeTools(): readonly ToolDefinition[] {
  return [...accountTools(), ...modelTools()];
}

function accountTools(): readonly ToolDefinition[] {
  const fields = 'a map with kind, provider and api_key; org_id, project_id and notes are optional';
  return [
    defineStandard({
      name: 'tool.account.Register',
      description: 'Adds an account. Its key can be used, but not read.',
      example: 'tool.account.Register("work", {"kind": "llm", "provider": "acme", "api_key": "k-1"})',
      args: [
        { name: 'name', type: 'string', description: 'the name of the account' },
        { name: 'config', type: 'map', description: fields },
      ],
      returns: 'true',
      requiresTrust: true,
      capabilities: ['account:admin'],
      run({ name, config }, runtime) {
        runtime.adminStores().accounts.register(name, config);
        return true;
      },
    }),
    remove('account', (runtime, name) => runtime.adminStores().accounts.delete(name)),
    defineStandard({
      name: 'tool.account.List',
      description: 'Lists the names of all accounts, in lower case.',
      example: 'tool.account.List()',
      returns: 'list of strings',
      effects: 'read',
      capabilities: ['account:read'],
      run: (_, { stores }) => stores.accounts.list(),
    }),
    defineStandard({
      name: 'tool.account.Get',
      description: 'Reads an account as a map without its key; nil if there is none.',
      example: 'tool.account.Get("work")',
      args: [{ name: 'name', type: 'string', description: 'the name of the account' }],
      returns: 'map, or nil',
      effects: 'read',
      capabilities: ['account:read'],
      run({ name }, { stores }) {
        const found = stores.accounts.get(name);
        if (found === undefined) return null;
        const { api_key: _, ...shown } = found;
        return shown;
      },
    }),
  ];
}

function modelTools(): readonly ToolDefinition[] {
  const args = [
    { name: 'name', type: 'string', description: 'the name of the agent' },
    { name: 'config', type: 'map', description: 'a map with provider, model and the parameters of a request' },
  ] as const;
  return [
    defineStandard({
      name: 'tool.agentmodel.Register',
      description: 'Adds an agent that `ask` can name.',
      example: 'tool.agentmodel.Register("fast", {"provider": "acme", "model": "acme-1", "account_name": "work"})',
      args,
      returns: 'true',
      requiresTrust: true,
      capabilities: ['model:admin'],
      run({ name, config }, runtime) {
        runtime.adminStores().models.register(name, config);
        return true;
      },
    }),
    defineStandard({
      name: 'tool.agentmodel.Update',
      description: 'Sets the given fields of an agent and keeps the others. The value nil removes a field.',
      example: 'tool.agentmodel.Update("fast", {"temperature": 0.2})',
      args,
      returns: 'true',
      requiresTrust: true,
      capabilities: ['model:admin'],
      run({ name, config }, runtime) {
        runtime.adminStores().models.update(name, config);
        return true;
      },
    }),
    remove('agentmodel', (runtime, name) => runtime.adminStores().models.delete(name)),
    defineStandard({
      name: 'tool.agentmodel.List',
      description: 'Lists the names of all agents.',
      example: 'tool.agentmodel.List()',
      returns: 'list of strings',
      effects: 'read',
      capabilities: ['model:read'],
      run: (_, { stores }) => stores.models.list(),
    }),
    defineStandard({
      name: 'tool.agentmodel.Get',
      description: 'Reads an agent as a map; nil if there is none.',
      example: 'tool.agentmodel.Get("fast")',
      args: [{ name: 'name', type: 'string', description: 'the name of the agent' }],
      returns: 'map, or nil',
      effects: 'read',
      capabilities: ['model:read'],
      run: ({ name }, { stores }) => stores.models.get(name) ?? null,
    }),
  ];
}

function remove(
  group: 'account' | 'agentmodel',
  run: (runtime: Parameters<ToolDefinition['run']>[1], name: string) => boolean,
): ToolDefinition {
  return defineStandard({
    name: `tool.${group}.Delete`,
    description: `Removes an ${group === 'account' ? 'account' : 'agent'}. Returns false if there was none.`,
    example: `tool.${group}.Delete("old")`,
    args: [{ name: 'name', type: 'string', description: `the name of the ${group === 'account' ? 'account' : 'agent'}` }],
    returns: 'boolean',
    requiresTrust: true,
    capabilities: [group === 'account' ? 'account:admin' : 'model:admin'],
    run: ({ name }, runtime) => run(runtime, name),
  });
}
