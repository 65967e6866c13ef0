import type { Command } from 'commander';
import type { Parameter, ToolDefinition } from '../tools/index.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { readTools } from './setup.ts';
import type { Execute, Terminal } from './terminal.ts';
import { printableLines } from './text.ts';

/** `tools --tools FILE`: what programs can call. */
export function addTools(program: Command, execute: Execute): void {
  program
    .command('tools')
    .summary('list the tools of a tools file')
    .description('Lists the tools of a tools file with their arguments, as a program would call them.')
    .requiredOption('--tools <FILE>', 'tools file (YAML)')
    .option('--json', 'print a JSON list')
    .action((flags: { readonly tools: string; readonly json?: true }) => execute((terminal) => list(flags, terminal)));
}

async function list(flags: { readonly tools: string; readonly json?: true }, terminal: Terminal): Promise<ExitCode> {
  const tools = await readTools(flags.tools);
  if (flags.json) terminal.out.line(JSON.stringify(tools.map(toJson), null, 2));
  else {
    for (const tool of tools) {
      terminal.out.line(`${terminal.paintOut.bold(tool.name)}(${tool.parameters.map(show).join(', ')})`);
      if (tool.description !== '') terminal.out.line(printableLines(tool.description).replace(/^/gm, '    '));
    }
  }
  return EXIT.ok;
}

function show(parameter: Parameter): string {
  const type = typeOf(parameter);
  return `${parameter.name}${parameter.required ? '' : '?'}${type === 'any' ? '' : `: ${type}`}`;
}

function typeOf({ kind }: Parameter): string {
  return 'type' in kind ? kind.type : 'any';
}

function toJson(tool: ToolDefinition): object {
  return {
    name: tool.name,
    description: tool.description,
    args: tool.parameters.map((parameter) => ({ name: parameter.name, type: typeOf(parameter), required: parameter.required })),
    returns: tool.returns,
    effects: tool.effects,
  };
}
