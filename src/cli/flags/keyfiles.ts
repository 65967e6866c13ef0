import { KeyError, type KeyInit, loadVerifyKeys, parseKeys, readOwnedBytes, readPrivateBytes } from '../../aeiou/index.ts';
import { readOrdinary } from '../../files/ordinary.ts';
import { isReceiptKey, parseReceiptKey, type ReceiptKey } from '../../receipt/index.ts';
import { printable } from '../../report/index.ts';
import { UsageError } from '../terminal/failure.ts';
import { named } from './setup.ts';

export const KEY_FILE_BYTES = 1024 * 1024;

/** A key that signs receipts. Throws {@link UsageError}: the file must be its owner's alone and have a private half. */
export function readReceiptKey(file: string): ReceiptKey {
  const key = named(file, () => readEitherReceiptKey(file));
  if (key.seed === null) throw new UsageError(printable(`${file} has only the public half of a key, which cannot sign`));
  return key;
}

/**
 * A key for receipts with or without its private half; with it, nobody else may read the file. A file that is no such key is reported as
 * such, whatever its permissions: changing them would not help.
 */
export function readEitherReceiptKey(file: string): ReceiptKey {
  try {
    return parsed(readPrivateBytes(file));
  } catch (error) {
    if (!(error instanceof KeyError) || error.detail !== 'mode') throw error;
    if (parsed(readOrdinary(file, KEY_FILE_BYTES)).seed === null) return parsed(readOwnedBytes(file));
    throw error;
  }
}

/** Whether a file has a key for receipts, whatever its permissions. False for one that cannot be read. */
export function hasReceiptKey(file: string): boolean {
  try {
    return isReceiptKey(new TextDecoder().decode(readOrdinary(file, KEY_FILE_BYTES)));
  } catch {
    return false;
  }
}

function parsed(bytes: Uint8Array): ReceiptKey {
  return parseReceiptKey(new TextDecoder().decode(bytes));
}

/** A key that verifies receipts. Throws {@link UsageError}: only the owner of the file may be able to write it. */
export function readPublicReceiptKey(file: string): ReceiptKey {
  return named(file, () => parsed(readOwnedBytes(file)));
}

/**
 * The keys of control tokens in a file. With `loadVerifyKeys`, others may read a file without private halves. Throws {@link UsageError} for
 * a key file of the other kind. A file that is not a key file is reported as such, whatever its permissions: changing them would not help.
 */
export function readTokenKeys(file: string, load = loadVerifyKeys): readonly KeyInit[] {
  try {
    return load(file);
  } catch (error) {
    const exposed = error instanceof KeyError && error.detail === 'mode';
    const bytes = exposed ? readOrdinary(file, KEY_FILE_BYTES) : readOwnedBytes(file);
    if (isReceiptKey(new TextDecoder().decode(bytes))) {
      const message = `${file} has a key for receipts and checkpoints, which neither signs nor verifies control tokens`;
      throw new UsageError(printable(message), { cause: error });
    }
    if (exposed) parseKeys(bytes);
    throw error;
  }
}
