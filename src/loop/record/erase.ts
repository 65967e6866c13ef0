import { encodeUserdata, NO_PROGRESS_YET } from '../../aeiou/index.ts';
import type { SessionState } from '../sessions/store.ts';
import type { TurnRecord } from './record.ts';
import { sealFaults } from './seal.ts';

/** Replaces erased content. */
const ERASED = '[erased]';

/**
 * The record without its content: envelope, program, output, calls and texts of errors. Decision, times, limits, usage, keys and the
 * seal stay, so that the chain of records can still be verified: a seal covers digests of the parts. `erased` names the parts.
 */
export function eraseRecord(record: TurnRecord): TurnRecord {
  if (record.erased !== undefined) return record;
  const { inputs, error, seal } = record;
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
    error: error === null ? null : { ...error, message: ERASED, source: null, line: null, column: null, hint: ERASED, stack: [] },
  };
  const faults = sealFaults(bare, seal.prev);
  return { ...bare, erased: faults.map(({ part }) => part) };
}

/** The state of an ended session without its content. */
export function eraseState(state: SessionState): SessionState {
  const userdata = encodeUserdata({ subject: ERASED, fields: {} });
  return { ...state, userdata, output: null, scratchpad: null, progress: NO_PROGRESS_YET };
}
