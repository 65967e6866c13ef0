import { resolveLimits } from '../../sandbox/index.ts';
import { LIMITS, type LimitValues } from '../../wire/limits.ts';

/** The limits that every version recorded: the rows of the table up to `eventCount`. Later rows may be absent from old records. */
export const ORIGINAL_LIMITS = LIMITS.slice(0, LIMITS.findIndex(({ key }) => key === 'eventCount') + 1);

/** Recorded limits, with defaults for limits that the recording version did not have. */
export function completeLimits(recorded: Partial<LimitValues>): LimitValues {
  return { ...resolveLimits('turn', {}), ...recorded };
}
