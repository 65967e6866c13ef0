/** String literals: where they end, what they contain, which escapes are valid. */
import { BACKSLASH, LF } from './codeunits.ts';
import { problemAt, type SyntaxProblem } from './problem.ts';

/** A quoted literal that was read. */
export interface Quoted {
  /** The offset after the literal; the end of the line when it is never closed. */
  readonly end: number;
  readonly value: string;
  readonly problems: readonly SyntaxProblem[];
  /** Whether the text ends after a backslash in an unclosed string, which may then continue on a further line. */
  readonly cut: boolean;
}

const noProblems: readonly SyntaxProblem[] = [];

const APOSTROPHE = 0x27;

/** Reads the `'…'` or `"…"` literal at `start`. Reads no further than `limit` or the end of the line. */
export function readQuoted(text: string, start: number, limit: number): Quoted {
  const quote = text.charCodeAt(start);
  const end = quotedEnd(text, start, limit);
  if (end.close < 0) {
    const mark = text.charAt(start);
    const hint =
      end.stop - 1 > start && text.charCodeAt(end.stop - 1) === quote
        ? `\\${mark} is an escaped quote: double the backslash to end the string`
        : quote === APOSTROPHE && /[A-Za-z]/.test(text.charAt(start - 1))
          ? "write an apostrophe within '…' as \\', or write the text in \"…\""
          : `close it with ${mark}, or write text of several lines as '''…''' or \`\`\`…\`\`\``;
    return {
      end: end.stop,
      value: '',
      cut: end.cut,
      problems: [problemAt(start, end.stop, 'this string is never closed on its line', hint)],
    };
  }
  const body = text.slice(start + 1, end.close);
  if (!end.escaped) return { end: end.close + 1, value: body, cut: false, problems: noProblems };
  const problems: SyntaxProblem[] = [];
  const value = quote === 0x22 ? unescaped(body, start + 1, problems) : verbatim(body, start + 1, problems);
  return { end: end.close + 1, value, cut: false, problems };
}

interface QuotedEnd {
  /** Offset of the closing quote, or −1. */
  readonly close: number;
  /** Where the search stopped: at the quote, the line end or the limit. */
  readonly stop: number;
  readonly escaped: boolean;
  /** Whether the text ended after a backslash. */
  readonly cut: boolean;
}

function quotedEnd(text: string, start: number, limit: number): QuotedEnd {
  const quote = text.charCodeAt(start);
  let escaped = false;
  let i = start + 1;
  for (; i < limit; i++) {
    const unit = text.charCodeAt(i);
    if (unit === quote) return { close: i, stop: i, escaped, cut: false };
    if (unit === LF) break;
    if (unit === BACKSLASH) {
      escaped = true;
      i++;
    }
  }
  return { close: -1, stop: Math.min(i, limit), escaped, cut: i > limit };
}

const simple: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["'", "'"],
  ['\\', '\\'],
  ['`', '`'],
  ['~', '~'],
  ['b', '\b'],
  ['t', '\t'],
  ['n', '\n'],
  ['f', '\f'],
  ['r', '\r'],
  ['v', '\v'],
  ['\n', ''],
]);
const numeric = /\\(?:u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|([0-3][0-7]{2}|[0-7]{2}))/y;

/** Length and value of the escape at `i`; undefined when it is not valid. */
export function escapeAt(body: string, i: number): { readonly length: number; readonly value: string } | undefined {
  const value = simple.get(body.charAt(i + 1));
  if (value !== undefined) return { length: 2, value };
  numeric.lastIndex = i;
  const match = numeric.exec(body);
  if (match === null) return undefined;
  const [all, unicode, hex, octal = ''] = match;
  const code = unicode ?? hex;
  return {
    length: all.length,
    value: String.fromCharCode(code === undefined ? Number.parseInt(octal, 8) : Number.parseInt(code, 16)),
  };
}

/** The value of a double-quoted body. */
function unescaped(body: string, offset: number, problems: SyntaxProblem[]): string {
  const out: string[] = [];
  let from = 0;
  for (let i = body.indexOf('\\'); i >= 0; i = body.indexOf('\\', from)) {
    out.push(body.slice(from, i));
    const found = escapeAt(body, i);
    from = i + (found?.length ?? 2);
    if (found === undefined) {
      problems.push(badEscape(body, i, offset, "write \\\\ for a backslash, or '''…''', which has no escapes"));
    } else if (isHigh(found.value) && found.length === 6) {
      const low = body.charAt(from) === '\\' ? escapeAt(body, from) : undefined;
      if (low !== undefined && low.length === 6 && isLow(low.value)) {
        out.push(found.value, low.value);
        from += low.length;
      } else {
        problems.push(loneSurrogate(body, i, offset));
      }
    } else if (isLow(found.value)) {
      problems.push(loneSurrogate(body, i, offset));
    } else {
      out.push(found.value);
    }
  }
  out.push(body.slice(from));
  return out.join('');
}

/** The value of a single-quoted body. Only `\'` is replaced, but every backslash must begin a valid escape. */
function verbatim(body: string, offset: number, problems: SyntaxProblem[]): string {
  const out: string[] = [];
  let from = 0;
  for (let i = body.indexOf('\\'); i >= 0; ) {
    const found = escapeAt(body, i);
    if (found === undefined) {
      problems.push(badEscape(body, i, offset, "use \"…\" with \\\\ for each backslash, or '''…''', which has no escapes"));
    } else if (body.charAt(i + 1) === "'") {
      out.push(body.slice(from, i), "'");
      from = i + 2;
    }
    i = body.indexOf('\\', i + (found?.length ?? 2));
  }
  out.push(body.slice(from));
  return out.join('');
}

function badEscape(body: string, i: number, offset: number, hint: string): SyntaxProblem {
  const character = String.fromCodePoint(body.codePointAt(i + 1) ?? 0x20);
  return problemAt(offset + i, offset + i + 1 + character.length, `\\${character} is not an escape`, hint);
}

function loneSurrogate(body: string, i: number, offset: number): SyntaxProblem {
  return problemAt(
    offset + i,
    offset + i + 6,
    `${body.slice(i, i + 6)} is one half of a surrogate pair`,
    'write both halves, as in "\\ud83d\\ude00", or the character itself',
  );
}

function isHigh(value: string): boolean {
  return value >= '\ud800' && value <= '\udbff';
}

function isLow(value: string): boolean {
  return value >= '\udc00' && value <= '\udfff';
}

/** The text that `{{@name}}` stands for. */
export const symbols: ReadonlyMap<string, string> = new Map([
  ['nl', '\n'],
  ['cr', '\r'],
  ['tab', '\t'],
  ['bt', '`'],
  ['tbt', '```'],
  ['sq', "'"],
  ['dq', '"'],
  ['tsq', "'''"],
  ['tdq', '"""'],
]);

/** Finds the ends of the parts of one template body. */
export class PartFinder {
  /** See `Token.living`. */
  static readonly living = new PartFinder('');

  readonly #body: string;
  // A quote that is not closed on its line begins no literal. These fields remember up to where each kind of quote is not
  // closed, so that no text is searched twice.
  #deadSingle = 0;
  #deadDouble = 0;
  readonly #deadTriples = new Set<string>();

  constructor(body: string) {
    this.#body = body;
  }

  /** Offset of the first `}}` at or after `from` outside a string literal; −1 when there is none. */
  end(from: number): number {
    for (let i = from; i < this.#body.length; i++) {
      const unit = this.#body.charCodeAt(i);
      if (unit === 0x7d && this.#body.charCodeAt(i + 1) === 0x7d) return i;
      if (unit === 0x22 || unit === 0x27 || unit === 0x60) i = this.#literalEnd(i);
    }
    return -1;
  }

  /** Offset of the last character of the literal at `i`; `i` itself when there is none. */
  #literalEnd(i: number): number {
    const triple = this.#body.slice(i, i + 3);
    if ((triple === "'''" || triple === '```') && !this.#deadTriples.has(triple)) {
      const close = this.#body.indexOf(triple, i + 3);
      if (close >= 0) return close + 2;
      this.#deadTriples.add(triple);
    }
    if (triple.startsWith('`')) return i;
    const single = this.#body.charAt(i) === "'";
    if (i < (single ? this.#deadSingle : this.#deadDouble)) return i;
    const end = quotedEnd(this.#body, i, this.#body.length);
    if (end.close >= 0) return end.close;
    if (single) this.#deadSingle = end.stop;
    else this.#deadDouble = end.stop;
    return i;
  }
}
