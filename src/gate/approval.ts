import { isHash, isUuid, sameUuid } from './formats.ts';
import { MalformedLine } from './lines.ts';
import { APPROVED, readQueue, reasonOf } from './queue.ts';
import { parseRecord } from './record.ts';

/** The verifier's answer, and the line that it prints. */
export interface ApprovalAnswer {
  /** True when the intent is approved now. */
  readonly approved: boolean;
  /** The line without its line end. */
  readonly line: string;
}

const no = (message: string): ApprovalAnswer => ({ approved: false, line: `[ERROR] ${message}` });

/**
 * Whether `approved.jsonl` of the queue holds this UUID with this hash and with no other hash. One line that is not a complete
 * record makes the whole file invalid. Never throws.
 */
export function verifyApproval(queue: string, intentId: string, hash: string): ApprovalAnswer {
  if (!isUuid(intentId)) return no('Invalid intent ID format');
  if (!isHash(hash)) return no('Invalid hash format');
  try {
    const hashes = new Set<string>();
    const exists = readQueue(queue, APPROVED, parseRecord, (record, line) => {
      if (record.timestamp === null || record.hash === null) throw new MalformedLine(line);
      if (sameUuid(record.id, intentId)) hashes.add(record.hash);
    });
    if (!exists) return no('Approved queue not found');
    if (hashes.size === 0) return no('Intent not approved');
    if (hashes.size > 1) return no('Intent approved with different hashes');
    return hashes.has(hash) ? { approved: true, line: '[OK] Intent approved' } : no('Hash does not match the approved intent');
  } catch (error) {
    if (error instanceof MalformedLine) return no(`Malformed entry in approved queue (line ${error.line})`);
    return no(`Cannot read approved queue (${reasonOf(error)})`);
  }
}
