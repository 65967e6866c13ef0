import { resolve } from 'node:path';
import type { Command } from 'commander';
import { ExecutorError, executeOnce } from '../../gate/index.ts';
import { parseVerifier, type Verifier } from '../../gate/verifier.ts';
import { humanApproval, type TurnApproval } from '../../loop/index.ts';
import { printable } from '../../report/index.ts';
import { UsageError } from '../terminal/failure.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** The flags that execute one approved plan. */
export interface ApprovalFlags {
  /** The intent and its hash, with a colon between. */
  readonly intent?: string;
  readonly queue?: string;
  readonly verifier?: string;
  /** A key of a configuration alone. */
  readonly requireApproval?: boolean;
}

/** The flags that commands of the gate share. */
export const QUEUE = ['--queue <DIR>', 'the queue directory of the gate'] as const;
export const VERIFIER = ['--verifier <CMD>', 'the command that knows what was approved; no shell reads it'] as const;

const GROUP = 'Approval (docs/gate.md):';

export function addApproval(command: Command): Command {
  for (const [flag, help] of [
    ['--intent <UUID:HASH>', 'execute the plan that was approved under this UUID and with this hash, once'],
    QUEUE,
    VERIFIER,
  ] as const)
    command.addOption(command.createOption(flag, help).helpGroup(GROUP));
  return command;
}

/** Whether any of these flags was given. */
export function asksApproval({ intent, queue, verifier, requireApproval }: ApprovalFlags): boolean {
  return [intent, queue, verifier, requireApproval].some((flag) => flag !== undefined);
}

/**
 * The approval that these flags give: starting the command is the human's action. Throws {@link UsageError} when flags are
 * missing. The gate's line goes to standard error.
 */
export function approvalOf(flags: ApprovalFlags, terminal: Terminal): TurnApproval {
  const { intent, queue, verifier } = flags;
  const requiresApproval = flags.requireApproval === true;
  if (intent === undefined && queue === undefined && verifier === undefined) return { requiresApproval };
  if (intent === undefined || queue === undefined || verifier === undefined)
    throw new UsageError('an approval needs --intent, --queue and --verifier together');
  const [intentId = '', hash] = intent.split(':', 2);
  if (hash === undefined) throw new UsageError(`--intent must be UUID:HASH, not '${printable(intent)}'`);
  const command = readVerifier(verifier);
  const show = (line: string): void => terminal.err.prose(printable(line));
  const approval = humanApproval(hash, async (work) => {
    try {
      return await executeOnce({ intentId, hash, source: 'human' }, { queue: resolve(queue), verifier: command, show }, work);
    } catch (error) {
      const problem = notRecorded(error);
      // Printed here too, because a program may catch the error of its tool call.
      show(`[ERROR] ${problem.message}`);
      throw problem;
    }
  });
  return { requiresApproval, approval };
}

/** The command of `--verifier`. Throws {@link UsageError}. */
export function readVerifier(text: string): Verifier {
  const command = parseVerifier(text);
  if (command === null) throw new UsageError('--verifier must be a plain command: no shell reads it');
  return command;
}

/** The warning for a plan that was executed and is not in the queue's record. */
export function notRecorded(error: unknown): UsageError {
  if (!(error instanceof ExecutorError)) throw error;
  return new UsageError(`what was approved RAN, but could NOT BE RECORDED: ${error.message} (${error.code})`, {
    cause: error,
  });
}
