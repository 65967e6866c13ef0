import { canonicalName, defineTool, type ToolDefinition, ToolError, type ToolView } from '../src/tools/index.ts';
import { NS_CODES } from '../src/wire/codes.ts';
import { callText, catalogueText, parametersOf } from './catalogue.ts';

/** Most tools of one listing: what a model can still read. */
const MAX_LISTED = 1000;

/**
 * `tool.tools.List(filter)` and `tool.tools.Help(name)`: what the calling fork can see, as a program would call it; and the same
 * under the names of the reference, `tool.meta.…`. They answer on the host, because what there is and what it says is the host's
 * to know, and are recorded like any call, so that a run repeated on a newer host reads the same text.
 */
export function toolsTools(): readonly ToolDefinition[] {
  const filter = { name: 'filter', type: 'string', required: false, description: 'part of a name' } as const;
  const listed = (tools: ToolView, part: string | null): readonly ToolDefinition[] => {
    const wanted = (part ?? '').toLowerCase();
    const found = tools.names().flatMap((name) => (name.includes(wanted) ? (tools.lookup(name) ?? []) : []));
    return found.slice(0, MAX_LISTED);
  };
  const named = (tools: ToolView, name: string): ToolDefinition | undefined => tools.lookup(canonicalName(name));
  return [
    defineTool({
      name: 'tool.tools.List',
      description:
        'The tools that can be seen here, each as a program would call it; those whose name contains `filter` where given.',
      example: 'tool.tools.List("list.")',
      args: [filter],
      returns: 'slice_string',
      effects: 'none',
      run: ({ filter: part }, { tools }) => listed(tools, part).map(callText),
    }),
    defineTool({
      name: 'tool.tools.Help',
      description: 'What a tool does, takes and gives back; code 3 for one that is not here.',
      example: 'tool.tools.Help("str.Length")',
      args: [{ name: 'name', type: 'string', description: 'with or without `tool.`' }],
      returns: 'string',
      effects: 'none',
      run({ name }, { tools }) {
        const tool = named(tools, name);
        if (tool !== undefined) return catalogueText(tool);
        const meant = tools.nearest(name);
        const hint = meant === null ? undefined : `did you mean ${meant}?`;
        throw new ToolError(NS_CODES.ToolNotFound, `tool '${canonicalName(name)}' not found`, hint);
      },
    }),
    defineTool({
      name: 'tool.meta.ListTools',
      description: 'As tool.tools.List, as maps.',
      example: 'tool.meta.ListTools()',
      returns: 'list of maps',
      effects: 'none',
      run: (_, { tools }) => listed(tools, null).map(specOf),
    }),
    defineTool({
      name: 'tool.meta.GetTool',
      description: 'One tool as a map with `found` and, where it is, `spec`.',
      example: 'tool.meta.GetTool("tool.str.Length")',
      args: [{ name: 'fullName', type: 'string' }],
      returns: 'map',
      effects: 'none',
      run({ fullName }, { tools }) {
        const tool = named(tools, fullName);
        return tool === undefined ? { found: false } : { found: true, spec: specOf(tool) };
      },
    }),
    defineTool({
      name: 'tool.meta.ToolsHelp',
      description: 'Help for all tools whose name contains `filter`.',
      example: 'tool.meta.ToolsHelp("str.")',
      args: [filter],
      returns: 'string',
      effects: 'none',
      run: ({ filter: part }, { tools }) => listed(tools, part).map(catalogueText).join('\n\n'),
    }),
  ];
}

/** A tool as a map, in the words of the reference. */
function specOf(tool: ToolDefinition) {
  const { name, description, returns, example } = tool;
  return { fullName: name, description, args: parametersOf(tool), returnType: returns, example };
}
