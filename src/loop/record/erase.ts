import { encodeUserdata, NO_PROGRESS_YET } from '../../aeiou/index.ts';
import { defined } from '../../wire/defined.ts';
import type { ErrorInfo } from '../../wire/errors.ts';
import type { SessionState } from '../sessions/store.ts';
import type { FailedAttempt, TurnRecord } from './record.ts';
import { sealFaults } from './seal.ts';

const ERASED = '[erased]';

/**
 * The record without its content: envelope, program, output, calls and texts of errors. Decision, times, limits, usage, keys and the
 * seal stay, so that the chain of records can still be verified: a seal covers digests of the parts. `erased` names the parts.
 */
export function eraseRecord(record: TurnRecord): TurnRecord {
  if (record.erased !== undefined) return record;
  const { inputs, error, attempts, seal } = record;
  const bare: TurnRecord = {
    ...record,
    inputs: { ...inputs, envelope: ERASED, scene: null },
    candidates: [],
    lints: [],
    output: '',
    scratchpad: '',
    whispers: [],
    digest: null,
    journal: [],
    error: error === null ? null : erasedError(error),
    ...defined({ attempts: attempts?.map(erasedAttempt) }),
  };
  const faults = sealFaults(bare, seal.prev);
  return { ...bare, erased: faults.map(({ part }) => part) };
}

/** An attempt without its content. How it ended, its usage and the ids of its tokens stay. */
function erasedAttempt({ names: _, ...attempt }: FailedAttempt): FailedAttempt {
  return {
    ...attempt,
    reply: ERASED,
    envelope: ERASED,
    problems: [],
    error: erasedError(attempt.error),
    unreadable: null,
    denied: null,
    run: null,
    output: '',
    scratchpad: '',
    whispers: [],
    journal: [],
  };
}

function erasedError(error: ErrorInfo): ErrorInfo {
  return { ...error, message: ERASED, source: null, line: null, column: null, hint: ERASED, stack: [] };
}

/** The state of an ended session without its content. */
export function eraseState(state: SessionState): SessionState {
  const userdata = encodeUserdata({ subject: ERASED, fields: {} });
  return { ...state, userdata, output: null, scratchpad: null, progress: NO_PROGRESS_YET };
}
