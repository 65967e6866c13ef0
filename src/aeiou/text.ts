/**
 * UTF-8 both ways without surprises: invalid bytes are refused, a byte order mark is data. Well-formed strings and valid
 * UTF-8 correspond one to one, so text read by {@link fromUtf8} is byte-preserving (A3-3.4-4).
 */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

/** Null when the bytes are no valid UTF-8 (A3-3.4-1). */
export function fromUtf8(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}

/** The caller has made sure that the text is well-formed; a lone surrogate would become U+FFFD. */
export function toUtf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Bytes of the text as UTF-8, without encoding it. */
export function utf8Length(text: string): number {
  let length = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    if (unit < 0x800) length += 1;
    else if (unit >= 0xd800 && unit < 0xdc00 && i + 1 < text.length) {
      length += 2;
      i += 1;
    } else length += 2;
  }
  return length;
}
