import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { printable } from '../../report/index.ts';
import { UsageError } from './failure.ts';
import { fileTrouble } from './input.ts';

/** Writes a file atomically, readable for its owner only. Throws {@link UsageError}; the file is then as it was. */
export async function replaceFile(file: string, content: string | Iterable<string>, deed = 'write'): Promise<void> {
  const beside = `${file}.${randomUUID()}`;
  try {
    await using handle = await open(beside, 'wx', 0o600);
    await handle.writeFile(typeof content === 'string' ? content : inPieces(content));
    await rename(beside, file);
  } catch (error) {
    await rm(beside, { force: true });
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw new UsageError(`cannot ${deed} ${printable(file)}: ${fileTrouble(error, 'make')}`, { cause: error });
  }
}

const PIECE = 64 * 1024;

/** Joins small texts: each piece is a write of its own. */
function* inPieces(texts: Iterable<string>): Generator<string> {
  let piece = '';
  for (const text of texts) {
    piece += text;
    if (piece.length < PIECE) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}
