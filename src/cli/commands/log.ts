import { statSync } from 'node:fs';
import type { Command } from 'commander';
import {
  type ChainOptions,
  type ChainReport,
  GENESIS,
  rotatedFiles,
  systemClock,
  verifyChain,
  verifyStoredLog,
} from '../../loop/index.ts';
import {
  type CheckpointStatement,
  CheckpointWalk,
  formatCheckpoint,
  issueCheckpoint,
  ReceiptError,
  type ReceiptKey,
  readCheckpoint,
} from '../../receipt/index.ts';
import { counted, printable } from '../../report/index.ts';
import { readPublicReceiptKey, readReceiptKey } from '../flags/keyfiles.ts';
import { texts } from '../flags/options.ts';
import { named } from '../flags/setup.ts';
import { openStore, storeName } from '../flags/store.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import { reading, readText } from '../terminal/input.ts';
import { Steps } from '../terminal/status.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';
import { OUT, writeOut } from '../terminal/write.ts';
import { usably } from './drive.ts';

interface VerifyFlags {
  readonly after?: string;
  readonly head?: string;
  readonly since?: readonly string[];
  readonly key?: string;
  readonly json?: true;
  readonly store?: string;
}

interface CheckpointFlags extends Pick<VerifyFlags, 'after' | 'store'> {
  readonly key: string;
  readonly out?: string;
}

const HELP = `
The command finds rotated files (FILE.1, FILE.2 ...) by itself and checks them
before FILE. Exits with 0 when every line is unchanged, follows the line before
it and decides no turn a second time, and with 1 otherwise. A chain cannot show
that its last lines are missing, or that all of it was written anew: keep
checkpoints elsewhere, and pass them with --since.
`;

const CHECKPOINT_HELP = `
A checkpoint says how long the log is and what its last line is, signed with a
key of "neuroscript keys generate --receipts". Give it to somebody who cannot
write the log. Later,
  neuroscript log verify FILE --since CHECKPOINT --key PUBLIC
shows whether the log still begins as it did.
`;

const CHECKPOINT_BYTES = 64 * 1024;

/** `log verify|checkpoint FILE…`: checks the chain of a decision log, and signs its length and head. */
export function addLog(program: Command, execute: Execute): void {
  const log = program
    .command('log')
    .summary('verify decision logs, and sign checkpoints of them')
    .description('Works on the decision logs that "neuroscript loop --log FILE" writes.');
  log
    .command('verify')
    .description('Checks that no line of a decision log was changed, removed, added or moved, and names the first that was.')
    .argument('[FILE...]', 'the files of one log, oldest first')
    .option('--store <FILE>', 'the log in this store, a file or postgres://…, in place of files')
    .option('--after <HASH>', 'hash of the line before the first, if earlier files were removed', readHash)
    .option('--head <HASH>', 'hash that must be in the log', readHash)
    .option('--since <CHECKPOINT>', 'a checkpoint that the log must agree with (repeatable)', texts)
    .option('--key <FILE>', 'public key of the checkpoints')
    .option('--json', 'print a JSON object')
    .addHelpText('after', HELP)
    .action(execute(usably(verify)));
  log
    .command('checkpoint')
    .description('Verifies a decision log, and signs how long it is and what its last line is.')
    .argument('[FILE...]', 'the files of one log, oldest first')
    .requiredOption('--key <FILE>', 'key for receipts and checkpoints')
    .option('--store <FILE>', 'the log in this store, a file or postgres://…, in place of files')
    .option('--after <HASH>', 'hash of the line before the first, if earlier files were removed', readHash)
    .option(...OUT)
    .addHelpText('after', CHECKPOINT_HELP)
    .action(execute(usably(checkpoint)));
}

function readHash(text: string): string {
  if (!/^[0-9a-f]{64}$/.test(text))
    throw new UsageError(`'${printable(text)}' is not a hash: a hash is 64 hexadecimal digits in lower case`);
  return text;
}

async function verify(files: readonly string[], flags: VerifyFlags, terminal: Terminal): Promise<ExitCode> {
  const { head, since = [], key } = flags;
  if (since.length > 0 && key === undefined) throw new UsageError('--since needs --key, the public key of the checkpoints');
  if (since.length === 0 && key !== undefined) throw new UsageError('--key needs --since, the checkpoints that it verifies');
  const checkpoints = key === undefined ? NO_CHECKPOINTS : await checkpointsOf(since, readPublicReceiptKey(key));
  const compare = (): Promise<ChainReport> => {
    const witness = named('--since', () => new CheckpointWalk(checkpoints.statements, flags.after ?? GENESIS));
    return walked(files, flags, { through: head, witness }, terminal);
  };
  const report = checkpoints.wrong ?? (await compare());
  if (flags.json) terminal.out.json(report);
  else for (const line of chainLines(report)) terminal.out.prose(line);
  return wrongOf(report) === null ? EXIT.ok : EXIT.runtime;
}

async function checkpoint(files: readonly string[], flags: CheckpointFlags, terminal: Terminal): Promise<ExitCode> {
  const key = readReceiptKey(flags.key);
  const report = await walked(files, flags, {}, terminal);
  const wrong = wrongOf(report);
  if (!report.ok || wrong !== null) {
    terminal.err.prose(`neuroscript: the log is not as it was written, so nothing is signed: ${wrong}`);
    return EXIT.runtime;
  }
  const signed = named(flags.key, () => issueCheckpoint(report, flags.after ?? GENESIS, key, systemClock.now()));
  const text = formatCheckpoint(signed);
  await writeOut(text, flags.out, terminal);
  return EXIT.ok;
}

/** What checkpoints state, up to the first that does not verify. */
interface Checkpoints {
  readonly statements: readonly CheckpointStatement[];
  /** Where and why a checkpoint does not verify; null if all do. */
  readonly wrong: (ChainReport & { readonly ok: false }) | null;
}

const NO_CHECKPOINTS: Checkpoints = { statements: [], wrong: null };

async function checkpointsOf(files: readonly string[], key: ReceiptKey): Promise<Checkpoints> {
  const statements: CheckpointStatement[] = [];
  for (const file of files) {
    const text = await readText(file, CHECKPOINT_BYTES, 'a checkpoint');
    try {
      statements.push(readCheckpoint(text, key));
    } catch (error) {
      if (!(error instanceof ReceiptError)) throw error;
      return { statements, wrong: { ok: false, file, line: 1, why: `the checkpoint does not verify: ${error.message}` } };
    }
  }
  return { statements, wrong: null };
}

/** What is said of a chain. */
export function chainLines(report: ChainReport): readonly string[] {
  const wrong = wrongOf(report);
  const whole = report.ok ? [`${counted(report.lines, 'line')}, unbroken; head ${report.head}`] : [];
  return [...whole, ...(wrong === null ? [] : [wrong])];
}

/** The first thing that is wrong with a log, as a line; null for none. */
function wrongOf(report: ChainReport): string | null {
  const wrong = report.ok ? report.repeated : report;
  return wrong === undefined ? null : `${printable(wrong.file)}, line ${wrong.line}: ${printable(wrong.why)}`;
}

/** What a log is compared with. */
type Compared = Pick<ChainOptions, 'through' | 'witness'>;

async function walked(
  files: readonly string[],
  { store, after }: Pick<VerifyFlags, 'store' | 'after'>,
  compared: Compared,
  terminal: Terminal,
): Promise<ChainReport> {
  if ((files.length === 0) === (store === undefined))
    throw new UsageError('name the files of a log, or use --store, but not both');
  const options = { after, ...compared };
  return store === undefined ? await ofFiles(files, options, terminal) : await ofStore(store, options, terminal);
}

async function ofFiles(files: readonly string[], options: ChainOptions, terminal: Terminal): Promise<ChainReport> {
  using steps = new Steps(terminal, 'log verify');
  const report = await reading(files.join(', '), () => {
    const all = [...new Set(files.flatMap((file) => [...rotatedFiles(file), file]))];
    const total = all.reduce((sum, file) => sum + statSync(file).size, 0);
    let done = 0;
    const onRead = (bytes: number): void => {
      done += bytes;
      steps.reached(done, total);
    };
    return verifyChain(all, { ...options, signal: terminal.interrupt, onRead });
  });
  steps.clear();
  return report;
}

async function ofStore(place: string, options: ChainOptions, { interrupt }: Terminal): Promise<ChainReport> {
  await using store = await openStore(place, { mustExist: true });
  return await verifyStoredLog(store.log, storeName(place), { ...options, signal: interrupt });
}
