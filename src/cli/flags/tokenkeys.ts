import { KeyError, parseKeys, readOwnedBytes } from '../../aeiou/index.ts';
import { readOrdinary } from '../../files/ordinary.ts';
import { isReceiptKey } from '../../receipt/index.ts';
import { printable } from '../../report/index.ts';
import { UsageError } from '../terminal/failure.ts';

/** Maximum bytes of a key file. */
const FILE_BYTES = 1024 * 1024;

/**
 * The keys of control tokens that `load` reads. Throws {@link UsageError} for a key file of the other kind. A file that is no key
 * file is reported as such, whatever its permissions: changing them would not help.
 */
export function ofTokens<Keys>(file: string, load: (file: string) => Keys): Keys {
  try {
    return load(file);
  } catch (error) {
    const exposed = error instanceof KeyError && error.detail === 'mode';
    const bytes = exposed ? readOrdinary(file, FILE_BYTES) : readOwnedBytes(file);
    if (isReceiptKey(new TextDecoder().decode(bytes))) {
      const message = `${file} has a key for receipts and checkpoints, which neither signs nor verifies control tokens`;
      throw new UsageError(printable(message), { cause: error });
    }
    if (exposed) parseKeys(bytes);
    throw error;
  }
}
