import { WireError } from './errors.ts';

/** A frame with more bytes is read and written in pieces of about so many UTF-16 units. */
export const PIECE_UNITS = 64 * 1024;

let decoder: TextDecoder | undefined;

/** The text of a host's frame. A worker does without `TextDecoder`, which takes 3 ms to load. */
export function trustedText({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString('utf8');
}

/** The text of a worker's frame. Throws {@link WireError} for bytes that are not UTF-8. */
export function strictText(bytes: Uint8Array): string {
  decoder ??= new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    throw new WireError('a frame is not UTF-8', { cause });
  }
}

export function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const [first] = chunks;
  if (first !== undefined && chunks.length === 1) return first;
  return Buffer.concat(chunks);
}

/** The text of a frame. Throws {@link WireError} for bytes that are not UTF-8. */
export function textOf(chunks: readonly Uint8Array[]): string {
  return strictText(joined(chunks));
}

/**
 * The same in pieces of about {@link PIECE_UNITS}, none of which ends within a character: the memory and the time for a whole text of
 * megabytes are more than one piece of an event loop's work.
 */
export function* textsOf(chunks: readonly Uint8Array[]): Generator<string, void> {
  let held: Uint8Array[] = [];
  let bytes = 0;
  for (const chunk of chunks)
    for (let from = 0; from < chunk.length; from += PIECE_UNITS) {
      const part = chunk.subarray(from, from + PIECE_UNITS);
      held.push(part);
      bytes += part.length;
      if (bytes < PIECE_UNITS) continue;
      const piece = joined(held);
      const end = endOfCharacters(piece);
      yield strictText(piece.subarray(0, end));
      held = end < piece.length ? [piece.subarray(end)] : [];
      bytes = piece.length - end;
    }
  if (bytes > 0) yield textOf(held);
}

/** Where a character begins that the bytes do not hold to its end; else their length. */
function endOfCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= 3; back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    const units = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    if (byte >= 0xc0) return units > back ? bytes.length - back : bytes.length;
    if (byte < 0x80) break;
  }
  return bytes.length;
}
