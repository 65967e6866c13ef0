import { statSync } from 'node:fs';
import type { Command } from 'commander';
import { type ChainReport, rotatedFiles, verifyChain, verifyStoredLog } from '../../loop/index.ts';
import { printable } from '../../report/index.ts';
import { openStore, storeName } from '../flags/store.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import { reading } from '../terminal/input.ts';
import { Steps } from '../terminal/status.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';
import { usable } from './drive.ts';

interface VerifyFlags {
  readonly after?: string;
  readonly head?: string;
  readonly json?: true;
  readonly store?: string;
}

const HELP = `
The command finds rotated files (FILE.1, FILE.2 ...) by itself and checks them
before FILE. Exits with 0 when every line is unchanged, follows the line before
it and decides no turn a second time, and with 1 otherwise. A chain cannot show
that its last lines are missing: note the head that the command prints, and pass
it with --head the next time.
`;

/** `log verify FILE…`: checks the chain of a decision log. */
export function addLog(program: Command, execute: Execute): void {
  const log = program
    .command('log')
    .summary('verify decision logs')
    .description('Works on the decision logs that "neuroscript loop --log FILE" writes.');
  log
    .command('verify')
    .description('Checks that no line of a decision log was changed, removed, added or moved, and names the first that was.')
    .argument('[FILE...]', 'the files of one log, oldest first')
    .option('--store <FILE>', 'the log in this store, a file or postgres://…, in place of files')
    .option('--after <HASH>', 'hash of the line before the first, if earlier files were removed', readHash)
    .option('--head <HASH>', 'hash that must be in the log', readHash)
    .option('--json', 'print a JSON object')
    .addHelpText('after', HELP)
    .action((files: readonly string[], flags: VerifyFlags) =>
      execute((terminal) => usable(() => verify(files, flags, terminal))),
    );
}

function readHash(text: string): string {
  if (!/^[0-9a-f]{64}$/.test(text)) throw new UsageError(`'${printable(text)}' is no hash: 64 hexadecimal digits in lower case`);
  return text;
}

async function verify(files: readonly string[], flags: VerifyFlags, terminal: Terminal): Promise<ExitCode> {
  if ((files.length === 0) === (flags.store === undefined)) throw new UsageError('name the files of a log, or give --store');
  const report = flags.store === undefined ? await ofFiles(files, flags, terminal) : await ofStore(flags.store, flags, terminal);
  if (flags.json) terminal.out.json(report);
  else if (report.ok) terminal.out.line(`${report.lines} lines, unbroken; head ${report.head}`);
  const wrong = report.ok ? report.repeated : report;
  if (wrong !== undefined && !flags.json)
    terminal.out.line(`${printable(wrong.file)}, line ${wrong.line}: ${printable(wrong.why)}`);
  return wrong === undefined ? EXIT.ok : EXIT.runtime;
}

async function ofFiles(files: readonly string[], flags: VerifyFlags, terminal: Terminal): Promise<ChainReport> {
  using steps = new Steps(terminal, 'log verify');
  const report = await reading(files.join(', '), () => {
    const all = [...new Set(files.flatMap((file) => [...rotatedFiles(file), file]))];
    const total = all.reduce((sum, file) => sum + statSync(file).size, 0);
    let done = 0;
    const onRead = (bytes: number): void => {
      done += bytes;
      steps.reached(done, total);
    };
    return verifyChain(all, { after: flags.after, through: flags.head, signal: terminal.interrupt, onRead });
  });
  steps.clear();
  return report;
}

async function ofStore(place: string, { after, head }: VerifyFlags, { interrupt }: Terminal): Promise<ChainReport> {
  await using store = await openStore(place, { mustExist: true });
  return await verifyStoredLog(store.log, storeName(place), { after, through: head, signal: interrupt });
}
