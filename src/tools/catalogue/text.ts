import { grouped } from '../../wire/text/grouped.ts';
import { duration } from '../../wire/text/units.ts';
import type { ToolDefinition } from '../define/definition.ts';
import { argumentNotes, type CatalogueTool, toolCatalogue } from './entry.ts';
import { oneLine } from './lines.ts';

/** The catalogue of tools as a page for people: by group, each with its arguments, its result and the grants that it needs. */
export function toolMarkdown(tools: readonly ToolDefinition[]): string {
  const groups = Map.groupBy(toolCatalogue(tools), ({ group }) => group);
  const lines = [...groups].flatMap(([group, entries]) => [`## ${group}`, '', ...entries.flatMap(section)]);
  return `${['# Tools', '', ...lines].join('\n').trimEnd()}\n`;
}

function section(entry: CatalogueTool): string[] {
  const { name, description, call, args, example } = entry;
  const own = new Set(args.map((arg) => `${arg.name}: ${arg.description}`));
  const parts = argumentNotes(args).filter((note) => !own.has(note));
  const table = args.map(
    (arg) => `| \`${arg.name}\` | ${cell(arg.type)} | ${need(arg.required, arg.default)} | ${cell(arg.description)} |`,
  );
  return [
    `### ${name}`,
    '',
    '```text',
    oneLine(call),
    '```',
    '',
    ...(description === '' ? [] : [oneLine(description), '']),
    ...(table.length === 0 ? [] : ['| argument | type | needed | |', '| --- | --- | --- | --- |', ...table, '']),
    ...(parts.length === 0 ? [] : [...parts.map((note) => `- ${oneLine(note)}`), '']),
    ...(example === undefined ? [] : ['```neuroscript', oneLine(example), '```', '']),
    `${facts(entry).join('; ')}.`,
    '',
  ];
}

function need(required: boolean, fallback: unknown): string {
  if (required) return 'yes';
  return fallback === undefined ? 'no' : `no: ${cell(JSON.stringify(fallback))}`;
}

function cell(text: string): string {
  return oneLine(text).replaceAll('|', '\\|');
}

/** Effects, needed grants and bounds of a tool, in words. */
export function facts(tool: CatalogueTool): string[] {
  const { effects, capabilities, requiresTrust, requiresApproval, timeoutMs, maxArgBytes, maxResultBytes } = tool;
  return [
    { none: 'No effects', read: 'Reads', write: 'May change something' }[effects],
    ...(capabilities.length === 0 ? [] : [`needs ${capabilities.join(', ')}`]),
    ...(requiresTrust ? ['only in the context config'] : []),
    ...(requiresApproval ? ['a human has to approve every call'] : []),
    ...(timeoutMs === undefined ? [] : [`at most ${duration(timeoutMs)}`]),
    ...(maxArgBytes === undefined ? [] : [`at most ${grouped(maxArgBytes)} bytes of arguments`]),
    ...(maxResultBytes === undefined ? [] : [`at most ${grouped(maxResultBytes)} bytes of result`]),
  ];
}
