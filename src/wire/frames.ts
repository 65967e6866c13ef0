import { WireError } from './errors.ts';
import { joined, PIECE_UNITS, strictText, trustedText } from './frametext.ts';
import type { LimitValues } from './limits.ts';

/**
 * Frames on a pipe: a length of four bytes, big-endian, then UTF-8 JSON of that length. Several small frames of a worker may come as
 * one JSON list with one length: reading each by itself takes the host twice as long. A length of 0, a length above the reader's
 * cap, bytes that are not UTF-8, and a pipe that ends within a frame are violations (`ERR_WIRE`). The side that detects a violation
 * closes the connection.
 */

const MB = 1024 * 1024;
const HEADER_BYTES = 4;
/** Stands for a header until the length is known. */
const NO_LENGTH = '\0'.repeat(HEADER_BYTES);
const READ_BYTES = 64 * 1024;
/** Most UTF-16 units of held frames; more are written at once, because no limit counts their memory. */
const MAX_HELD = 64 * 1024;

/** Most bytes of any frame: the cap for frames of the host, and the ceiling of {@link frameLimit}. */
export const MAX_FRAME_BYTES = 128 * MB;

/** Deepest nesting of brackets in a frame: twice the nesting of a value, because a tagged error adds a level, and the frame itself. */
export const MAX_FRAME_DEPTH = 1024;

/**
 * Most values of a frame from a worker, by {@link shapeOf}, and of an answer to a call: the host takes longer for `[]` than for a text of a kilobyte. For
 * this many it computes up to 17 times as long as for a loop of 20 million additions, instead of 140 times for the bytes alone. It parses
 * long frames in pieces (`jsonpieces.ts`).
 */
export const MAX_FRAME_VALUES = 1_000_000;

/**
 * Most keys of one map in a frame from a worker, and in an answer to a call. What the engine does with the keys of one map cannot be
 * divided: it takes up to four calibration loops for so many whole numbers.
 */
export const MAX_MAP_KEYS = 16_384;

/** Most bytes of a frame that reports about sources. */
export const MAX_REPORT_BYTES = 16 * MB;

/**
 * Most bytes of one frame from a worker in a run with these limits. A frame holds at most 64 KiB of gathered output, then
 * one line or one whisper (as text and as value), or one call's arguments, or one result; three bytes a byte leaves room
 * for escapes. A program that needs more is ended by its worker with `ERR_QUOTA`; a worker that sends more is killed.
 */
export function frameLimit(limits: LimitValues): number {
  const largest = Math.max(limits.lineBytes, limits.scratchBytes, limits.toolBytes);
  return Math.min(MAX_FRAME_BYTES, MB + 3 * largest);
}

/** Bytes of `journalBytes` for each value of a frame. The host holds `{}` in 56 bytes, and for a while in several forms. */
const VALUE_BYTES = 32;
/** Most values of a frame in a run with the smallest journal. */
const FEW_VALUES = 65_536;

/**
 * Most values of one frame from a worker in a run with these limits. A frame is read into objects that take many times its bytes, so a run with
 * a small journal has small frames.
 */
export function frameValues({ journalBytes }: LimitValues): number {
  return Math.min(MAX_FRAME_VALUES, Math.max(FEW_VALUES, Math.floor(journalBytes / VALUE_BYTES)));
}

/** The bytes of one frame. Throws {@link WireError} when the text is empty or has more than `maxBytes` bytes. */
export function encodeFrame(text: string, maxBytes: number): Uint8Array {
  // Refused before it is copied: no character has more than three bytes.
  if (text.length * 3 > maxBytes) checkLength(Buffer.byteLength(text, 'utf8'), maxBytes);
  // One copy into Node's pool: a separate allocation takes six times as long as the rest of a small frame.
  const frame = Buffer.from(NO_LENGTH + text, 'utf8');
  const length = frame.length - HEADER_BYTES;
  checkLength(length, maxBytes);
  frame.writeUInt32BE(length, 0);
  return frame;
}

/** The header of a frame whose bytes are made in parts. Throws {@link WireError} as {@link encodeFrame} does. */
export function frameHeader(parts: readonly Uint8Array[], maxBytes: number): Uint8Array {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  checkLength(length, maxBytes);
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32BE(length, 0);
  return header;
}

/**
 * Separates a stream of bytes into frames, however the stream is cut. Memory grows with the bytes that have arrived, never with the
 * length that a header claims.
 */
export class FrameReader {
  /** Cap for frames that are not complete yet. */
  maxBytes: number;
  readonly #textOf: (bytes: Uint8Array) => string;
  #chunks: Uint8Array[] = [];
  #held = 0;

  /** `textOf` reads UTF-8; by default it throws {@link WireError} for other bytes. */
  constructor(maxBytes: number, textOf = strictText) {
    this.maxBytes = maxBytes;
    this.#textOf = textOf;
  }

  /** Whether a part of a frame is held, so that the pipe must not end now. */
  get partial(): boolean {
    return this.#held > 0;
  }

  /**
   * The text of a chunk that is exactly one short frame, as most chunks with a small frame are. Null for other chunks, and while a part of
   * a frame is held. The chunk is not kept. Throws {@link WireError}.
   */
  whole(chunk: Uint8Array): string | null {
    if (this.#held > 0 || chunk.length < HEADER_BYTES || chunk.length > PIECE_UNITS) return null;
    const length = lengthOf(chunk);
    if (chunk.length !== HEADER_BYTES + length) return null;
    checkLength(length, this.maxBytes);
    return this.#textOf(chunk.subarray(HEADER_BYTES));
  }

  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    this.#chunks.push(chunk);
    this.#held += chunk.length;
  }

  /** The text of the next complete frame, or null when more bytes are needed. Throws {@link WireError}. */
  next(): string | null {
    const chunks = this.take();
    return chunks === null ? null : this.#textOf(joined(chunks));
  }

  /** The bytes of the next complete frame, as they came; null when more are needed. Throws {@link WireError}. */
  take(): readonly Uint8Array[] | null {
    if (this.#held < HEADER_BYTES) return null;
    // Each chunk has at least one byte.
    const length = lengthOf(joined(this.#chunks.slice(0, HEADER_BYTES)));
    checkLength(length, this.maxBytes);
    if (this.#held < HEADER_BYTES + length) return null;
    this.#cut(HEADER_BYTES);
    return this.#cut(length);
  }

  /** Removes the first bytes of what is held. */
  #cut(bytes: number): readonly Uint8Array[] {
    const parts: Uint8Array[] = [];
    let left = bytes;
    for (const chunk of this.#chunks) {
      if (left < chunk.length) break;
      parts.push(chunk);
      left -= chunk.length;
    }
    this.#chunks.splice(0, parts.length);
    const [first] = this.#chunks;
    if (left > 0 && first !== undefined) {
      parts.push(first.subarray(0, left));
      this.#chunks[0] = first.subarray(left);
    }
    this.#held -= bytes;
    return parts;
  }
}

/** A blocking pipe with the meaning of `fs.readSync` and `fs.writeSync`; `read` returns 0 at the end. */
export interface BytePipe {
  read(into: Uint8Array): number;
  write(bytes: Uint8Array): number;
}

/** Frames over a blocking pipe: the worker's side. It waits without a limit; the host kills a worker that must end. */
export class FramePipe {
  readonly #pipe: BytePipe;
  readonly #reader = new FrameReader(MAX_FRAME_BYTES, trustedText);
  /** Shared by all reads: allocating 64 KiB takes as long as the rest of a round trip. */
  readonly #buffer = new Uint8Array(READ_BYTES);
  #held: string[] = [];
  #heldUnits = 0;

  constructor(pipe: BytePipe) {
    this.#pipe = pipe;
  }

  /** The next frame's text; null when the other side closed the pipe between frames. Throws {@link WireError}. */
  read(): string | null {
    this.flush();
    for (;;) {
      const text = this.#reader.next();
      if (text !== null) return text;
      const count = this.#pipe.read(this.#buffer);
      if (count === 0) {
        if (this.#reader.partial) throw new WireError('the pipe ended within a frame');
        return null;
      }
      const chunk = this.#buffer.subarray(0, count);
      const whole = this.#reader.whole(chunk);
      if (whole !== null) return whole;
      this.#reader.push(chunk.slice());
    }
  }

  /** Throws {@link WireError} for a text that no reader would accept. */
  write(text: string): void {
    this.hold(text);
    this.flush();
  }

  /**
   * Holds a frame until the next {@link write}, {@link read} or {@link flush}, or until too many bytes are held. Waking the other
   * side takes a hundred times as long as adding a frame to a write. Throws as {@link write}.
   */
  hold(text: string): void {
    checkLength(text.length, MAX_FRAME_BYTES);
    // A large frame goes alone: together with others it could be more than the host accepts.
    if (this.#heldUnits + text.length > MAX_HELD) this.flush();
    this.#held.push(text);
    this.#heldUnits += text.length;
    if (this.#heldUnits > MAX_HELD) this.flush();
  }

  flush(): void {
    // Called at every clock check; there is nearly always nothing to write.
    if (this.#held.length === 0) return;
    const texts = this.#held;
    this.#held = [];
    this.#heldUnits = 0;
    const [only = '', ...more] = texts;
    const bytes = encodeFrame(more.length === 0 ? only : `[${texts.join(',')}]`, MAX_FRAME_BYTES);
    for (let done = 0; done < bytes.length; ) done += this.#pipe.write(bytes.subarray(done));
  }
}

/** The frames in a text: its own, or those of its list. Throws {@link WireError} as {@link parseFrame}, and for an empty list. */
export function parseFrames(text: string, maxValues = Number.POSITIVE_INFINITY): readonly unknown[] {
  return framesIn(parseFrame(text, maxValues));
}

/** The frames in a parsed text. Throws {@link WireError} for an empty list. */
export function framesIn(parsed: unknown): readonly unknown[] {
  if (!Array.isArray(parsed)) return [parsed];
  if (parsed.length === 0) throw new WireError('a list of frames is empty');
  return parsed;
}

/**
 * Parses the text of a frame. Nesting beyond {@link MAX_FRAME_DEPTH} and too many values are refused before a value is built, so that
 * no later walk over the value can overflow the stack or take long. Throws {@link WireError}.
 */
export function parseFrame(text: string, maxValues = Number.POSITIVE_INFINITY): unknown {
  // Each level takes a bracket, so a short text cannot nest too deep.
  if (text.length > MAX_FRAME_DEPTH) checkShape(text, maxValues);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new WireError(NOT_JSON, { cause });
  }
}

export const NOT_JSON = 'a frame is not JSON';

function lengthOf(header: Uint8Array): number {
  const a = header[0] ?? 0;
  const b = header[1] ?? 0;
  const c = header[2] ?? 0;
  const d = header[3] ?? 0;
  return ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
}

function checkLength(length: number, maxBytes: number): void {
  if (length === 0) throw new WireError('a frame is empty');
  if (length > maxBytes) throw new WireError(`a frame of ${length} bytes is larger than the ${maxBytes} bytes allowed`);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

const COMMA = 0x2c;
const COLON = 0x3a;
const [OPEN_LIST, CLOSE_LIST, OPEN_MAP, CLOSE_MAP] = [0x5b, 0x5d, 0x7b, 0x7d];
/** Values that a key counts: an entry of a map takes the host longer than an item of a list. */
export const KEY_VALUES = 3;

/**
 * The greatest depth of a JSON text, and its values: brackets, commas and keys outside of strings. Counting ends beyond the greatest
 * depth of a frame or `maxValues`. The parser checks whether the text is JSON.
 */
function shapeOf(text: string, maxValues: number): { readonly depth: number; readonly values: number } {
  let depth = 0;
  let values = 0;
  for (let i = 0; i < text.length && depth <= MAX_FRAME_DEPTH && values <= maxValues; i++) {
    const unit = text.charCodeAt(i);
    if (unit === QUOTE) {
      i = endOfString(text, i + 1);
    } else if (unit === OPEN_LIST || unit === OPEN_MAP) {
      depth++;
      values++;
    } else if (unit === CLOSE_LIST || unit === CLOSE_MAP) {
      depth--;
    } else if (unit === COMMA) {
      values++;
    } else if (unit === COLON) {
      values += KEY_VALUES;
    }
  }
  return { depth, values };
}

function checkShape(text: string, maxValues: number): void {
  const { depth, values } = shapeOf(text, maxValues);
  checkCounts(depth, values, maxValues);
}

/** Throws {@link WireError} for nesting that is too deep, and for too many values. */
export function checkCounts(depth: number, values: number, maxValues: number): void {
  if (depth > MAX_FRAME_DEPTH) throw new WireError(`a frame nests deeper than ${MAX_FRAME_DEPTH} levels`);
  if (values > maxValues) throw new WireError(`a frame has more than ${maxValues} values`);
}

/** Throws {@link WireError} for too many keys in one map. */
export function checkKeys(keys: number): void {
  if (keys > MAX_MAP_KEYS) throw new WireError(`a map in a frame has more than ${MAX_MAP_KEYS} keys`);
}

/** Why the host would refuse the text of a frame: the number of its values, or of the keys of one map; null when it would not. */
export function excessOf(text: string, maxValues = MAX_FRAME_VALUES): string | null {
  // The shortest entry of a map has five units and counts four.
  if (text.length > maxValues && shapeOf(text, maxValues).values > maxValues) {
    const why = maxValues === MAX_FRAME_VALUES ? '' : `: each needs ${VALUE_BYTES} bytes of journalBytes`;
    return `${maxValues} values${why}`;
  }
  return text.length > MAX_MAP_KEYS * 5 && hasWideMap(text) ? `${MAX_MAP_KEYS} keys in one map` : null;
}

function hasWideMap(text: string): boolean {
  const keys: number[] = [];
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === QUOTE) i = endOfString(text, i + 1);
    else if (unit === OPEN_LIST || unit === OPEN_MAP) keys.push(0);
    else if (unit === CLOSE_LIST || unit === CLOSE_MAP) keys.pop();
    else if (unit === COLON) {
      const count = (keys.pop() ?? 0) + 1;
      if (count > MAX_MAP_KEYS) return true;
      keys.push(count);
    }
  }
  return false;
}

/** Index of the quote that closes the string whose first character is at `start`; the end of the text if none does. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start);
  while (end > 0) {
    let slashes = 0;
    while (end - 1 - slashes >= start && text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return text.length;
}
