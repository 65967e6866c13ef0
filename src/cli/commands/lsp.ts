import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { Tooling } from '../../lsp/index.ts';
import { readSetup } from '../flags/setup.ts';
import type { ExitCode } from '../terminal/exit.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';

interface LspFlags {
  readonly tools?: string;
  readonly policy?: string;
}

const HELP = `
An editor starts this command and talks to it over standard input and output.
The server shows syntax errors and findings with their fixes while you write,
completes and explains tools, built-in functions, procedures and fields, finds
and renames names across files, and formats.

Without flags it takes the file tools.yaml and policy.yaml of the first folder
of the workspace that has one. A module with tools runs with all the rights of
this process, so the server loads one only if --tools names it.
`;

/** `lsp`: serves the Language Server Protocol. */
export function addLsp(program: Command, execute: Execute): void {
  program
    // Editors start it; the list of commands is for people.
    .command('lsp', { hidden: true })
    .summary('serve an editor')
    .description('Serves the Language Server Protocol for NeuroScript over standard input and output.')
    .option('--tools <FILE>', 'tools that programs may call: YAML, JSON or a module; there are no others then')
    .option('--policy <FILE>', 'policy file (YAML): calls that it denies are errors')
    .option('--stdio', 'does nothing: the server always uses standard input and output, and some clients say so')
    .addHelpText('after', HELP)
    .action(execute(serve));
}

/** Serves the editor at the other end of the standard streams until it ends the server. */
export async function serve(flags: LspFlags, { stdin, interrupt }: Pick<Terminal, 'stdin' | 'interrupt'>): Promise<ExitCode> {
  const { serveLanguage } = await import('../../lsp/index.ts');
  await using resources = new AsyncDisposableStack();
  const read = async (folders: readonly string[]): Promise<Tooling> => {
    const tools = flags.tools ?? firstOf(folders, 'tools.yaml');
    const policy = flags.policy ?? firstOf(folders, 'policy.yaml');
    const setup = await readSetup({ tools, policy }, resources);
    return { ...setup, complete: tools !== undefined, denies: tools !== undefined || policy !== undefined };
  };
  const initial = { ...(await readSetup({}, resources)), complete: false, denies: false };
  const code = await serveLanguage({ input: stdin, output: process.stdout, signal: interrupt, tooling: read, initial });
  return code === 0 ? 0 : 1;
}

/** The file of this name in the first folder that has one. */
function firstOf(folders: readonly string[], name: string): string | undefined {
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}
