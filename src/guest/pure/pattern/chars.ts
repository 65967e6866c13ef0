/** A set of characters, by code point. */
export interface Chars {
  /** How many Unicode properties a test of a character beyond ASCII asks for, other letter cases included. */
  readonly asked: number;
  has(code: number): boolean;
}

/** The Unicode property of a name such as `L`, `Lu` or `Greek`; undefined if V8 does not know it. */
export function property(name: string, negated: boolean): Chars | undefined {
  if (!/^[A-Za-z_]{1,40}$/.test(name)) return undefined;
  for (const form of [name, `Script=${name}`]) {
    try {
      const pattern = new RegExp(`^\\p{${form}}$`, 'u');
      return { asked: 1, has: (code) => pattern.test(String.fromCodePoint(code)) !== negated };
    } catch (thrown) {
      if (!(thrown instanceof SyntaxError)) throw thrown;
    }
  }
  return undefined;
}

/** Maximum number of properties and negated classes in one class, because each character is tested against all of them. */
const MAX_OTHERS = 16;

export class CharsBuilder {
  readonly #ranges: (readonly [number, number])[] = [];
  readonly #others: Chars[] = [];

  range(low: number, high: number): void {
    this.#ranges.push([low, high]);
  }

  /** Returns false if there are too many. */
  add(chars: Chars): boolean {
    return this.#others.push(chars) <= MAX_OTHERS;
  }

  /** Returns the set. `fold` adds the other case of its letters. */
  finish(negated: boolean, fold: boolean): Chars {
    const ranges = merged(this.#ranges);
    const others = [...this.#others];
    const plain = (code: number): boolean => within(ranges, code) || others.some((chars) => chars.has(code));
    const has = fold ? (code: number): boolean => variants(code).some(plain) : plain;
    const ascii = Uint8Array.from({ length: 128 }, (_, code) => Number(has(code) !== negated));
    const asked = others.reduce((sum, chars) => sum + chars.asked, 0) * (fold ? 3 : 1);
    return { asked, has: (code) => (code < 128 ? ascii[code] === 1 : has(code) !== negated) };
  }
}

/** Sorts ranges and merges those that touch. */
function merged(ranges: readonly (readonly [number, number])[]): readonly (readonly [number, number])[] {
  const kept: [number, number][] = [];
  for (const [low, high] of ranges.toSorted(([a], [b]) => a - b)) {
    const last = kept.at(-1);
    if (last !== undefined && low <= last[1] + 1) last[1] = Math.max(last[1], high);
    else kept.push([low, high]);
  }
  return kept;
}

function within(ranges: readonly (readonly [number, number])[], code: number): boolean {
  let from = 0;
  let to = ranges.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    const [low, high] = ranges[middle] ?? [0, 0];
    if (code < low) to = middle;
    else if (code > high) from = middle + 1;
    else return true;
  }
  return false;
}

/** The set of one character. */
export function only(wanted: number, fold: boolean): Chars {
  if (!fold) return { asked: 0, has: (code) => code === wanted };
  const small = folded(wanted);
  return { asked: 0, has: (code) => code === wanted || folded(code) === small };
}

/** The set of `.`: all characters, or all except the line feed. */
export function any(lineFeeds: boolean): Chars {
  return { asked: 0, has: (code) => lineFeeds || code !== 0x0a };
}

function variants(code: number): readonly number[] {
  return [code, folded(code), capital(code)];
}

/** Folds letter case: letters that differ in case only have the same result. */
function folded(code: number): number {
  if (code < 128) return code >= 0x41 && code <= 0x5a ? code + 32 : code;
  const upper = capital(code);
  return single(String.fromCodePoint(upper).toLowerCase(), upper);
}

function capital(code: number): number {
  if (code < 128) return code >= 0x61 && code <= 0x7a ? code - 32 : code;
  return single(String.fromCodePoint(code).toUpperCase(), code);
}

/** The code point of a text; `otherwise` if it has several. */
function single(text: string, otherwise: number): number {
  const code = text.codePointAt(0) ?? otherwise;
  return text.length === (code > 0xffff ? 2 : 1) ? code : otherwise;
}

const between = (...pairs: readonly string[]): readonly (readonly [number, number])[] =>
  pairs.map((pair) => [pair.charCodeAt(0), pair.charCodeAt(1)]);

/** Classes such as `\d` and `[:alpha:]`, ASCII only. */
export const CLASSES: Readonly<Record<string, readonly (readonly [number, number])[]>> = {
  d: between('09'),
  s: between('\t\n', '\f\r', '  '),
  w: between('09', 'AZ', '__', 'az'),
  alnum: between('09', 'AZ', 'az'),
  alpha: between('AZ', 'az'),
  ascii: between('\0\x7f'),
  blank: between('\t\t', '  '),
  cntrl: between('\0\x1f', '\x7f\x7f'),
  digit: between('09'),
  graph: between('!~'),
  lower: between('az'),
  print: between(' ~'),
  punct: between('!/', ':@', '[`', '{~'),
  space: between('\t\r', '  '),
  upper: between('AZ'),
  word: between('09', 'AZ', '__', 'az'),
  xdigit: between('09', 'AF', 'af'),
};

/** The set of all characters outside the ranges. */
export function outside(ranges: readonly (readonly [number, number])[]): Chars {
  return { asked: 0, has: (code) => !ranges.some(([low, high]) => code >= low && code <= high) };
}

/** Tells whether `\b` counts a character as part of a word: a letter, a digit or `_`, ASCII only. */
export function isWord(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || code === 0x5f || (code >= 0x61 && code <= 0x7a);
}
