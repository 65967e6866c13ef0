import type { AuditRecord } from '../../tools/index.ts';

/** A tool call for the audit trail of a loop (AL1-2.13-1); calls outside of any turn have null ids. */
export interface LoopAuditRecord extends AuditRecord {
  readonly loop_id: string | null;
  /** The turn within the loop, from 1. */
  readonly turn_id: number | null;
}

/**
 * Makes the `audit` option of `createRuntime` from a sink that wants loop and turn on every record. The ids come from the
 * turn context, which no program and no argument can change.
 */
export function loopAudit(sink: (record: LoopAuditRecord) => void): (record: AuditRecord) => void {
  return (record) => sink({ loop_id: record.sessionId, turn_id: record.turnIndex, ...record });
}
