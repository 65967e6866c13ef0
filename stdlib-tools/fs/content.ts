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

/** The number of lines. A last line without a line feed counts. */
export function lineCount(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) lines += 1;
  return bytes.length > 0 && bytes.at(-1) !== 10 ? lines + 1 : lines;
}
