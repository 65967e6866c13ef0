import { type Command, Option } from 'commander';
import { counted, grouped, type Palette, paragraph, printable, printableLines } from '../../report/index.ts';
import { createRuntime } from '../../runtime/index.ts';
import {
  argumentNotes,
  type CatalogueTool,
  canonicalName,
  estimateTokens,
  matchesPattern,
  nearestTool,
  PolicyGuard,
  procedurePrompt,
  type ToolDefinition,
  toolCatalogue,
  toolMarkdown,
  toolPrompt,
  toolSchemas,
} from '../../tools/index.ts';
import { type LibraryFlags, loadLibrary } from '../flags/library.ts';
import { texts, wholeNumber } from '../flags/options.ts';
import { addSetup, readSetup, type SetupFlags } from '../flags/setup.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import { howToAllow } from '../terminal/result.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';
import { addMcp } from './mcp.ts';
import { addLogins } from './mcplogin.ts';

const FORMATS = ['text', 'json', 'schema', 'prompt', 'md'] as const;

interface ToolsFlags extends Pick<SetupFlags, 'tools' | 'policy' | 'mcp' | 'storage'>, LibraryFlags {
  readonly all?: true;
  readonly format: (typeof FORMATS)[number];
  readonly json?: true;
  readonly budget?: number;
  readonly prefer?: readonly string[];
  readonly brief?: true;
}

const DETAILS = `
Formats:
  text    for people at a terminal
  json    everything that is known, as data
  schema  name and JSON Schemas of arguments and result, as in the Model Context
          Protocol
  prompt  a text for a model's instructions; with --budget it fits that many
          tokens and says what it left out
  md      a page for people

Examples:
  neuroscript tools --tools tools.yaml
  neuroscript tools 'tool.shop.*' --tools tools.ts --format md
  neuroscript tools --policy policy.yaml --format prompt --budget 800 \\
    --prefer 'tool.memory.*'
  neuroscript tools --tools tools.yaml --format prompt --library lib
`;

/** `tools [NAME…]`: lists the tools that programs can call. */
export function addTools(program: Command, execute: Execute): void {
  const command = program
    .command('tools')
    .summary('list tools, and offer them to models and MCP hosts')
    .enablePositionalOptions()
    .description('Shows the tools that programs can call, with their arguments, in several forms.')
    .argument('[NAME...]', 'names, or patterns such as tool.memory.*; all when absent')
    .option('--all', 'include tools that the policy denies')
    .addOption(new Option('--format <FORMAT>', 'the form of the list').choices(FORMATS).default('text'))
    .option('--json', 'the same as --format json')
    .option('--brief', 'with --format text or prompt: signatures alone')
    .option('--budget <TOKENS>', 'with --format prompt: the most tokens (of 3 bytes each)', wholeNumber('--budget', 1))
    .option('--prefer <PATTERN>', 'with --format prompt: tools that come first (repeatable)', texts)
    .option('--library <DIR>', "with --format prompt: also the procedures of this folder, as 'sessions promote' makes them");
  addMcp(command, execute);
  addLogins(command, execute);
  addSetup(command).addHelpText('after', DETAILS).action(execute(list));
}

async function list(names: readonly string[], flags: ToolsFlags, terminal: Terminal): Promise<ExitCode> {
  const format = flags.json ? 'json' : flags.format;
  if (format !== 'prompt' && (flags.budget !== undefined || flags.prefer !== undefined || flags.library !== undefined))
    throw new UsageError('--budget, --prefer and --library need --format prompt');
  if (flags.brief && format !== 'text' && format !== 'prompt') throw new UsageError('--brief needs --format text or prompt');
  await using resources = new AsyncDisposableStack();
  const { tools, policy } = await readSetup(flags, resources, terminal);
  const guard = new PolicyGuard(policy);
  const callable = flags.all ? tools : tools.filter((tool) => guard.denial(tool, false) === null);
  const chosen = choose(callable, tools, names);
  const { out } = terminal;
  if (format === 'json') out.json(toolCatalogue(chosen));
  else if (format === 'schema') out.json(toolSchemas(chosen));
  else if (format === 'md') out.line(printableLines(toolMarkdown(chosen).trimEnd()));
  else if (format === 'prompt') prompt(chosen, await proceduresText(flags), flags, terminal);
  else
    for (const entry of toolCatalogue(chosen))
      for (const line of toolLines(entry, flags.brief === true, terminal.paintOut)) out.line(line);
  return EXIT.ok;
}

function choose(
  tools: readonly ToolDefinition[],
  all: readonly ToolDefinition[],
  names: readonly string[],
): readonly ToolDefinition[] {
  if (names.length === 0) return tools;
  const patterns = names.map((name) => (name.startsWith('*') ? name : canonicalName(name)));
  for (const [index, pattern] of patterns.entries()) {
    if (tools.some((tool) => matchesPattern(pattern, tool.canonicalName))) continue;
    const hidden = all.find((tool) => matchesPattern(pattern, tool.canonicalName));
    if (hidden !== undefined)
      throw new UsageError(
        `the policy denies ${printable(hidden.name)}; show it with --all; ${howToAllow(printable(hidden.canonicalName))}`,
      );
    const meant = nearestTool(
      pattern,
      tools.map((tool) => tool.canonicalName),
    );
    throw new UsageError(
      `no tool is named ${printable(names[index] ?? '')}${meant === undefined ? '' : `; did you mean ${printable(meant)}?`}`,
    );
  }
  return tools.filter((tool) => patterns.some((pattern) => matchesPattern(pattern, tool.canonicalName)));
}

/** The text about the procedures of a library, in at most half of the tokens; empty without a library. */
async function proceduresText({ library, budget, brief }: ToolsFlags): Promise<string> {
  if (library === undefined) return '';
  await using runtime = await createRuntime({ concurrency: 1 });
  const root = runtime.interpreter();
  await loadLibrary(root, library);
  return procedurePrompt(root.library, { brief, budget: budget === undefined ? undefined : Math.ceil(budget / 2) });
}

function prompt(
  tools: readonly ToolDefinition[],
  procedures: string,
  { budget, prefer, brief }: ToolsFlags,
  { out, err }: Terminal,
): void {
  const left = budget === undefined ? undefined : Math.max(1, budget - estimateTokens(procedures));
  const made = toolPrompt(tools, { budget: left, prefer, brief });
  out.line(printableLines(made.text.trimEnd()));
  if (procedures !== '') out.line(`\n${printableLines(procedures.trimEnd())}`);
  if (budget !== undefined && made.leftOut.length + made.shortened.length > 0)
    err.prose(
      `about ${grouped(made.tokens + estimateTokens(procedures))} tokens; ${grouped(made.leftOut.length)} of ${counted(tools.length, 'tool')} left out, ${grouped(made.shortened.length)} shortened`,
    );
}

/** What the further lines of a signature begin with, and all lines below it. */
const [SIGNATURE, DETAIL] = ['        ', '    '];

/** A tool for people at a terminal; `brief` is its signature alone. */
export function toolLines(entry: CatalogueTool, brief: boolean, palette: Palette): readonly string[] {
  const { name, call, description, args, example } = entry;
  const [head = '', ...more] = paragraph(printable(call), palette, '', SIGNATURE);
  const signature = [`${palette.bold(head.slice(0, name.length))}${head.slice(name.length)}`, ...more];
  if (brief) return signature;
  const indented = (text: string): readonly string[] =>
    printableLines(text.trimEnd())
      .split('\n')
      .flatMap((line) => paragraph(line, palette, DETAIL));
  return [
    ...signature,
    ...(description === '' ? [] : indented(description)),
    ...argumentNotes(args).flatMap(indented),
    ...(example === undefined ? [] : indented(`example: ${example}`)),
  ];
}
