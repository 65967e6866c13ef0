/**
 * UTF-8 both ways. Invalid bytes are refused, and a byte order mark is data. Well-formed strings and valid UTF-8 correspond
 * one to one, so text that {@link fromUtf8} reads is byte-preserving.
 */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

/** Decodes; null when the bytes are not valid UTF-8. */
export function fromUtf8(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}

/** Encodes a well-formed text. The caller refuses lone surrogates first, because they would become U+FFFD. */
export function toUtf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Bytes of the text in UTF-8, counted without encoding it. */
export function utf8Length(text: string): number {
  let length = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    if (unit < 0x800) length += 1;
    else {
      length += 2;
      if (unit >= 0xd800 && unit < 0xdc00 && i + 1 < text.length) i += 1;
    }
  }
  return length;
}
