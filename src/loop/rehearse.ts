import { generateKeys, keyringFrom, ReplayCache } from '../aeiou/index.ts';
import { defined } from '../wire/defined.ts';
import { type Step, startedIn } from './plan.ts';
import { hostFailure } from './record/decision.ts';
import type { FailedAttempt, TurnRecord } from './record/record.ts';
import { Attempt, type UndecidedAttempt } from './turn/attempt.ts';
import type { TurnHost, TurnRequest } from './turn/request.ts';

/**
 * Runs a requested program against mocks, with keys that sign nothing else. Null when it may run for real: it came to its end there, or the
 * step has no rehearsal, or the program has begun already. Otherwise the attempt that failed; nothing of it has reached the world.
 */
export async function rehearse(step: Step, real: TurnRequest): Promise<UndecidedAttempt | null> {
  const { rehearse: executor } = step.options;
  const { sid, turn, progress, called, origins, input, attempts, limits, reply, signal, earlier, mayAct } = real;
  const hasBegun = (startedIn(step)?.attempt ?? 0) > 0 || (earlier?.recorded ?? null) !== null || earlier?.repeats !== undefined;
  if (executor === undefined || hasBegun) return null;
  const { host, maxAttempts } = step.stepper;
  const { clock } = host;
  const keyring = keyringFrom(generateKeys('rehearsal'), { clock });
  const stage: TurnHost = { ...host, executor, keyring, keys: keyring, replay: new ReplayCache({ clock }), checks: [] };
  const request: TurnRequest = {
    ...{ sid, turn, progress, called, origins, input, attempts, limits, reply, signal, earlier, mayAct },
    strict: true,
    // A person may allow whatever one is asked.
    plan: { granted: [], first: 1, own: 'all' },
    bound: real.plan === undefined ? real.bound : undefined,
    mayFollow: () => true,
  };
  for (let lost = 0; ; lost++) {
    const outcome = await new Attempt(stage, request, false).run().finally(() => executor.end?.(sid));
    if (outcome.kind === 'suspended') return null;
    if (outcome.kind === 'decided') return stopped(outcome.record, real);
    const { attempt } = outcome;
    if (attempt.end === 'rejected') return outcome;
    // Nothing has reached the world, so a program whose worker was killed is rehearsed from its beginning.
    if (attempt.end === 'failed' || lost >= maxAttempts) return { ...outcome, attempt: { ...attempt, end: 'rehearsed' } };
  }
}

/** The request of a program that failed in its rehearsal, after which no other program follows: it decides the turn and does not run. */
export function unrehearsed(request: TurnRequest, { attempt }: UndecidedAttempt): TurnRequest {
  // What no host can read decides as it does without a rehearsal.
  if (!request.input.ok || attempt.error.kind === 'syntax') return request;
  const refused = `the program failed in its rehearsal: ${attempt.error.message}`;
  return { ...request, attempts: [...(request.attempts ?? []), attempt], refused };
}

/** The reasons for which a program that has run is halted although it came to its end. */
const OTHERS: readonly TurnRecord['reason'][] = ['ERR_CANCELLED', 'ERR_NO_PROGRESS'];

/** The attempt of a rehearsal that ended with a decision: that of a program that a limit stopped, or that asked for no token. Null for a good end. */
function stopped(record: TurnRecord, { reply }: TurnRequest): UndecidedAttempt | null {
  const { decision, reason, error, inputs, startedAt } = record;
  const { output, scratchpad, outputComplete, labels, whispers, journal, usage } = record;
  const { envelope, limits, clock, jtis, nonce, scene } = inputs;
  if (decision !== 'HALT' || reason === null || OTHERS.includes(reason) || scene === null || scene.run === null) return null;
  const attempt: FailedAttempt = {
    ...{ end: 'rehearsed', reply: reply ?? '', envelope, problems: [], limits, clock, jtis },
    error: error ?? hostFailure(reason, `the program ended without a valid control token (${reason})`),
    ...{ unreadable: null, denied: null, run: scene.run },
    ...{ output, scratchpad, outputComplete, whispers, journal, usage },
    ...defined({ labels }),
  };
  const earlier = { startedAt, nonce, clock, jtis, mints: 0, mintFailed: false, ranMs: 0 };
  return { kind: 'failed', attempt, fixed: null, run: null, approved: null, earlier };
}
