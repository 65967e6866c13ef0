const DECIMAL = /^[+-]?(?:\d+(?:_\d+)*(?:\.(?:\d+(?:_\d+)*)?)?|\.\d+(?:_\d+)*)(?:[eE][+-]?\d+(?:_\d+)*)?$/;
const HEX = /^([+-]?)0[xX]_?([0-9a-fA-F]*(?:_[0-9a-fA-F]+)*)(?:\.([0-9a-fA-F]*))?[pP]([+-]?\d+)$/;
const SPECIAL = /^([+-]?)(inf|infinity|nan)$/i;

/**
 * The number that a whole text stands for in the language's ToNumeric (language.md 4.3), or null. White space is the
 * caller's affair. Text beyond the range of a number is no number.
 */
export function numberFromText(text: string): number | null {
  if (DECIMAL.test(text)) {
    const value = Number(text.replaceAll('_', ''));
    return Number.isFinite(value) ? value : null;
  }
  const special = SPECIAL.exec(text);
  if (special !== null) {
    if (special[2]?.toLowerCase() === 'nan') return special[1] === '' ? Number.NaN : null;
    return special[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  }
  const hex = HEX.exec(text);
  return hex === null ? null : fromHex(hex[1] === '-' ? -1 : 1, hex[2] ?? '', hex[3] ?? '', Number(hex[4]));
}

function fromHex(sign: number, whole: string, fraction: string, exponent: number): number | null {
  const digits = whole.replaceAll('_', '') + fraction;
  if (digits === '') return null;
  let mantissa = 0;
  for (const digit of digits) mantissa = mantissa * 16 + Number.parseInt(digit, 16);
  const value = sign * mantissa * 2 ** (exponent - 4 * fraction.length);
  return Number.isFinite(value) ? value : null;
}
