import type { Runtime } from '../../runtime/index.ts';
import type { TurnRecord } from '../record/record.ts';
import { type SealFault, sealFaults } from '../record/seal.ts';
import { type AttemptReplay, replayAttempts } from './attempts.ts';
import { malformation } from './check.ts';
import { compareTurns, type Divergence } from './compare.ts';
import { type ExecutionOptions, repeat } from './execute.ts';
import { keyFault, secretKeys, verifyDecision } from './verify.ts';

/**
 * The result of executing a recorded turn again.
 *
 * - `same`: every byte is as recorded.
 * - `differs`: `divergence` is the first difference.
 * - `prefix`: the turn was killed at an unknown moment, and both outputs agree as far as both go.
 * - `incomplete`: the record lacks what an execution needs, or needs more than this host allows; `why` says what.
 * - `malformed`: the record has what no record of this runtime has, and is not executed; `why` says what.
 * - `verified`: the record was redacted and not executed, but its tokens lead to its decision.
 * - `erased`: the content of the turn was erased, and nothing else of the record changed.
 * - `changed`: the record is not as it was sealed, in the parts that `faults` names.
 */
export interface TurnReplay {
  /** Id of the session. */
  readonly sid: string;
  /** Number of the turn, from 1. */
  readonly turn: number;
  /** The outcome of executing the turn again. */
  readonly verdict: 'same' | 'differs' | 'prefix' | 'verified' | 'incomplete' | 'malformed' | 'erased' | 'changed';
  /** Why the record cannot be executed; null when it can. */
  readonly why: string | null;
  /** The parts that are not as they were sealed; empty for a whole record. */
  readonly faults: readonly SealFault[];
  /** The attempts at the turn that did not decide it, in order. They are executed before the turn. */
  readonly attempts: readonly AttemptReplay[];
  /** The first difference; null without one. */
  readonly divergence: Divergence | null;
  /** The turn as it was executed now; null when it was not executed. */
  readonly replayed: TurnRecord | null;
  /** Ids of secret keys, whose tags could not be verified. */
  readonly unverified: readonly string[];
}

/** Options of {@link replayTurn}. */
export interface ReplayOptions extends ExecutionOptions {
  /** Hash of the previous turn's record; taken from the record when absent. */
  readonly prev?: string | null | undefined;
  /** Parts of the record that redaction changed. Such a turn is not executed. */
  readonly redacted?: readonly string[];
}

/**
 * Executes a recorded turn again, in a fresh sandbox of `runtime` and only from its recorded inputs: it calls no tool, reads no
 * clock and mints no token. Rejects with `RuntimeClosedError` and `BusyError`.
 */
export async function replayTurn(runtime: Runtime, record: TurnRecord, options: ReplayOptions = {}): Promise<TurnReplay> {
  const faults = sealFaults(record, options.prev === undefined ? record.seal.prev : options.prev);
  const { sid, turn } = record;
  const common = { sid, turn, faults, unverified: options.keys === undefined ? secretKeys(record) : [] };
  const { scene } = record.inputs;
  const end = (verdict: TurnReplay['verdict'], more: Partial<TurnReplay> = {}): TurnReplay => ({
    ...common,
    verdict: faults.length > 0 ? 'changed' : verdict,
    why: null,
    attempts: [],
    divergence: null,
    replayed: null,
    ...more,
  });
  if (record.erased !== undefined) return end('erased', { why: `erased: ${record.erased.join(', ')}` });
  const malformed = malformation(record) ?? keyFault(record);
  const { redacted = [] } = options;
  // What redaction leaves in the place of a part may have another form.
  if (malformed !== null) return end(redacted.length > 0 ? 'incomplete' : 'malformed', { why: malformed });
  if (redacted.length > 0) {
    const why = `redacted: ${redacted.join(', ')}`;
    const decided = scene === null ? null : verifyDecision(record, scene, options.keys);
    if (decided === null) return end('incomplete', { why });
    return end(decided.divergence === null ? 'verified' : 'differs', { ...decided, why });
  }
  const attempts = await replayAttempts(runtime, record, options);
  const wrong = attempts.find(({ verdict }) => verdict === 'differs');
  if (wrong !== undefined) return end('differs', { attempts, divergence: wrong.divergence });
  if (scene === null) return end('incomplete', { attempts, why: whyIncomplete(record) });
  const { verdict, ...repeated } = await repeat(runtime, record, scene, compareTurns, options);
  return end(verdict, { attempts, ...repeated });
}

function whyIncomplete({ reason }: TurnRecord): string {
  return reason === null ? 'its inputs are not in the record' : `the turn has no execution of its own (${reason})`;
}
