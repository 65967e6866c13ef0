import { ConfigError } from '../../wire/errors.ts';
import { Attempt, type DecidedTurn, type TurnOutcome } from './attempt.ts';
import type { TurnHost, TurnRequest } from './request.ts';

/**
 * Runs exactly one turn: nonce and context, envelope, ACTIONS check, policy, execution in a fresh sandbox under limits,
 * candidates, selection and lints, progress guard, carry-forward check. The caller holds the session's lock and stores the
 * record. A tool cannot suspend this turn; see {@link runSuspendableTurn}.
 *
 * Resolves with a decision for every failure of the envelope or the program, for every limit, and for a cancellation. Rejects
 * only for misuse and state: `ConfigError`, `RuntimeClosedError`, `BusyError`.
 */
export async function runTurn(host: TurnHost, request: TurnRequest): Promise<DecidedTurn> {
  const outcome = await new Attempt(host, { ...request, mayFollow: undefined }, false).run();
  if (outcome.kind === 'decided') return outcome;
  throw new ConfigError('the executor suspended a turn that cannot be resumed');
}

/** Like {@link runTurn}, but a tool may suspend the turn. To continue, run the turn again with `earlier`. */
export async function runSuspendableTurn(host: TurnHost, request: TurnRequest): Promise<TurnOutcome> {
  const outcome = await new Attempt(host, { ...request, mayFollow: undefined }, true).run();
  if (outcome.kind !== 'failed') return outcome;
  throw new ConfigError('an attempt that nothing may follow did not decide its turn');
}
