import { any, type Chars, CharsBuilder, CLASSES, only, outside, property } from './chars.ts';

/** A zero-width assertion: a condition on a place in the text. */
export type Assertion = 'text start' | 'text end' | 'line start' | 'line end' | 'word boundary' | 'no word boundary';

/** The syntax tree of a pattern. */
export type Node =
  | { readonly k: 'empty' }
  | { readonly k: 'chars'; readonly chars: Chars; readonly literal: string | null }
  | { readonly k: 'assertion'; readonly assertion: Assertion }
  | { readonly k: 'sequence'; readonly parts: readonly Node[] }
  | { readonly k: 'choice'; readonly parts: readonly Node[] }
  | { readonly k: 'repeat'; readonly of: Node; readonly least: number; readonly most: number; readonly lazy: boolean }
  | { readonly k: 'group'; readonly of: Node; readonly index: number };

export interface Pattern {
  readonly root: Node;
  /** Names of the groups, starting with group 1; empty for groups without a name. */
  readonly groups: readonly string[];
}

/** Thrown for an invalid pattern, with the reason. */
export class PatternError {
  readonly problem: string;
  constructor(problem: string) {
    this.problem = problem;
  }
}

/** Maximum count of a repetition, and maximum depth of brackets. */
const MAX_REPEAT = 1000;
const MAX_NESTING = 200;

interface Flags {
  readonly i: boolean;
  readonly m: boolean;
  readonly s: boolean;
  readonly U: boolean;
}

/** Parses RE2 syntax, which has no back references and no lookaround, so that matching takes linear time. Throws {@link PatternError}. */
export function parsePattern(text: string): Pattern {
  return new Parser(text).whole();
}

class Parser {
  readonly #text: string;
  readonly #names: string[] = [];
  #at = 0;
  #depth = 0;
  #flags: Flags = { i: false, m: false, s: false, U: false };

  constructor(text: string) {
    this.#text = text;
  }

  whole(): Pattern {
    const root = this.#choice();
    if (this.#at < this.#text.length) this.#fail("')' without '('");
    return { root, groups: this.#names };
  }

  #choice(): Node {
    const parts = [this.#sequence()];
    while (this.#take('|')) parts.push(this.#sequence());
    return parts.length === 1 ? (parts[0] ?? EMPTY) : { k: 'choice', parts };
  }

  #sequence(): Node {
    const parts: Node[] = [];
    while (this.#at < this.#text.length && !this.#sees('|') && !this.#sees(')')) {
      const atom = this.#atom();
      parts.push(atom === null ? EMPTY : this.#repeated(atom));
    }
    return parts.length === 1 ? (parts[0] ?? EMPTY) : { k: 'sequence', parts };
  }

  #repeated(atom: Node): Node {
    const range = this.#range();
    if (range === null) return atom;
    const lazy = this.#take('?') !== this.#flags.U;
    const start = this.#at;
    if (this.#range() !== null) this.#fail(`'${this.#text.slice(start - 1, this.#at)}' repeats a repetition; put it in brackets`);
    return { k: 'repeat', of: atom, ...range, lazy };
  }

  /** Reads a repetition; null if there is none here. A brace that starts no repetition stands for itself. */
  #range(): { readonly least: number; readonly most: number } | null {
    if (this.#take('*')) return { least: 0, most: Number.POSITIVE_INFINITY };
    if (this.#take('+')) return { least: 1, most: Number.POSITIVE_INFINITY };
    if (this.#take('?')) return { least: 0, most: 1 };
    const [whole, low, comma, high] = this.#match(/\{(\d{1,6})(,?)(\d{0,6})\}/y) ?? [];
    if (whole === undefined || low === undefined || (comma === '' && high !== '')) {
      this.#at -= whole?.length ?? 0;
      return null;
    }
    const least = Number(low);
    const most = comma === '' ? least : high === '' ? Number.POSITIVE_INFINITY : Number(high);
    if (most < least || least > MAX_REPEAT || (most !== Number.POSITIVE_INFINITY && most > MAX_REPEAT))
      this.#fail(`'${whole}' must repeat from less to more, ${MAX_REPEAT} times at most`);
    return { least, most };
  }

  /** Reads one repeatable item; null for flags, which are not repeatable. */
  #atom(): Node | null {
    const { i, m, s } = this.#flags;
    if (this.#sees('(')) return this.#group();
    if (this.#take('[')) return chars(this.#class());
    if (this.#take('.')) return chars(any(s));
    if (this.#take('^')) return assertion(m ? 'line start' : 'text start');
    if (this.#take('$')) return assertion(m ? 'line end' : 'text end');
    if (this.#sees('*') || this.#sees('+') || this.#sees('?'))
      this.#fail(`'${this.#text.charAt(this.#at)}' has nothing to repeat`);
    if (this.#sees('\\')) return this.#escape();
    return literal(this.#character(), i);
  }

  #group(): Node | null {
    const outer = this.#flags;
    if (++this.#depth > MAX_NESTING) this.#fail(`more than ${MAX_NESTING} brackets within each other`);
    this.#at++;
    let index = 0;
    const named = this.#match(/\?P?<([^>]*)>/y);
    if (named !== null && !/^[A-Za-z_]\w*$/.test(named[1] ?? '')) {
      if (/^\?<[=!]/.test(named[0])) this.#lookaround();
      this.#fail(`'${named[1] ?? ''}' is not a group name`);
    }
    if (named === null && this.#take('?')) {
      const [whole, on = '', off = '', end] = this.#match(/([imsU]*)(?:-([imsU]+))?([:)])/y) ?? [];
      if (whole === undefined) this.#lookaround();
      this.#flags = withFlags(withFlags(outer, on, true), off, false);
      if (end === ')') {
        this.#depth--;
        return null;
      }
    } else {
      const name = named?.[1] ?? '';
      if (name !== '' && this.#names.includes(name)) this.#fail(`there are two groups named '${name}'`);
      index = this.#names.push(name);
    }
    const of = this.#choice();
    if (!this.#take(')')) this.#fail("'(' without ')'");
    this.#depth--;
    this.#flags = outer;
    return index === 0 ? of : { k: 'group', of, index };
  }

  #lookaround(): never {
    return this.#fail(
      `'(?${this.#text.slice(this.#at, this.#at + 2)}' is not supported: patterns cannot look around, so that they take linear time`,
    );
  }

  #escape(): Node {
    const { i } = this.#flags;
    this.#at++;
    if (this.#take('A')) return assertion('text start');
    if (this.#take('z')) return assertion('text end');
    if (this.#take('b')) return assertion('word boundary');
    if (this.#take('B')) return assertion('no word boundary');
    if (this.#take('Q')) {
      const end = this.#text.indexOf('\\E', this.#at);
      const quoted = this.#text.slice(this.#at, end < 0 ? undefined : end);
      this.#at = end < 0 ? this.#text.length : end + 2;
      return { k: 'sequence', parts: [...quoted].map((each) => literal(each.codePointAt(0) ?? 0, i)) };
    }
    const known = this.#classEscape();
    if (known !== null) {
      const builder = new CharsBuilder();
      known(builder);
      return chars(builder.finish(false, false));
    }
    return literal(this.#escapedCharacter(), i);
  }

  /** Reads a class after a backslash, such as `d`, `D`, `pL` or `p{Greek}`; null if there is none. */
  #classEscape(): ((builder: CharsBuilder) => void) | null {
    const letter = this.#match(/[dDsSwW]/y)?.[0];
    if (letter !== undefined) {
      const ranges = CLASSES[letter.toLowerCase()] ?? [];
      if (letter !== letter.toLowerCase()) return (builder) => this.#include(builder, outside(ranges));
      return (builder) => addRanges(builder, ranges);
    }
    const [whole, kind, short, not, long] = this.#match(/([pP])(?:([A-Za-z])|\{(\^?)([^}]*)\})/y) ?? [];
    if (whole === undefined) return null;
    const name = short ?? long ?? '';
    const found = property(name, (kind === 'P') !== (not === '^'));
    if (found === undefined) this.#fail(`'\\${whole}' names no Unicode property`);
    return (builder) => this.#include(builder, found);
  }

  #escapedCharacter(): number {
    const [, hex, longHex] = this.#match(/x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]{1,6})\})/y) ?? [];
    const digits = hex ?? longHex;
    if (digits !== undefined) {
      const code = Number.parseInt(digits, 16);
      return code > 0x10ffff ? this.#fail(`'\\x{${digits}}' is not a character`) : code;
    }
    const octal = this.#match(/[1-7][0-7]{1,2}|0[0-7]{0,2}/y)?.[0];
    if (octal !== undefined) return Number.parseInt(octal, 8);
    const next = this.#text.charAt(this.#at);
    if (/[1-9]/.test(next)) this.#fail(`'\\${next}' is not supported: patterns cannot refer back, so that they take linear time`);
    const control = CONTROLS[next];
    if (control !== undefined) {
      this.#at++;
      return control;
    }
    if (next === '' || /[A-Za-z0-9]/.test(next)) this.#fail(next === '' ? "a '\\' at the end" : `'\\${next}' is not an escape`);
    return this.#character();
  }

  /** Reads a class after its opening bracket. */
  #class(): Chars {
    const builder = new CharsBuilder();
    const negated = this.#take('^');
    for (let first = true; first || !this.#sees(']'); first = false) {
      if (this.#at >= this.#text.length) this.#fail("'[' without ']'");
      const posix = this.#match(/\[:(\^?)([a-z]+):\]/y);
      if (posix !== null) {
        const ranges = CLASSES[posix[2] ?? ''];
        if (ranges === undefined || (posix[2] ?? '').length === 1) this.#fail(`'${posix[0]}' is not a class`);
        if (posix[1] === '^') this.#include(builder, outside(ranges));
        else addRanges(builder, ranges);
        continue;
      }
      const known = this.#sees('\\') ? this.#classEscapeAhead() : null;
      if (known !== null) {
        known(builder);
        continue;
      }
      const low = this.#member();
      if (!this.#sees('-') || this.#text.charAt(this.#at + 1) === ']') {
        builder.range(low, low);
        continue;
      }
      this.#at++;
      const high = this.#member();
      if (high < low) this.#fail('a range of characters runs backwards');
      builder.range(low, high);
    }
    this.#at++;
    const { i } = this.#flags;
    // As in RE2, a negated class includes the line feed.
    return builder.finish(negated, i);
  }

  #classEscapeAhead(): ((builder: CharsBuilder) => void) | null {
    this.#at++;
    const known = this.#classEscape();
    if (known === null) this.#at--;
    return known;
  }

  #include(builder: CharsBuilder, chars: Chars): void {
    if (!builder.add(chars)) this.#fail('a class names too many properties');
  }

  /** Reads one character of a class. */
  #member(): number {
    if (this.#at >= this.#text.length) this.#fail("'[' without ']'");
    if (!this.#take('\\')) return this.#character();
    return this.#escapedCharacter();
  }

  #character(): number {
    const code = this.#text.codePointAt(this.#at) ?? 0;
    this.#at += code > 0xffff ? 2 : 1;
    return code;
  }

  #sees(character: string): boolean {
    return this.#text.charAt(this.#at) === character;
  }

  #take(character: string): boolean {
    if (!this.#sees(character)) return false;
    this.#at++;
    return true;
  }

  /** Matches a sticky pattern here and moves past the match. */
  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found !== null) this.#at += found[0].length;
    return found;
  }

  #fail(problem: string): never {
    throw new PatternError(problem);
  }
}

const EMPTY: Node = { k: 'empty' };

const CONTROLS: Readonly<Record<string, number>> = { a: 7, f: 12, n: 10, r: 13, t: 9, v: 11 };

function addRanges(builder: CharsBuilder, ranges: readonly (readonly [number, number])[]): void {
  for (const [low, high] of ranges) builder.range(low, high);
}

function chars(set: Chars): Node {
  return { k: 'chars', chars: set, literal: null };
}

function literal(code: number, fold: boolean): Node {
  return { k: 'chars', chars: only(code, fold), literal: fold ? null : String.fromCodePoint(code) };
}

function assertion(condition: Assertion): Node {
  return { k: 'assertion', assertion: condition };
}

function withFlags(flags: Flags, letters: string, on: boolean): Flags {
  const changed = { ...flags };
  for (const letter of letters) if (letter === 'i' || letter === 'm' || letter === 's' || letter === 'U') changed[letter] = on;
  return changed;
}
