import { payRound, TextBuilder, WORK } from '../kit.ts';
import type { Meter } from '../meter.ts';

// UTF-8, base64 and hexadecimal. The isolate has neither Buffer nor TextEncoder.

/** The number of bytes that are converted to text at once. */
const CHUNK = 3072;

/** Encodes a text as UTF-8. */
export function bytesOf(meter: Meter, text: string): Uint8Array {
  meter.pay(WORK.utf8, text.length);
  const bytes = new Uint8Array(3 * text.length);
  let end = 0;
  const put = (byte: number): void => {
    bytes[end++] = byte;
  };
  for (let at = 0, passed = 0; at < text.length; at++) {
    payRound(meter, ++passed);
    const code = text.codePointAt(at) ?? 0;
    if (code < 0x80) put(code);
    else if (code < 0x800) {
      put(0xc0 | (code >> 6));
      put(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
      put(0xe0 | (code >> 12));
      put(0x80 | ((code >> 6) & 0x3f));
      put(0x80 | (code & 0x3f));
    } else {
      at++;
      put(0xf0 | (code >> 18));
      put(0x80 | ((code >> 12) & 0x3f));
      put(0x80 | ((code >> 6) & 0x3f));
      put(0x80 | (code & 0x3f));
    }
  }
  return bytes.subarray(0, end);
}

/** Decodes UTF-8. Fails with code 41 for malformed bytes and never replaces them silently. */
export function textOf(meter: Meter, bytes: Uint8Array): string {
  const text = new TextBuilder(meter, WORK.text, 'text');
  for (let at = 0; at < bytes.length; ) {
    const codes: number[] = [];
    while (at < bytes.length && codes.length < 512) {
      const size = sizeOf(bytes, at);
      if (size === 0) return meter.fail('InvalidValue', `the bytes are not UTF-8 text: byte ${at} is out of place`);
      codes.push(codeAt(bytes, at, size));
      at += size;
    }
    text.add(String.fromCodePoint(...codes));
  }
  return text.finish();
}

/** The size in bytes of the character at an offset; 0 if it is malformed (also overlong forms and surrogates). */
function sizeOf(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return 1;
  const size = first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3 : first >= 0xf0 && first < 0xf5 ? 4 : 0;
  for (let next = 1; next < size; next++) if (((bytes[at + next] ?? 0) & 0xc0) !== 0x80) return 0;
  const second = bytes[at + 1] ?? 0;
  if (first === 0xe0 && second < 0xa0) return 0;
  if (first === 0xed && second > 0x9f) return 0;
  if (first === 0xf0 && second < 0x90) return 0;
  return first === 0xf4 && second > 0x8f ? 0 : size;
}

function codeAt(bytes: Uint8Array, at: number, size: number): number {
  const first = bytes[at] ?? 0;
  if (size === 1) return first;
  let code = first & (0xff >> (size + 1));
  for (let next = 1; next < size; next++) code = (code << 6) | ((bytes[at + next] ?? 0) & 0x3f);
  return code;
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

const PADDING = 0x3d;

/** Encodes bytes as standard base64 with padding. */
export function toBase64(meter: Meter, bytes: Uint8Array): string {
  const text = new TextBuilder(meter, WORK.text, 'text');
  for (let start = 0; start < bytes.length; start += CHUNK) {
    const end = Math.min(bytes.length, start + CHUNK);
    const codes: number[] = [];
    for (let at = start; at < end; at += 3) {
      const bits = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
      const letter = (shift: number): number => ALPHABET.charCodeAt((bits >> shift) & 0x3f);
      codes.push(letter(18), letter(12), at + 1 < end ? letter(6) : PADDING, at + 2 < end ? letter(0) : PADDING);
    }
    // V8 would keep single letters as a tree that is many times larger than one text.
    text.add(String.fromCharCode(...codes));
  }
  return text.finish();
}

/** The value of each base64 letter by its code; −1 for other characters. */
const VALUES = Int8Array.from({ length: 128 }, (_, code) => ALPHABET.indexOf(String.fromCharCode(code)));

/** Decodes standard base64 with padding and skips line breaks. Fails with code 41 for any other text. */
export function fromBase64(meter: Meter, text: string): Uint8Array {
  meter.pay(WORK.fromBase64, text.length);
  const bytes = new Uint8Array(text.length);
  let end = 0;
  let bits = 0;
  let letters = 0;
  let padding = 0;
  for (let at = 0; at < text.length; at++) {
    payRound(meter, at);
    const code = text.charCodeAt(at);
    if (code === 0x0a || code === 0x0d) continue;
    const value = code < 128 ? (VALUES[code] ?? -1) : -1;
    if (code === 0x3d && letters % 4 >= 2 && (letters % 4) + padding < 4) padding++;
    else if (value < 0 || padding > 0)
      return meter.fail('InvalidValue', `the text is not base64: character ${at} is out of place`);
    else {
      bits = (bits << 6) | value;
      letters++;
      if (letters % 4 === 0) {
        bytes[end++] = (bits >> 16) & 0xff;
        bytes[end++] = (bits >> 8) & 0xff;
        bytes[end++] = bits & 0xff;
        bits = 0;
      }
    }
  }
  const rest = letters % 4;
  if (rest + padding !== 4 && rest + padding !== 0)
    return meter.fail(
      'InvalidValue',
      'the text is not base64: it ends too early',
      "base64 comes in groups of four, filled up with '='",
    );
  if (rest >= 2) bytes[end++] = (bits >> (rest === 2 ? 4 : 10)) & 0xff;
  if (rest === 3) bytes[end++] = (bits >> 2) & 0xff;
  return bytes.subarray(0, end);
}

const HEX = '0123456789abcdef';

/** Encodes bytes as hexadecimal, with two lower-case digits per byte. */
export function toHex(meter: Meter, bytes: Uint8Array): string {
  const text = new TextBuilder(meter, WORK.text, 'text');
  for (let start = 0; start < bytes.length; start += CHUNK) {
    const codes: number[] = [];
    for (const byte of bytes.subarray(start, start + CHUNK)) codes.push(HEX.charCodeAt(byte >> 4), HEX.charCodeAt(byte & 0xf));
    text.add(String.fromCharCode(...codes));
  }
  return text.finish();
}

/** Decodes hexadecimal digits of either case. Fails with code 41 for any other text. */
export function fromHex(meter: Meter, text: string): Uint8Array {
  meter.pay(WORK.text, text.length);
  if (text.length % 2 !== 0) return meter.fail('InvalidValue', 'the text is not hexadecimal: it has an odd number of digits');
  meter.allocate(text.length / 2);
  const bytes = new Uint8Array(text.length / 2);
  for (let at = 0; at < text.length; at += 2) {
    payRound(meter, at);
    const value = digit(text.charCodeAt(at)) * 16 + digit(text.charCodeAt(at + 1));
    if (Number.isNaN(value))
      return meter.fail('InvalidValue', `the text is not hexadecimal: character ${at} or the next is not a digit`);
    bytes[at / 2] = value;
  }
  return bytes;
}

function digit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : Number.NaN;
}
