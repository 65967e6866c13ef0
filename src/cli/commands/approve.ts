import { resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import { ExecutorError, recordApproved, verifyApproval } from '../../gate/index.ts';
import { systemClock } from '../../loop/index.ts';
import { printable } from '../../report/index.ts';
import { QUEUE } from '../flags/approval.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import { readText } from '../terminal/input.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';
import { addPending, pendingOf, readPending } from './pending.ts';

interface Flags {
  readonly queue: string;
  readonly yes?: true;
}

const PLAN_BYTES = 1024 * 1024;

/** `gate propose FILE`: takes a plan to a human. */
export function addPropose(gate: Command, execute: Execute): void {
  gate
    .command('propose')
    .summary('put a plan into the queue for approval')
    .description('Appends a plan to pending.jsonl of the queue and prints its UUID and its hash. Approves nothing.')
    .argument('<FILE>', "the plan: any JSON; '-' reads standard input")
    .requiredOption(...QUEUE)
    .action(execute(propose));
}

/** `gate approve [UUID]`: takes the human's yes to the gate. */
export function addApprove(gate: Command, execute: Execute): void {
  gate
    .command('approve')
    .summary('read a pending plan and approve it')
    .description(
      'Shows a pending plan as canonical JSON with its hash and asks; the answer "yes" appends it to approved.jsonl. Without UUID, lists the pending plans.',
    )
    .argument('[UUID]', 'the plan')
    .requiredOption(...QUEUE)
    .option('--yes', 'do not ask: you have read the plan')
    .addHelpText('after', '\nExits with 0 when it approves the plan or shows the list, and with 1 otherwise.\n')
    .action(execute(approve));
}

async function propose(file: string, { queue }: Flags, terminal: Terminal): Promise<ExitCode> {
  const text = await readText(file, PLAN_BYTES, () => terminal.stdin);
  const { id, hash } = addPending(resolve(queue), { file, text }, systemClock.now());
  terminal.out.line(`${id} ${hash}`);
  return EXIT.ok;
}

async function list({ queue, yes }: Flags, terminal: Terminal): Promise<ExitCode> {
  if (yes) throw new UsageError('--yes needs the UUID of a plan');
  for (const { id, hash, timestamp } of readPending(resolve(queue)))
    if (!verifyApproval(resolve(queue), id, hash).approved) terminal.out.line(`${id} ${hash} ${printable(timestamp)}`);
  return EXIT.ok;
}

async function approve(given: string | undefined, flags: Flags, terminal: Terminal): Promise<ExitCode> {
  if (given === undefined) return list(flags, terminal);
  const { queue, yes } = flags;
  const intent = pendingOf(resolve(queue), given);
  terminal.out.line(printable(intent.canonical));
  terminal.out.line(`intent  ${intent.id}, proposed ${printable(intent.timestamp)}`);
  terminal.out.line(`sha256  ${intent.hash}`);
  if (yes !== true && !(await saysYes(terminal))) {
    terminal.out.line('not approved');
    return EXIT.runtime;
  }
  try {
    recordApproved(resolve(queue), { intentId: intent.id, hash: intent.hash }, systemClock.now());
  } catch (error) {
    if (!(error instanceof ExecutorError)) throw error;
    throw new UsageError(`not approved: ${error.message} (${error.code})`, { cause: error });
  }
  terminal.out.line('approved');
  return EXIT.ok;
}

/** Asks a person at a terminal; only the whole word `yes` approves. */
async function saysYes(terminal: Terminal): Promise<boolean> {
  const { stdin } = terminal;
  if (!('isTTY' in stdin && stdin.isTTY === true))
    throw new UsageError('cannot ask for approval: standard input is not a terminal; read the plan, then use --yes');
  const prompt = createInterface({ input: stdin });
  try {
    terminal.out.text('Type yes to approve: ');
    const ended = new Promise<string>((settle) => prompt.once('close', () => settle('')));
    return (await Promise.race([prompt.question('', { signal: terminal.interrupt }), ended])) === 'yes';
  } finally {
    prompt.close();
  }
}
