import { EnvelopeError } from '../../aeiou/index.ts';
import { defined } from '../../wire/defined.ts';
import type { AttemptEnd, FailedAttempt } from '../record/record.ts';
import { recordedInput } from '../record/record.ts';
import type { EarlierTurn } from '../record/suspension.ts';
import type { Execution } from './execution.ts';
import type { TurnInput } from './input.ts';
import type { TurnRequest, TurnStart } from './request.ts';

/** How an attempt ended that need not decide its turn; null for one that decides it. */
export function endOf({ rejected, error, denied, halt }: Execution, input: TurnInput): AttemptEnd | null {
  // Another reply would cost as much as one that was too large.
  if (!input.ok) return input.failure instanceof EnvelopeError && input.failure.code !== 'ERR_ENV_SIZE' ? 'rejected' : null;
  if (rejected) return 'rejected';
  if (error === null || denied !== null) return null;
  if (error.code === 'ERR_WORKER') return 'interrupted';
  const isProgramError = (halt === 'ERR_EXEC' || halt === 'ERR_POLICY') && error.nsCode !== null;
  return isProgramError ? 'failed' : null;
}

/** The record of an attempt that did not decide its turn. */
export function failedAttempt(
  execution: Execution & { readonly error: object },
  end: AttemptEnd,
  { input, reply }: TurnRequest,
  { limits }: TurnStart,
  { clock, jtis }: EarlierTurn,
): FailedAttempt {
  const { output, scratchpad, outputComplete, whispers, journal, usage, error, problems, names, denied, run } = execution;
  return {
    ...{ end, reply: reply ?? '', envelope: input.text, problems, error, limits, clock, jtis },
    unreadable: input.ok ? null : { code: input.failure.code, message: input.failure.message },
    denied,
    ...(names === null ? {} : { names }),
    run: run === null ? null : recordedInput(run),
    ...{ output, scratchpad, outputComplete, whispers, journal, usage },
    ...defined({ labels: execution.labels }),
  };
}
