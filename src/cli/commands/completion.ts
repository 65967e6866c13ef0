import { Argument, type Command } from 'commander';
import { clip, printable } from '../../report/index.ts';
import { wantedBy } from '../completion/request.ts';
import { SCRIPTS, SHELLS, type Shell } from '../completion/scripts.ts';
import { candidates } from '../completion/values.ts';
import { readManual } from '../manual/read.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';

const HELP = `
The script completes commands, flags and their values, codes, tools, the ids of
sessions, and files.

  bash  in ~/.bashrc:  eval "$(neuroscript completion bash)"
  zsh   in ~/.zshrc, after compinit:  eval "$(neuroscript completion zsh)"
  fish  neuroscript completion fish >~/.config/fish/completions/neuroscript.fish

With WORDS, the command prints what can follow them, one word a line.
`;

/** `completion SHELL`: prints the script that completes command lines in a shell. */
export function addCompletion(program: Command, execute: Execute): void {
  program
    .command('completion')
    .summary('print a script that completes commands in a shell')
    .description('Prints a script for a shell that completes the command lines of neuroscript.')
    .addArgument(new Argument('<SHELL>', 'the shell').choices(SHELLS))
    .argument('[WORDS...]', 'after --: the words of a command line, the unfinished one last')
    .addHelpText('after', HELP)
    .action(execute(complete));
}

async function complete(shell: Shell, given: readonly string[], _flags: object, { out }: Terminal): Promise<ExitCode> {
  if (given.length === 0) {
    out.text(SCRIPTS[shell]);
    return EXIT.ok;
  }
  const manual = readManual();
  if (manual === null) throw new UsageError('the manual is missing; in a checkout, run "npm run build"');
  const { words, paths } = await candidates(wantedBy(given, manual));
  // A line is a word, and a shell would act on control characters. A word that has any is left out.
  for (const { text, help } of words) if (printable(text) === text) out.line(`${text}\t${clip(printable(help), 80)}`);
  out.line(`:${paths}`);
  return EXIT.ok;
}
