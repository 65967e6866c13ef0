import { ToolError } from '../../src/tools/index.ts';
import { NS_CODES } from '../../src/wire/codes.ts';
import type { Value } from '../../src/wire/values.ts';

/** The bytes of a string or blob that a script writes. Throws {@link ToolError} 4 for any other value. */
export function contentOf(content: Value): Uint8Array {
  if (typeof content === 'string') return Buffer.from(content);
  if (content instanceof Uint8Array) return content;
  throw new ToolError(NS_CODES.ArgMismatch, 'content must be a text or bytes');
}

/** The text of a file. Throws {@link ToolError} 41 if the bytes are not UTF-8. */
export function textOf(path: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ToolError(NS_CODES.InvalidValue, `${JSON.stringify(path)} is not UTF-8 text`, 'read it with tool.fs.ReadBytes');
  }
}

/** Counts the lines of bytes that come in chunks. A last line without a line feed counts. */
export class LineCount {
  #feeds = 0;
  #last = LINE_FEED;

  add(chunk: Buffer): void {
    for (const byte of chunk) if (byte === LINE_FEED) this.#feeds += 1;
    this.#last = chunk.at(-1) ?? this.#last;
  }

  get lines(): number {
    return this.#last === LINE_FEED ? this.#feeds : this.#feeds + 1;
  }
}

const LINE_FEED = 10;
