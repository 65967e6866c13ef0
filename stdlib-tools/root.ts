import { defineStandard, type ToolDefinition } from '../src/tools/index.ts';

/**
 * The tools that change the root interpreter: `tool.ns.def_global_const`, for policies of context `config`, and
 * `tool.script.LoadScript` and `ListFunctions`. Loaded definitions are known from the next run on, because the program that is
 * running is compiled already.
 */
export function rootTools(): readonly ToolDefinition[] {
  return [
    defineStandard({
      name: 'tool.ns.def_global_const',
      setsVariables: true,
      description: 'Defines a global constant, which every procedure sees at once. A name that is already in use is refused.',
      example: 'tool.ns.def_global_const("limit", 3)',
      args: [
        { name: 'name', type: 'string', description: 'the name of the constant' },
        { name: 'value', description: 'its value, which cannot change' },
      ],
      returns: 'true',
      effects: 'write',
      requiresTrust: true,
      async run({ name, value }, runtime) {
        await runtime.defineConstant(name, value);
        return true;
      },
    }),
    defineStandard({
      name: 'tool.script.LoadScript',
      setsVariables: true,
      description: 'Loads the procedures and event handlers of a library, for the runs after this one.',
      example: 'tool.script.LoadScript("func twice(needs n returns r) means\\n  return n * 2\\nendfunc\\n")',
      args: [{ name: 'text', type: 'string', description: 'NeuroScript source: `func` and `on event` blocks' }],
      returns: 'map with functions_loaded, event_handlers_loaded and metadata',
      effects: 'write',
      capabilities: ['script:write'],
      async run({ text }, { definitions }) {
        const { procedures, events, metadata } = await definitions.append(text);
        return { functions_loaded: procedures.length, event_handlers_loaded: events, metadata: { ...metadata } };
      },
    }),
    defineStandard({
      name: 'tool.script.ListFunctions',
      setsVariables: true,
      description: 'Lists the procedures of this interpreter with their signatures. Optional parameters stand in brackets.',
      example: 'tool.script.ListFunctions()',
      returns: 'map from name to signature',
      effects: 'read',
      capabilities: ['script:read'],
      run: async (_, { definitions }) =>
        new Map([...(await definitions.signatures())].map(([name, signature]) => [name, `procedure ${signature}`])),
    }),
  ];
}
