import {
  argumentNotes,
  canonicalName,
  defineStandard,
  type ToolDefinition,
  ToolError,
  type ToolView,
  toolAdvice,
  toolCatalogue,
  toolMarkdown,
} from '../src/tools/index.ts';
import { NS_CODES } from '../src/wire/codes.ts';
import { findTools } from './find.ts';

/** Maximum number of tools of one listing, which is more than a model can read. */
const MAX_LISTED = 1000;

const filter = { name: 'filter', type: 'string', required: false, description: 'part of a tool name' } as const;

/**
 * `tool.tools.List(filter)` and `tool.tools.Help(name)`: the tools that the calling fork can see, as a program calls them. They also have
 * the names of the reference implementation, `tool.meta.…`. These tools run on the host, because the answer depends on the host. The
 * journal records them like any call, so a replay on a newer host reads the same text.
 */
export function toolsTools(): readonly ToolDefinition[] {
  return [
    defineStandard({
      name: 'tool.tools.List',
      description: 'Lists the available tools with their signatures. `filter` selects the tools whose name contains it.',
      example: 'tool.tools.List("tools.")',
      args: [filter],
      returns: 'slice_string',
      effects: 'none',
      run: ({ filter: part }, { tools }) => toolCatalogue(listed(tools, part)).map(({ call }) => call),
    }),
    defineStandard({
      name: 'tool.tools.Help',
      description: 'Describes a tool: what it does, its arguments and its result. Fails with code 3 if there is no such tool.',
      example: 'tool.tools.Help("tools.List")',
      args: [{ name: 'name', type: 'string', description: 'the name of the tool, with or without `tool.`' }],
      returns: 'string',
      effects: 'none',
      run: ({ name }, { tools }) => help(tools, name),
    }),
    defineStandard({
      name: 'tool.meta.Find',
      description:
        'Finds the tools that a program may call by what they do: the best first, each with its signature and what it does.',
      example: 'tool.meta.Find("find a tool")',
      args: [
        { name: 'words', type: 'string', description: 'what the tool should do, in a few words' },
        { name: 'most', type: 'int', required: false, default: 8, description: 'the most tools of the answer, from 1 to 50' },
      ],
      returns: 'slice_string',
      effects: 'none',
      run({ words, most }, runtime) {
        const callable = listed(runtime.tools, null).filter(({ name }) => runtime.mayCall(name));
        return findTools(callable, words, Math.min(50, Math.max(1, most)));
      },
    }),
    defineStandard({
      name: 'tool.meta.ListTools',
      description: 'Lists the available tools as maps.',
      example: 'tool.meta.ListTools()',
      returns: 'list of maps',
      effects: 'none',
      run: (_, { tools }) => listed(tools, null).map(specOf),
    }),
    defineStandard({
      name: 'tool.meta.GetTool',
      description: 'Describes one tool as a map with `found` and, if it was found, `spec`.',
      example: 'tool.meta.GetTool("tool.tools.List")',
      args: [{ name: 'fullName', type: 'string', description: 'the name of the tool, with or without `tool.`' }],
      returns: 'map',
      effects: 'none',
      run({ fullName }, { tools }) {
        const tool = tools.lookup(canonicalName(fullName));
        return tool === undefined ? { found: false } : { found: true, spec: specOf(tool) };
      },
    }),
    defineStandard({
      name: 'tool.meta.ToolsHelp',
      description: 'Describes all tools whose name contains `filter`, as one page of Markdown.',
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
  const args = argumentNotes(entry.args).map((note) => `  ${note}`);
  const example = entry.example === undefined ? [] : [`Example: ${entry.example}`];
  return [entry.call, ...(entry.description === '' ? [] : [entry.description]), ...args, ...example].join('\n');
}

/** A tool as a map with the keys of the reference implementation. */
function specOf(tool: ToolDefinition) {
  const [entry] = toolCatalogue([tool]);
  const { name, description, returns, example } = tool;
  const args = entry?.args.map(({ name: arg, type, required }) => ({ name: arg, type, required })) ?? [];
  return { fullName: name, description, args, returnType: returns, example };
}
