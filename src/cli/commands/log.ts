import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { rotatedFiles, verifyChain } from '../../loop/index.ts';
import { printable } from '../../report/index.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';

interface VerifyFlags {
  readonly after?: string;
  readonly head?: string;
  readonly json?: true;
}

const HELP = `
Files that were put aside (FILE.1, FILE.2 ...) are checked before FILE without being named. Exits 0 when every line
follows the one before it and is as it was written, 1 otherwise. A chain cannot show that its last lines are missing:
note the head that is printed, and give it with --head the next time.
`;

/** `log verify FILE…`: checks the chain of a decision log. */
export function addLog(program: Command, execute: Execute): void {
  const log = program
    .command('log')
    .summary('check a decision log')
    .description('Works on the decision logs that "neuroscript loop --log FILE" writes.');
  log
    .command('verify')
    .description('Checks that no line of a decision log was changed, taken out, put in or moved; names the first that was.')
    .argument('<FILE...>', 'the files of one log, oldest first')
    .option('--after <HASH>', 'hash of the line before the first, where earlier files were thrown away', readHash)
    .option('--head <HASH>', 'hash that the log must end with or pass through', readHash)
    .option('--json', 'print a JSON object')
    .addHelpText('after', HELP)
    .action((files: readonly string[], flags: VerifyFlags) => execute((terminal) => verify(files, flags, terminal)));
}

function readHash(text: string): string {
  if (!/^[0-9a-f]{64}$/.test(text)) throw new UsageError(`'${printable(text)}' is no hash: 64 hexadecimal digits in lower case`);
  return text;
}

async function verify(files: readonly string[], flags: VerifyFlags, terminal: Terminal): Promise<ExitCode> {
  for (const file of files) if (!existsSync(file)) throw new UsageError(`cannot read ${printable(file)}: there is no such file`);
  const all = [...new Set(files.flatMap((file) => [...rotatedFiles(file), file]))];
  const report = await verifyChain(all, { after: flags.after, through: flags.head });
  if (flags.json) terminal.out.line(JSON.stringify(report));
  else if (report.ok) terminal.out.line(`${report.lines} lines, unbroken; head ${report.head}`);
  else terminal.out.line(`${printable(report.file)}, line ${report.line}: ${report.why}`);
  return report.ok ? EXIT.ok : EXIT.runtime;
}
