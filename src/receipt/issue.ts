import { type SessionState, splitRecord, type TurnRecord } from '../loop/index.ts';
import { VERSION } from '../runtime/version.ts';
import { STORED_VERSION } from '../wire/forms.ts';
import { checkObject, listOf } from '../wire/options.ts';
import { checkKey, type ReceiptKey, signFor } from './key.ts';
import { digestOf, type Manifest, newPart, type Part, RECEIPT_FORMAT, type Receipt } from './receipt.ts';

/** What a receipt says of a session besides its turns. */
export type ReceiptSession = Pick<SessionState, 'sid' | 'status' | 'reason' | 'userdata' | 'parent'>;

const checkRecords = listOf(checkObject);

/** The names of the two parts of a session as a whole. */
export const SESSION_PARTS = ['session.userdata', 'session.parent'] as const;

/**
 * Makes the receipt of a session: each field of its records, of their inputs and of their attempts, and each call, is a part of its own. `at` is Unix
 * milliseconds. Throws `ReceiptError` for a key without a private half.
 */
export function issueReceipt(session: ReceiptSession, records: readonly TurnRecord[], key: ReceiptKey, at: number): Receipt {
  checkObject('the session', session);
  checkRecords('the records', records);
  checkKey(key);
  const parts: Record<string, Part> = {};
  const add = (name: string, value: unknown): void => {
    const text = JSON.stringify(value);
    if (text !== undefined) parts[name] = newPart(text);
  };
  add('session.userdata', session.userdata);
  add('session.parent', session.parent);
  for (const { seal: _, ...record } of records)
    for (const [name, value] of splitRecord(record)) add(`${record.turn}.${name}`, value);
  const manifest: Manifest = {
    format: RECEIPT_FORMAT,
    version: STORED_VERSION,
    kid: key.kid,
    issuedAt: at,
    engine: VERSION,
    sid: session.sid,
    status: session.status,
    reason: session.reason,
    turns: records.map(({ turn, decision, reason, usage: { fuel } }) => ({ turn, decision, reason, fuel })),
    parts: Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, digestOf(name, part)])),
  };
  return { manifest, signature: signFor('neuroscript-receipt', manifest, key), parts };
}
