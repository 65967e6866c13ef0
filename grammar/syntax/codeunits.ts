/** Kinds of UTF-16 code units, and where a comment begins. */

export const LF = 0x0a;
export const BACKSLASH = 0x5c;

export function isBlank(unit: number): boolean {
  return unit === 0x20 || unit === 0x09;
}

export function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

/** An ASCII letter, a digit or an underscore. */
export function isWordUnit(unit: number): boolean {
  return (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x41 && unit <= 0x5a) || unit === 0x5f || isDigit(unit);
}

/** Whether a comment begins at an offset outside of all literals: `#`, `--` or `//`. */
export function startsComment(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit === 0x23 || ((unit === 0x2d || unit === 0x2f) && text.charCodeAt(at + 1) === unit);
}
