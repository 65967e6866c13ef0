import { readOwnedBytes } from '../../aeiou/index.ts';
import { isReceiptKey } from '../../receipt/index.ts';
import { printable } from '../../report/index.ts';
import { UsageError } from '../terminal/failure.ts';

/** The keys of control tokens that `load` reads. Throws {@link UsageError} for a key file of the other kind. */
export function ofTokens<Keys>(file: string, load: (file: string) => Keys): Keys {
  try {
    return load(file);
  } catch (error) {
    if (!isReceiptKey(new TextDecoder().decode(readOwnedBytes(file)))) throw error;
    const message = `${file} has a key for receipts and checkpoints, which neither signs nor verifies control tokens`;
    throw new UsageError(printable(message), { cause: error });
  }
}
