import { type Command, Option } from 'commander';
import { toolGrammar } from '../../tools/index.ts';
import { addSetup, readSetup, type SetupFlags } from '../flags/setup.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';

const FORMATS = ['gbnf', 'ebnf'] as const;

interface GrammarFlags extends Pick<SetupFlags, 'tools' | 'policy' | 'mcp' | 'storage'> {
  readonly format: (typeof FORMATS)[number];
  readonly wholeTurn?: true;
  readonly small?: true;
}

const DETAILS = `
A model that decodes under the grammar can write only programs of the language,
and in them only calls of these tools, each with a number of arguments that the
tool takes and with literals of their types. A tool that the policy denies is
not in it.

Formats:
  gbnf  for llama.cpp
  ebnf  for XGrammar, with which vLLM and SGLang decode

Examples:
  neuroscript grammar --tools tools.yaml --policy policy.yaml > tools.gbnf
  neuroscript grammar --whole-turn --small --tools tools.yaml --format ebnf
`;

export function addGrammar(program: Command, execute: Execute): void {
  const command = program
    .command('grammar')
    .summary('write a grammar for decoders: programs with these tools only')
    .description('Writes a grammar under which a local model decodes, made for the tools that the policy allows.')
    .addOption(new Option('--format <FORMAT>', 'the notation').choices(FORMATS).default('gbnf'))
    .option('--whole-turn', 'the reply of an agent: an envelope whose program emits a control token last')
    .option('--small', 'only the plainest statements in one layout, for small models');
  addSetup(command).addHelpText('after', DETAILS).action(execute(print));
}

async function print(flags: GrammarFlags, { out }: Terminal): Promise<ExitCode> {
  await using resources = new AsyncDisposableStack();
  const { tools, policy } = await readSetup(flags, resources);
  const { format, wholeTurn = false, small = false } = flags;
  out.line(toolGrammar(tools, { policy, format, small, of: wholeTurn ? 'turn' : 'program' }).trimEnd());
  return EXIT.ok;
}
