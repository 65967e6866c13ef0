import { defineTool, type ToolDefinition } from '../src/tools/index.ts';

/**
 * What programs may do to the interpreter they come from: `tool.ns.def_global_const`, for policies of context `config`, and
 * `tool.script.LoadScript` and `ListFunctions`. What a program loads, runs from the next one on know: the program that is
 * running was compiled before.
 */
export function rootTools(): readonly ToolDefinition[] {
  return [
    defineTool({
      name: 'tool.ns.def_global_const',
      description: 'Defines a global constant that every procedure sees at once; a name that means something already is refused.',
      example: 'tool.ns.def_global_const("limit", 3)',
      args: [
        { name: 'name', type: 'string', description: 'the name of the constant' },
        { name: 'value', description: 'its value, for good' },
      ],
      returns: 'true',
      effects: 'write',
      requiresTrust: true,
      async run({ name, value }, runtime) {
        await runtime.defineConstant(name, value);
        return true;
      },
    }),
    defineTool({
      name: 'tool.script.LoadScript',
      description: 'Adds the procedures and event handlers of a library text for the runs after this one.',
      example: 'tool.script.LoadScript("func twice(needs n returns r) means\\n  return n * 2\\nendfunc\\n")',
      args: [{ name: 'text', type: 'string', description: 'NeuroScript: `func` and `on event` blocks' }],
      returns: 'map with functions_loaded, event_handlers_loaded and metadata',
      effects: 'write',
      capabilities: ['script:write'],
      async run({ text }, { definitions }) {
        const { procedures, events, metadata } = await definitions.append(text);
        return { functions_loaded: procedures.length, event_handlers_loaded: events, metadata: { ...metadata } };
      },
    }),
    defineTool({
      name: 'tool.script.ListFunctions',
      description: 'The procedures of this interpreter and how each is called; optional parameters stand in brackets.',
      example: 'tool.script.ListFunctions()',
      returns: 'map from name to text',
      effects: 'read',
      capabilities: ['script:read'],
      run: async (_, { definitions }) =>
        new Map([...(await definitions.signatures())].map(([name, signature]) => [name, `procedure ${signature}`])),
    }),
  ];
}
