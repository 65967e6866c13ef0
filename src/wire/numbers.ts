import { trimSpace } from './whitespace.ts';

/** Numbers in texts. Operators and arguments of tools share these rules. */

const DECIMAL = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/;
/** An underscore that does not stand between two digits. */
const STRAY = /(?:^|\D)_|_(?:\D|$)/;
const HEXADECIMAL_START = /^[-+]?0[xX]_?/;
const HEXADECIMAL_STRAY = /(?:^|[^0-9a-fA-F])_|_(?:[^0-9a-fA-F]|$)/;
const HEXADECIMAL =
  /^([-+]?)0[xX]_?([0-9a-fA-F]*(?:_[0-9a-fA-F]+)*)(?:\.([0-9a-fA-F]*(?:_[0-9a-fA-F]+)*))?[pP]([-+]?\d+(?:_\d+)*)$/;
/** In a longer text a pattern could meet so many groups of digits that it overflows V8's stack. */
const LONG = 65_536;
/** Units from which underscores are removed at once. */
const CHUNK = 4096;

const INFINITY = /^([-+]?)inf(?:inity)?$/i;
const NOT_A_NUMBER = /^nan$/i;

/**
 * The number in a text, which white space may surround; undefined when there is none or it is out of range. `look` is called
 * for every 4,096 units of white space, and of digits among underscores: the price of `space` is for one of them.
 */
export function parseNumber(text: string, look = (): void => {}): number | undefined {
  return readNumber(trimSpace(text, look), look);
}

/** As {@link parseNumber}, for a text that may have no white space around the number. */
export function readNumber(trimmed: string, look = (): void => {}): number | undefined {
  const underscored = trimmed.includes('_');
  const decimal = underscored && !STRAY.test(trimmed) ? joined(trimmed, look) : trimmed;
  if (DECIMAL.test(decimal)) return finite(Number(decimal));
  const infinity = INFINITY.exec(trimmed);
  if (infinity !== null) return infinity[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  if (NOT_A_NUMBER.test(trimmed)) return Number.NaN;
  const start = HEXADECIMAL_START.exec(trimmed);
  if (start === null) return undefined;
  let plain = trimmed;
  if (underscored && trimmed.length > LONG) {
    const digits = trimmed.slice(start[0].length);
    if (HEXADECIMAL_STRAY.test(digits)) return undefined;
    plain = start[0] + joined(digits, look);
  }
  const hexadecimal = HEXADECIMAL.exec(plain);
  return hexadecimal === null ? undefined : hexadecimalNumber(hexadecimal);
}

/** A text without its underscores. */
function joined(text: string, look: () => void): string {
  const chunks: string[] = [];
  for (let start = 0; start < text.length; start += CHUNK) {
    const chunk = text.slice(start, start + CHUNK);
    if (chunk.length === CHUNK) look();
    chunks.push(chunk.replaceAll('_', ''));
  }
  return chunks.join('');
}

function hexadecimalNumber([, sign = '', whole = '', fraction = '', exponent = '']: RegExpExecArray): number | undefined {
  const digits = (whole + fraction).replaceAll('_', '');
  if (digits === '') return undefined;
  const fractionDigits = fraction.replaceAll('_', '').length;
  const mantissa = digits.replace(/^0+/, '');
  const kept = shortened(mantissa);
  const dropped = mantissa.length - kept.length;
  const power = Number(exponent.replaceAll('_', '')) - 4 * fractionDigits + 4 * dropped;
  const magnitude = scale(BigInt(`0x0${kept}`), power);
  return finite(sign === '-' ? -magnitude : magnitude);
}

/** Hexadecimal digits that decide the value: more than a number has. */
const DIGITS = 32;

/**
 * The first {@link DIGITS} digits and one that says whether the rest is zero. They round to the same number as all digits, which a
 * bigint may have no room for.
 */
function shortened(digits: string): string {
  if (digits.length <= DIGITS) return digits;
  return digits.slice(0, DIGITS) + (/[^0]/.test(digits.slice(DIGITS)) ? '1' : '0');
}

/** `mantissa` × 2^`exponent`. The power is split in two, so that no factor leaves the range of numbers before the product does. */
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
