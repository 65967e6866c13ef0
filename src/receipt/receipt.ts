import { z } from 'zod';
import { canonicalize } from '../aeiou/index.ts';
import { defaultCrypto, encodeBase64Url } from '../crypto/index.ts';
import { FIRST_ISSUE, mapOf } from '../files/check.ts';
import { areMonstrous, isMonstrous } from '../files/json.ts';
import { type Decision, type HaltReason, isHaltReason, type SessionState, splitRecord, type TurnRecord } from '../loop/index.ts';
import { VERSION } from '../runtime/version.ts';
import { otherVersion, STORED_VERSION } from '../wire/forms.ts';
import { checkFunction, checkObject, checkText, listOf } from '../wire/options.ts';
import { LAST_MS } from '../wire/time.ts';
import { isCanonical } from './canonical.ts';
import { ReceiptError } from './error.ts';
import { checkKey, type ReceiptKey, signFor } from './key.ts';

/** The `format` of a receipt. */
export const RECEIPT_FORMAT = 'neuroscript-receipt';

/**
 * What a session did, sealed part by part and signed. Its text is the canonical JSON of this object and a line feed; no other text is a
 * receipt. A third party can check it, and run it, without the stores and tools of whoever issued it.
 */
export interface Receipt {
  /** What is signed: the outcome, and the digests of all parts. */
  readonly manifest: Manifest;
  /** Ed25519 over `neuroscript-receipt/1`, a line feed, and the canonical JSON of the manifest; base64url. */
  readonly signature: string;
  /** By name, those that are not withheld. */
  readonly parts: Readonly<Record<string, Part>>;
}

/** The signed half of a receipt. It names every part, also those that were withheld later. */
export interface Manifest {
  /** Names this format. */
  readonly format: typeof RECEIPT_FORMAT;
  readonly version: 1;
  /** Name of the key that signed. */
  readonly kid: string;
  /** Unix milliseconds. */
  readonly issuedAt: number;
  /** Version of the package that issued the receipt. */
  readonly engine: string;
  /** Id of the session. */
  readonly sid: string;
  /** Whether the session is open, and how it ended otherwise. */
  readonly status: 'open' | 'done' | 'aborted' | 'halted';
  /** Why the session was halted. */
  readonly reason: string | null;
  /** What was decided in each turn, in order. */
  readonly turns: readonly ManifestTurn[];
  /** SHA-256 of every part by its name, over name, salt and JSON ({@link digestOf}); base64url. */
  readonly parts: Readonly<Record<string, string>>;
}

/** The decision of one turn. */
export interface ManifestTurn {
  /** Number of the turn, from 1. */
  readonly turn: number;
  /** What the host decided. */
  readonly decision: Decision;
  /** Set exactly when the decision is HALT. */
  readonly reason: HaltReason | null;
  /** Fuel that the turn's program used. */
  readonly fuel: number;
}

/** A part with the salt that keeps a withheld one from being guessed. */
export interface Part {
  /** 16 random bytes in base64url. */
  readonly salt: string;
  /** JSON as the record has it. It is kept as text, because the order of its keys is that of a program's map. */
  readonly json: string;
}

const SALT_BYTES = 16;
const text = z.string().max(1000);
const RECEIPT = z.strictObject({
  manifest: z.strictObject({
    format: z.literal(RECEIPT_FORMAT),
    version: z.literal(STORED_VERSION, { error: ({ input }) => otherVersion('the receipt', input) }),
    kid: text,
    issuedAt: z.number().min(0).max(LAST_MS),
    engine: text,
    sid: text,
    status: z.enum(['open', 'done', 'aborted', 'halted']),
    reason: text.nullable(),
    turns: z
      .array(
        z.strictObject({
          turn: z.int().min(1),
          decision: z.enum(['CONTINUE', 'DONE', 'ABORT', 'HALT']),
          reason: z.custom<HaltReason>((code) => typeof code === 'string' && isHaltReason(code)).nullable(),
          fuel: z.number(),
        }),
      )
      // A turn named twice would be executed twice.
      .refine(
        (turns) => turns.every(({ turn }, index) => index === 0 || turn > (turns[index - 1]?.turn ?? 0)),
        'its turns do not ascend',
      ),
    parts: mapOf(text),
  }),
  signature: text,
  parts: mapOf(z.strictObject({ salt: text, json: z.string() })),
});

/** Tells a receipt with a fault from JSON that is not a receipt at all. */
const NAMED = z.looseObject({ manifest: z.looseObject({ format: z.literal(RECEIPT_FORMAT) }) });

/** A receipt may hold as many values as a session of the host's own. */
const MOST = { containers: 8_000_000, items: 20_000_000 };

/** A part of this JSON under a new salt. */
export function newPart(json: string): Part {
  return { salt: encodeBase64Url(crypto.getRandomValues(new Uint8Array(SALT_BYTES))), json };
}

/** The digest by which a manifest names a part. */
export function digestOf(name: string, { salt, json }: Part): string {
  return encodeBase64Url(defaultCrypto.sha256(new TextEncoder().encode(`${name}\n${salt}\n${json}`)));
}

/** Refuses anything but a receipt, which plain JavaScript may pass. */
export function checkForm(receipt: Receipt): void {
  checkObject('the receipt', receipt);
  checkObject('the receipt: parts', receipt.parts);
  checkObject('the receipt: manifest', receipt.manifest);
  checkObject('the receipt: manifest.parts', receipt.manifest.parts);
}

/** The text of a receipt. */
export function formatReceipt(receipt: Receipt): string {
  checkForm(receipt);
  const { manifest, signature, parts } = receipt;
  return `${canonicalize({ manifest, signature, parts }, 'doubles')}\n`;
}

/** Reads a receipt. Verifies nothing but its form. Throws {@link ReceiptError} (`ERR_RECEIPT`). */
export function readReceipt(file: string): Receipt {
  checkText('the receipt', file);
  if (isMonstrous(file, MOST)) throw new ReceiptError('it nests too deep, or has too many values');
  let json: unknown;
  try {
    json = JSON.parse(file);
  } catch (cause) {
    throw new ReceiptError('it is not JSON', { cause });
  }
  const { success, data, error } = RECEIPT.safeParse(json, FIRST_ISSUE);
  if (!success) {
    const [issue] = error.issues;
    if (!NAMED.safeParse(json).success)
      throw new ReceiptError(`it is not a receipt: it has no manifest of the format '${RECEIPT_FORMAT}'`);
    throw new ReceiptError(`it is not a receipt: ${issue?.path.join('.') || 'it'}: ${issue?.message ?? 'wrong'}`);
  }
  // In the text of a receipt, the JSON of a part is a string.
  const jsons = Object.values(data.parts).map(({ json }) => json);
  if (areMonstrous(jsons, MOST)) throw new ReceiptError('its parts nest too deep, or have too many values');
  // Every receipt has one text, so that no byte can change unnoticed: no white space, no escape, no second key of the same name.
  if (!isCanonical(file, json)) throw new ReceiptError('it is not written as receipts are: it was changed');
  return data;
}

/** The receipt without the parts whose names `isWithheld` picks. It stays verifiable. */
export function withhold(receipt: Receipt, isWithheld: (name: string) => boolean): Receipt {
  checkForm(receipt);
  checkFunction('isWithheld', isWithheld);
  const { manifest, signature, parts } = receipt;
  return { manifest, signature, parts: Object.fromEntries(Object.entries(parts).filter(([name]) => !isWithheld(name))) };
}

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
