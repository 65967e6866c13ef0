import { z } from 'zod';
import { canonicalize } from '../aeiou/index.ts';
import { decodeBase64Url, defaultCrypto, ED25519_KEY_BYTES, encodeBase64Url, publicKeyFault } from '../crypto/index.ts';
import { FIRST_ISSUE } from '../files/check.ts';
import { parsedJson } from '../files/json.ts';
import { otherVersion, STORED_VERSION } from '../wire/forms.ts';
import { checkObject } from '../wire/options.ts';
import { ReceiptError, versionProblem } from './error.ts';

/**
 * A key that signs receipts and checkpoints. It never signs control tokens: its holder states what happened, and decides nothing.
 */
export interface ReceiptKey {
  /** Name of the key, 1 to 128 visible ASCII characters. */
  readonly kid: string;
  /** The 32 bytes of the public half. */
  readonly publicKey: Uint8Array;
  /** The 32 bytes of the private half; null for a key that only verifies. */
  readonly seed: Uint8Array | null;
}

/** What a signature is for. It is part of the signed bytes, so that a signature of one kind never passes for another. */
type Purpose = 'neuroscript-receipt' | 'neuroscript-checkpoint';

const FORMAT = 'neuroscript-receipt-key';
const KID = /^[\x21-\x7e]{1,128}$/;
const FILE = z.strictObject({
  format: z.literal(FORMAT),
  version: z.literal(STORED_VERSION, { error: ({ input }) => otherVersion('the key file', input) }),
  kid: z.string().regex(KID),
  public: z.string(),
  seed: z.string().optional(),
});

/** A new key. Throws {@link ReceiptError} for an impossible name. */
export function generateReceiptKey(kid: string): ReceiptKey {
  if (!KID.test(kid)) throw new ReceiptError('the name of a key has 1 to 128 visible ASCII characters and no blanks');
  const seed = crypto.getRandomValues(new Uint8Array(ED25519_KEY_BYTES));
  return { kid, publicKey: defaultCrypto.ed25519PublicKey(seed), seed };
}

/** The key without its private half. */
export function publicReceiptKey(key: ReceiptKey): ReceiptKey {
  checkKey(key);
  const { kid, publicKey } = key;
  return { kid, publicKey, seed: null };
}

/** The text of a key file. */
export function formatReceiptKey(key: ReceiptKey): string {
  checkKey(key);
  const { kid, publicKey, seed } = key;
  const secret = seed === null ? {} : { seed: encodeBase64Url(seed) };
  return `${JSON.stringify({ format: FORMAT, version: STORED_VERSION, kid, public: encodeBase64Url(publicKey), ...secret }, null, 2)}\n`;
}

/** Whether a text claims to be a file of {@link formatReceiptKey}. */
export function isReceiptKey(text: string): boolean {
  return typeof text === 'string' && text.includes(`"${FORMAT}"`);
}

/** Reads the text of a key file. Throws {@link ReceiptError}; its message never shows key material. */
export function parseReceiptKey(text: string): ReceiptKey {
  const json = parsedJson(text);
  if (json === undefined) throw new ReceiptError('the key file is not JSON');
  const { success, data, error } = FILE.safeParse(json, FIRST_ISSUE);
  if (!success)
    throw new ReceiptError(
      versionProblem(error) ??
        'it is not a key for receipts: make one by "neuroscript keys generate --receipts"; keys of control tokens do not sign them',
    );
  const publicKey = bytesOf(data.public, 'public');
  if (publicKeyFault(publicKey) !== null) throw new ReceiptError("'public' of the key file is an unsafe key");
  if (data.seed === undefined) return { kid: data.kid, publicKey, seed: null };
  const seed = bytesOf(data.seed, 'seed');
  if (!defaultCrypto.equal(defaultCrypto.ed25519PublicKey(seed), publicKey))
    throw new ReceiptError("'seed' and 'public' of the key file are of different keys");
  return { kid: data.kid, publicKey, seed };
}

/** Refuses anything but a key, which plain JavaScript may pass. */
export function checkKey(key: ReceiptKey): void {
  checkObject('the key', key);
  if (!(key.publicKey instanceof Uint8Array) || !(key.seed === null || key.seed instanceof Uint8Array))
    throw new ReceiptError('it is not a key for receipts: publicKey must be a Uint8Array, and seed one or null');
}

/** Signs `content` for a purpose. Throws {@link ReceiptError} for a key without a private half. */
export function signFor(purpose: Purpose, content: unknown, { seed, kid }: ReceiptKey): string {
  if (seed === null) throw new ReceiptError(`key ${kid} has no private half, so it cannot sign`);
  return encodeBase64Url(defaultCrypto.ed25519Signer(seed)(signed(purpose, content)));
}

/** Whether `signature` is that of `key` over `content` for this purpose. */
export function isSignedFor(purpose: Purpose, content: unknown, signature: string, { publicKey }: ReceiptKey): boolean {
  const tag = decodeBase64Url(signature);
  return tag !== null && defaultCrypto.ed25519Verifier(publicKey)(signed(purpose, content), tag);
}

function signed(purpose: Purpose, content: unknown): Uint8Array {
  return new TextEncoder().encode(`${purpose}/1\n${canonicalize(content, 'doubles')}`);
}

function bytesOf(text: string, field: string): Uint8Array {
  const bytes = decodeBase64Url(text);
  if (bytes?.length === ED25519_KEY_BYTES) return bytes;
  throw new ReceiptError(`'${field}' of the key file is not ${ED25519_KEY_BYTES} bytes in base64url`);
}
