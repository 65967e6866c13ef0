import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { executeOnce } from '../../gate/index.ts';
import { reasonOf } from '../../gate/queue.ts';
import { planHash } from '../../loop/index.ts';
import { printable } from '../../report/index.ts';
import { notRecorded, QUEUE, readVerifier, VERIFIER } from '../flags/approval.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';

interface Flags {
  readonly queue: string;
  readonly verifier: string;
}

const HELP = `
The hash must be the hash of the plan {"command": [COMMAND, ARGS…]};
"neuroscript gate propose" puts a plan into the queue. No shell reads COMMAND.
Exits with 0 when the command ran, ended with 0 and is recorded, and with 1
otherwise.

Example:
  neuroscript gate execute UUID HASH --queue q \\
    --verifier 'neuroscript gate verify --queue q' -- ./deploy.sh --to test
`;

/** `gate execute UUID HASH … -- COMMAND`: the gate's executor for other programs. */
export function addExecute(gate: Command, execute: Execute): void {
  gate
    .command('execute')
    .summary('run an approved command once')
    .description('Asks the gate, runs the approved command, and appends it to executed.jsonl if it succeeds.')
    .argument('<UUID>', 'the approved intent')
    .argument('<HASH>', 'its hash')
    .argument('<COMMAND...>', 'the approved command, after --')
    .requiredOption(...QUEUE)
    .requiredOption(...VERIFIER)
    .addHelpText('after', HELP)
    .action(execute(run));
}

async function run(
  intentId: string,
  approved: string,
  command: readonly string[],
  flags: Flags,
  terminal: Terminal,
): Promise<ExitCode> {
  const verifier = readVerifier(flags.verifier);
  const hash = planHash({ command });
  if (hash !== approved) throw new UsageError(`this command is not what was approved: its hash is ${hash}`);
  const options = { queue: resolve(flags.queue), verifier, show: (line: string) => terminal.err.prose(line) };
  try {
    const result = await executeOnce({ intentId, hash, source: 'human' }, options, () => ended(command));
    if (result.state === 'executed') terminal.err.prose('executed and recorded');
    if (result.state === 'denied' && result.verdict.detail !== null) terminal.err.prose(printable(result.verdict.detail));
    if (result.state === 'failed') terminal.err.prose(`[ERROR] Failed, and not recorded: ${printable(reasonOf(result.error))}`);
    return result.state === 'executed' ? EXIT.ok : EXIT.runtime;
  } catch (error) {
    throw notRecorded(error);
  }
}

/** Runs the command. Rejects when it cannot start or ends with another code than 0. */
function ended([command = '', ...args]: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: 'inherit', shell: false });
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(signal === null ? `the command ended with exit code ${code}` : `the command was ended by ${signal}`));
    });
  });
}
