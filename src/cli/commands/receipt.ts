import type { Command } from 'commander';
import { systemClock } from '../../loop/index.ts';
import {
  formatReceipt,
  issueReceipt,
  type Receipt,
  ReceiptError,
  type ReceiptReport,
  readReceipt,
  verifyReceipt,
  withhold,
} from '../../receipt/index.ts';
import { printable } from '../../report/index.ts';
import { createRuntime } from '../../runtime/index.ts';
import { isMadeOf } from '../../wire/wildcard.ts';
import { readPublicReceiptKey, readReceiptKey } from '../flags/keyfiles.ts';
import { launcherOption, texts } from '../flags/options.ts';
import { named, type SetupFlags } from '../flags/setup.ts';
import { openStore } from '../flags/store.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import { readText } from '../terminal/input.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';
import { OUT, writeOut } from '../terminal/write.ts';
import { usably } from './drive.ts';

interface IssueFlags {
  readonly store?: string;
  readonly key: string;
  readonly out?: string;
}

interface VerifyFlags extends Pick<SetupFlags, 'launcher'> {
  readonly key: string;
  readonly whole?: true;
  readonly json?: true;
}

interface RedactFlags {
  readonly part: readonly string[];
  readonly out?: string;
}

/** Maximum bytes of a receipt. */
const FILE_BYTES = 512 * 1024 * 1024;

const ISSUE_HELP = `
A receipt holds what the session did: envelopes, programs, calls, answers,
decisions, usage. It is sealed part by part and signed, so that somebody without
this store and these tools can check it and run it:
  neuroscript keys generate receipts.key --receipts
  neuroscript keys export-public receipts.key > receipts.pub
  neuroscript sessions receipt job-7 --key receipts.key --out job-7.receipt
  neuroscript receipt verify job-7.receipt --key receipts.pub
`;

const VERIFY_HELP = `
Checks the signature and every part, and executes every turn again in a fresh
sandbox, from the file alone: no tool is called and no store is read. Bytes,
fuel and decisions must be those of the receipt. Exits with 0 when they are, and
with 1 otherwise. Withheld parts are listed, and are faults only with --whole.
`;

const REDACT_HELP = `
The rest stays verifiable. A part is a field of a turn, of its inputs or of its
earlier attempts, or a call:
  2.journal.1       the first call of turn 2
  2.attempts.*      the attempts of turn 2 that did not decide it
  *.output          the output of every turn
  *.inputs.*        envelopes, limits and everything else that entered
"neuroscript receipt verify --json" lists what is withheld. What is withheld in
one part may still stand in another: a value of a call also in the output.
`;

/** `sessions receipt SID`. `command` has the flags of the store already. */
export function addSessionReceipt(command: Command, execute: Execute): void {
  command
    .argument('<SID>', 'session id')
    .requiredOption('--key <FILE>', 'key that signs receipts, made with "keys generate --receipts"')
    .option(...OUT)
    .addHelpText('after', ISSUE_HELP)
    .action(execute(usably(issue)));
}

/** `receipt verify|redact FILE`. */
export function addReceipt(program: Command, execute: Execute): void {
  const receipt = program
    .command('receipt')
    .summary('verify receipts of sessions')
    .description('Works on the receipts that "neuroscript sessions receipt" issues.');
  receipt
    .command('verify')
    .description('Checks a receipt, and executes its turns again from the file alone.')
    .argument('<FILE>', 'a receipt')
    .requiredOption('--key <FILE>', 'public key of the issuer')
    .option('--whole', 'fail also when a part is withheld or a turn cannot be executed')
    .option('--json', 'print one JSON object')
    .addOption(launcherOption())
    .addHelpText('after', VERIFY_HELP)
    .action(execute(verify));
  receipt
    .command('redact')
    .description('Writes a receipt without some of its parts.')
    .argument('<FILE>', 'a receipt')
    .requiredOption('--part <PATTERN>', 'names of parts, with * for any characters (repeatable)', texts)
    .option(...OUT)
    .addHelpText('after', REDACT_HELP)
    .action(execute(redact));
}

async function issue(sid: string, flags: IssueFlags, terminal: Terminal): Promise<ExitCode> {
  const key = readReceiptKey(flags.key);
  await using store = await openStore(flags.store, { mustExist: true });
  const state = await store.read(sid);
  if (state === null) throw new UsageError(`session ${printable(sid)} does not exist`);
  const receipt = issueReceipt(state, await store.turns(sid), key, systemClock.now());
  await writeOut(formatReceipt(receipt), flags.out, terminal);
  return EXIT.ok;
}

async function verify(file: string, { key, whole, json, launcher }: VerifyFlags, terminal: Terminal): Promise<ExitCode> {
  const publicKey = readPublicReceiptKey(key);
  const text = await readText(file, FILE_BYTES, 'a receipt');
  const receipt = parsed(text);
  if (receipt instanceof ReceiptError) {
    if (json) terminal.out.json({ ok: false, faults: [receipt.message], withheld: [], turns: [] });
    else terminal.out.line(`${printable(file)}: ${printable(receipt.message)}`);
    return EXIT.runtime;
  }
  const policy = { allow: ['*'], grants: ['*:*:*'] };
  await using runtime = await createRuntime({ policy, concurrency: 1, launcher });
  const report = await verifyReceipt(runtime, receipt, publicKey, terminal.interrupt);
  const ok = report.ok && (whole !== true || isWhole(report));
  if (json) terminal.out.json({ ...report, ok });
  else for (const line of linesOf(report)) terminal.out.line(line);
  return ok ? EXIT.ok : EXIT.runtime;
}

function parsed(text: string): Receipt | ReceiptError {
  try {
    return readReceipt(text);
  } catch (error) {
    if (error instanceof ReceiptError) return error;
    throw error;
  }
}

function isWhole({ withheld, turns }: ReceiptReport): boolean {
  return withheld.length === 0 && turns.every(({ verdict }) => verdict === 'same' || verdict === 'prefix');
}

function linesOf({ sid, kid, issuedAt, turns, faults, withheld }: ReceiptReport): readonly string[] {
  const signed = `session ${printable(sid)}, signed by ${printable(kid)} on ${new Date(issuedAt).toISOString()}`;
  const shown = turns.map(({ turn, decision, reason, verdict, why }) => {
    const words = why === null ? verdict : `${verdict} (${printable(why)})`;
    return `turn ${turn}  ${decision}${reason === null ? '' : ` ${reason}`}  ${words}`;
  });
  return [
    signed,
    ...shown,
    ...faults.map((fault) => `FAULT: ${printable(fault)}`),
    ...(withheld.length === 0 ? [] : [`parts withheld: ${withheld.length}`]),
  ];
}

async function redact(file: string, { part, out }: RedactFlags, terminal: Terminal): Promise<ExitCode> {
  const text = await readText(file, FILE_BYTES, 'a receipt');
  const receipt = named(file, () => readReceipt(text));
  const rest = withhold(receipt, (name) => part.some((pattern) => isMadeOf(pattern.split('*'), name)));
  const gone = Object.keys(receipt.parts).length - Object.keys(rest.parts).length;
  if (gone === 0) throw new UsageError(`no part of ${printable(file)} is named ${part.map(printable).join(' or ')}`);
  await writeOut(formatReceipt(rest), out, terminal);
  terminal.err.prose(`neuroscript: parts withheld: ${gone}`);
  return EXIT.ok;
}
