/** Text that spells a number, by the rules of the profile: those of Go. */

const BLANK =
  /^[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+|[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$/g;
const DECIMAL = /^[+-]?(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?[\d_]+)?$/;
const HEXADECIMAL = /^([+-]?)0[xX]_?([\da-fA-F_]*)\.?([\da-fA-F_]*)[pP]([+-]?[\d_]+)$/;
const INFINITE = /^([+-]?)inf(?:inity)?$/i;

/** The number that a text spells; undefined when it spells none. A number beyond the range of a double is none. */
export function numberIn(text: string): number | undefined {
  const word = text.replace(BLANK, '');
  const infinite = INFINITE.exec(word);
  if (infinite !== null) return infinite[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  if (/^nan$/i.test(word)) return Number.NaN;
  const value = DECIMAL.test(word) ? decimal(word) : hexadecimal(word);
  return value !== undefined && Number.isFinite(value) ? value : undefined;
}

function decimal(word: string): number | undefined {
  return underscoresSeparateDigits(word, /\d/) ? Number(word.replaceAll('_', '')) : undefined;
}

function hexadecimal(word: string): number | undefined {
  const [, sign, whole = '', fraction = '', exponent = ''] = HEXADECIMAL.exec(word) ?? [];
  if (sign === undefined || !underscoresSeparateDigits(word, /[\da-fA-FxX]/)) return undefined;
  const digits = (whole + fraction).replaceAll('_', '');
  if (digits === '' || !/\d/.test(exponent)) return undefined;
  const scale = Number(exponent.replaceAll('_', '')) - 4 * fraction.replaceAll('_', '').length;
  const value = scaled(BigInt(`0x${digits}`), scale);
  return sign === '-' ? -value : value;
}

/** `mantissa` times 2 to the power of `scale`, rounded once. */
function scaled(mantissa: bigint, scale: number): number {
  if (mantissa === 0n || scale < -100_000) return 0;
  if (scale > 100_000) return Number.POSITIVE_INFINITY;
  if (scale >= 0) return Number(mantissa << BigInt(scale));
  const length = mantissa.toString(2).length;
  // A double has 53 bits, fewer below 2 ** -1022.
  const kept = Math.min(53, length + scale + 1074);
  if (kept < 0) return 0;
  const dropped = BigInt(length - kept);
  if (dropped <= 0n) return Number(mantissa) * 2 ** Math.trunc(scale / 2) * 2 ** (scale - Math.trunc(scale / 2));
  const half = 1n << (dropped - 1n);
  let rounded = mantissa >> dropped;
  const rest = mantissa - (rounded << dropped);
  if (rest > half || (rest === half && (rounded & 1n) === 1n)) rounded += 1n;
  const power = scale + Number(dropped);
  return Number(rounded) * 2 ** Math.trunc(power / 2) * 2 ** (power - Math.trunc(power / 2));
}

/** Whether every `_` stands between two digits. */
function underscoresSeparateDigits(word: string, digit: RegExp): boolean {
  for (let at = word.indexOf('_'); at >= 0; at = word.indexOf('_', at + 1))
    if (!digit.test(word[at - 1] ?? '') || !digit.test(word[at + 1] ?? '')) return false;
  return true;
}
