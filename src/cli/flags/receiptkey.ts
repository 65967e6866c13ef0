import { readOwnedBytes, readPrivateBytes } from '../../aeiou/index.ts';
import { parseReceiptKey, type ReceiptKey } from '../../receipt/index.ts';
import { UsageError } from '../terminal/failure.ts';
import { named } from './setup.ts';

/** A key that signs receipts. Throws {@link UsageError}: the file must be its owner's alone and have a private half. */
export function readReceiptKey(file: string): ReceiptKey {
  const key = named(file, () => parseReceiptKey(new TextDecoder().decode(readPrivateBytes(file))));
  if (key.seed === null) throw new UsageError(`${file} has only the public half of a key, which cannot sign`);
  return key;
}

/** A key that verifies receipts. Throws {@link UsageError}: nobody but the owner of the file may write it. */
export function readPublicReceiptKey(file: string): ReceiptKey {
  return named(file, () => parseReceiptKey(new TextDecoder().decode(readOwnedBytes(file))));
}

/** For {@link readText}, where standard input is no choice. */
export function noStdin(what: string): () => never {
  return () => {
    throw new UsageError(`${what} cannot be read from standard input; name a file`);
  };
}
