/**
 * What the gate has to answer, computed from the texts of the queue's files alone: seed 003 in a page, written without the code of
 * the gate. A file that does not exist is undefined.
 */

export interface Files {
  readonly approved: string | undefined;
  readonly executed: string | undefined;
  readonly attempts: string | undefined;
  readonly executedLock: string | undefined;
  readonly approvedLock: string | undefined;
}

export interface Intent {
  readonly intentId: string;
  readonly hash: string;
}

interface Line {
  readonly id: string;
  readonly timestamp: string;
  readonly hash: string;
  readonly state?: string;
}

/** The records of a file, or the number of its first line that is none. */
export function linesOf(text = ''): readonly Line[] | number {
  const lines: Line[] = [];
  for (const line of text.split('\n').slice(0, text.endsWith('\n') || text === '' ? -1 : undefined))
    try {
      lines.push(JSON.parse(line));
    } catch {
      return lines.length + 1;
    }
  return lines;
}

const same = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** Section 6: approved with exactly this hash. */
export function isApproved({ approved }: Files, { intentId, hash }: Intent): boolean {
  const lines = linesOf(approved);
  if (typeof lines === 'number') return false;
  const own = lines.filter(({ id }) => same(id, intentId));
  return own.length > 0 && own.every((line) => line.hash === hash);
}

/** Section 4: the gate's line. */
export function gateLine(files: Files, intent: Intent): string {
  if (!isApproved(files, intent)) return '[ERROR] Approval verification failed';
  const lines = linesOf(files.executed);
  if (typeof lines === 'number') return `[ERROR] Malformed entry in executed queue (line ${lines})`;
  const record = lines.find(({ id }) => same(id, intent.intentId));
  if (record !== undefined) return `[ERROR] Intent already executed at ${record.timestamp}`;
  return '[OK] Intent eligible for execution';
}

/** Section 4, step 3: the line for a verifier that neither approves nor refuses. */
export const VERIFIER_LINES = {
  'exits with 2': '[ERROR] Verification tool error',
  'is killed': '[ERROR] Verification tool error',
  'never ends': '[ERROR] Verification tool error',
  'cannot start': '[ERROR] Cannot invoke execution verifier',
  'is missing': '[ERROR] Execution verification tool not found',
} as const;

/** Whether an executor begins the work, or the code of its refusal. */
export function beginning(files: Files, intent: Intent): string {
  if (files.executedLock !== undefined) return 'ERR_GATE_LOCKED';
  const attempts = linesOf(files.attempts);
  if (typeof attempts === 'number') return 'ERR_GATE_ATTEMPT';
  if (attempts.findLast(({ id }) => same(id, intent.intentId))?.state === 'started') return 'ERR_GATE_ATTEMPT';
  const line = gateLine(files, intent);
  if (line.startsWith('[OK]')) return complete(files.attempts) ? 'runs' : 'ERR_GATE_RECORD';
  if (line.includes('executed at')) return 'ERR_GATE_EXECUTED';
  return line.includes('Malformed') ? 'ERR_GATE_HISTORY' : 'ERR_GATE_NOT_APPROVED';
}

/** The end of the work: `executed` or `failed`, or the code of the error when the end cannot be recorded. */
export function ending(files: Files, intent: Intent, ok: boolean, holdsLock: boolean): string {
  const record = 'ERR_GATE_RECORD';
  if (ok && (!holdsLock || !takes(files.executed, intent))) return record;
  return complete(files.attempts) ? (ok ? 'executed' : 'failed') : record;
}

/** What `approve` answers. */
export function approving(files: Files, intent: Intent): string {
  if (files.approvedLock !== undefined) return 'ERR_GATE_LOCKED';
  return takes(files.approved, intent) ? 'approved' : 'ERR_GATE_RECORD';
}

/** Whether a file ends with a whole record, so that a writer may append to it. */
function complete(text = ''): boolean {
  return typeof linesOf(text) !== 'number' && (text === '' || text.endsWith('\n'));
}

/** Whether a file takes the record of an intent, of which it must have none. */
function takes(text: string | undefined, { intentId }: Intent): boolean {
  const lines = linesOf(text);
  return complete(text) && typeof lines !== 'number' && !lines.some(({ id }) => same(id, intentId));
}

export function recordOf({ intentId, hash }: Intent, time: number, state?: string): string {
  return `${JSON.stringify({ id: intentId, timestamp: new Date(time).toISOString(), hash, state })}\n`;
}
