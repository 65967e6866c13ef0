import type { JournalOutcome } from '../../wire/journal.ts';
import { checkObject } from '../../wire/options.ts';
import type { TaggedJson } from '../../wire/protocol.ts';

/** One tool call for the audit trail, made by a script or by another tool. */
export interface AuditRecord {
  /** Canonical name of the tool that was called; the tool may not exist. */
  readonly tool: string;
  /** Id of the session; null outside of one. */
  readonly sessionId: string | null;
  /** Number of the turn, from 1; null outside of a loop. */
  readonly turnIndex: number | null;
  /** Id of the fork whose run made the call. */
  readonly forkId: string;
  /** Id of the actor on whose behalf the program runs; null when it is unknown. */
  readonly actor: string | null;
  /** True when a tool made the call, not a script. */
  readonly nested: boolean;
  /** The arguments, as tagged JSON. They may hold secrets: {@link auditEntry} leaves them out. */
  readonly args: readonly TaggedJson[];
  /** SHA-256 of the JSON of {@link args}, in lower-case hexadecimal: finds a call again without storing its arguments. */
  readonly argsDigest: string;
  /** The answer, or why there is none. */
  readonly outcome: JournalOutcome;
  /** When it ended: Unix milliseconds by the clock of its turn. */
  readonly at: number;
  /** Elapsed milliseconds. */
  readonly ms: number;
}

/** A record that may be stored: plain JSON without texts and values of the program or the tool. */
export interface AuditEntry extends Omit<AuditRecord, 'args' | 'outcome'> {
  /** `ok`, the number of the language's error, or the code of the error that ended the run. */
  readonly outcome: 'ok' | number | string;
}

/** The entry of an audit log for a call. */
export function auditEntry(record: AuditRecord): AuditEntry {
  checkObject('the record', record);
  checkObject('the record: outcome', record.outcome);
  const { args: _, outcome, ...rest } = record;
  const told = outcome.ok ? 'ok' : 'halted' in outcome ? outcome.halted.code : outcome.code;
  return { ...rest, outcome: told };
}
