import { trimSpace } from './space.ts';

// Which text is a number, and which (language.md 4.3): the same for operators and for arguments of tools.

const DECIMAL = /^[-+]?(?:\d+(?:_\d+)*(?:\.(?:\d+(?:_\d+)*)?)?|\.\d+(?:_\d+)*)(?:[eE][-+]?\d+(?:_\d+)*)?$/;
const HEXADECIMAL =
  /^([-+]?)0[xX]_?([0-9a-fA-F]*(?:_[0-9a-fA-F]+)*)(?:\.([0-9a-fA-F]*(?:_[0-9a-fA-F]+)*))?[pP]([-+]?\d+(?:_\d+)*)$/;
const INFINITY = /^([-+]?)inf(?:inity)?$/i;
const NOT_A_NUMBER = /^nan$/i;

/** The number a text spells, white space around it aside; undefined when it spells none, or one out of range. */
export function parseNumber(text: string): number | undefined {
  return readNumber(trimSpace(text));
}

/** As {@link parseNumber}, for a text that may have no white space around the number. */
export function readNumber(trimmed: string): number | undefined {
  if (DECIMAL.test(trimmed)) return finite(Number(trimmed.replaceAll('_', '')));
  const infinity = INFINITY.exec(trimmed);
  if (infinity !== null) return infinity[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  if (NOT_A_NUMBER.test(trimmed)) return Number.NaN;
  const hexadecimal = HEXADECIMAL.exec(trimmed);
  return hexadecimal === null ? undefined : hexadecimalNumber(hexadecimal);
}

function hexadecimalNumber([, sign = '', whole = '', fraction = '', exponent = '']: RegExpExecArray): number | undefined {
  const digits = (whole + fraction).replaceAll('_', '');
  if (digits === '') return undefined;
  const fractionDigits = fraction.replaceAll('_', '').length;
  const magnitude = scale(BigInt(`0x${digits}`), Number(exponent.replaceAll('_', '')) - 4 * fractionDigits);
  return finite(sign === '-' ? -magnitude : magnitude);
}

/** `mantissa` × 2^`exponent`; in two steps, so that neither factor leaves the range before the product does. */
function scale(mantissa: bigint, exponent: number): number {
  if (mantissa === 0n) return 0;
  const spare = Math.max(0, mantissa.toString(16).length * 4 - 64);
  const sticky = spare > 0 && BigInt.asUintN(spare, mantissa) !== 0n ? 1n : 0n;
  const number = Number((mantissa >> BigInt(spare)) | sticky);
  const half = Math.trunc((exponent + spare) / 2);
  return number * 2 ** half * 2 ** (exponent + spare - half);
}

function finite(number: number): number | undefined {
  return Number.isFinite(number) ? number : undefined;
}
