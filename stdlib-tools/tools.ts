import {
  canonicalName,
  defineTool,
  type ToolDefinition,
  ToolError,
  type ToolView,
  toolAdvice,
  toolCatalogue,
  toolMarkdown,
} from '../src/tools/index.ts';
import { NS_CODES } from '../src/wire/codes.ts';

/** Most tools of one listing: what a model can still read. */
const MAX_LISTED = 1000;

const filter = { name: 'filter', type: 'string', required: false, description: 'part of a name' } as const;

/**
 * `tool.tools.List(filter)` and `tool.tools.Help(name)`: what the calling fork can see, as a program would call it; and the same
 * under the names of the reference, `tool.meta.…`. They answer on the host, because what there is and what it says is the host's
 * to know, and are recorded like any call, so that a run repeated on a newer host reads the same text.
 */
export function toolsTools(): readonly ToolDefinition[] {
  return [
    defineTool({
      name: 'tool.tools.List',
      description: 'The tools that can be seen here, each as a program calls it; those whose name contains `filter` where given.',
      example: 'tool.tools.List("tools.")',
      args: [filter],
      returns: 'slice_string',
      effects: 'none',
      run: ({ filter: part }, { tools }) => toolCatalogue(listed(tools, part)).map(({ call }) => call),
    }),
    defineTool({
      name: 'tool.tools.Help',
      description: 'What a tool does, takes and gives back; code 3 for one that is not here.',
      example: 'tool.tools.Help("tools.List")',
      args: [{ name: 'name', type: 'string', description: 'with or without `tool.`' }],
      returns: 'string',
      effects: 'none',
      run: ({ name }, { tools }) => help(tools, name),
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
      example: 'tool.meta.GetTool("tool.tools.List")',
      args: [{ name: 'fullName', type: 'string', description: 'with or without `tool.`' }],
      returns: 'map',
      effects: 'none',
      run({ fullName }, { tools }) {
        const tool = tools.lookup(canonicalName(fullName));
        return tool === undefined ? { found: false } : { found: true, spec: specOf(tool) };
      },
    }),
    defineTool({
      name: 'tool.meta.ToolsHelp',
      description: 'What all tools do whose name contains `filter`, as a page.',
      example: 'tool.meta.ToolsHelp("tools.")',
      args: [filter],
      returns: 'string',
      effects: 'none',
      run: ({ filter: part }, { tools }) => toolMarkdown(listed(tools, part)),
    }),
  ];
}

function listed(tools: ToolView, part: string | null): readonly ToolDefinition[] {
  const wanted = (part ?? '').toLowerCase();
  return tools
    .names()
    .filter((name) => name.includes(wanted))
    .slice(0, MAX_LISTED)
    .flatMap((name) => tools.lookup(name) ?? []);
}

function help(tools: ToolView, name: string): string {
  const tool = tools.lookup(canonicalName(name));
  if (tool === undefined)
    throw new ToolError(NS_CODES.ToolNotFound, `tool '${canonicalName(name)}' not found`, toolAdvice(name, tools.names()));
  const [entry] = toolCatalogue([tool]);
  if (entry === undefined) return '';
  const args = entry.args.filter(({ description }) => description !== '').map((arg) => `  ${arg.name}: ${arg.description}`);
  const example = entry.example === undefined ? [] : [`Example: ${entry.example}`];
  return [entry.call, ...(entry.description === '' ? [] : [entry.description]), ...args, ...example].join('\n');
}

/** A tool as a map, in the words of the reference. */
function specOf(tool: ToolDefinition) {
  const [entry] = toolCatalogue([tool]);
  const { name, description, returns, example } = tool;
  const args = entry?.args.map(({ name: arg, type, required }) => ({ name: arg, type, required })) ?? [];
  return { fullName: name, description, args, returnType: returns, example };
}
