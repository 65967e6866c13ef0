import { KeyError, type KeyInit, loadVerifyKeys, parseKeys, readOwnedBytes } from '../../aeiou/index.ts';
import { readOrdinary } from '../../files/ordinary.ts';
import { isReceiptKey } from '../../receipt/index.ts';
import { printable } from '../../report/index.ts';
import { UsageError } from '../terminal/failure.ts';
import { KEY_FILE_BYTES } from './receiptkey.ts';

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
