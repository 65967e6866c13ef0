import { appendFileSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs';

/**
 * Appends to an ordinary file. When that fails, as on a full disk, the file is as it was, because half a line would spoil it for every reader;
 * what another process has appended meanwhile stays. Throws the error of the file system.
 */
export function appendWhole(
  file: string,
  text: string,
  options: { readonly mode?: number; readonly flush?: boolean } = {},
): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  try {
    appendFileSync(file, text, options);
  } catch (error) {
    if (statSync(file, { throwIfNoEntry: false }) !== undefined) undo(file, size, text);
    throw error;
  }
}

/** Takes away what stands behind the first `size` bytes of a file, if it is no more than the beginning of a text. */
function undo(file: string, size: number, text: string): void {
  const added = readFileSync(file).subarray(size);
  if (!Buffer.from(text).subarray(0, added.length).equals(added)) return;
  if (size === 0) rmSync(file);
  else truncateSync(file, size);
}
