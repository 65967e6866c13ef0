/**
 * Reads GBNF as strictly as llama.cpp does (`src/llama-grammar.cpp`), and follows texts in it with stacks as its sampler does. It shares no
 * code with the writer.
 */

/** A set of characters, or the alternatives of a rule. */
type Element = { readonly ranges: readonly (readonly [number, number])[]; readonly negated: boolean } | { readonly rule: number };

/** Most repetitions that llama.cpp unrolls. */
const MOST_REPEATED = 2000;

/** A grammar that llama.cpp can load. Throws what it would say for any other text. */
export class Gbnf {
  readonly #names = new Map<string, number>();
  readonly #rules: (readonly Element[][] | undefined)[] = [];
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    this.#space(true);
    while (this.#at < text.length) this.#rule();
    for (const [name, id] of this.#names)
      if (this.#rules[id] === undefined) throw new Error(`Undefined rule identifier '${name}'`);
    if (!this.#names.has('root')) throw new Error("grammar does not contain a 'root' symbol");
    for (const [name, id] of this.#names) if (this.#isLeftRecursive(id)) throw new Error(`unsupported left recursion in ${name}`);
  }

  /** The names of the written rules. */
  get names(): readonly string[] {
    return [...this.#names.keys()].filter((name) => !name.includes('_'));
  }

  /** A new reading from the beginning of the text. */
  begin(): Reading {
    return new Reading((id) => this.#rules[id] ?? [], this.#names.get('root') ?? 0);
  }

  #peek(): string {
    return this.#text.charAt(this.#at);
  }

  #fail(wanted: string): never {
    throw new Error(`expecting ${wanted} at ${JSON.stringify(this.#text.slice(this.#at, this.#at + 40))}`);
  }

  #space(newlines: boolean): void {
    for (;;) {
      const char = this.#peek();
      if (char === '#') while (this.#at < this.#text.length && this.#peek() !== '\n') this.#at++;
      else if (char === ' ' || char === '\t' || (newlines && char === '\n')) this.#at++;
      else return;
    }
  }

  #name(): string {
    const begin = this.#at;
    while (/[A-Za-z0-9-]/.test(this.#peek())) this.#at++;
    return begin === this.#at ? this.#fail('name') : this.#text.slice(begin, this.#at);
  }

  #id(name: string): number {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    this.#names.set(name, this.#names.size);
    return this.#names.size - 1;
  }

  #fresh(base: string): number {
    return this.#id(`${base}_${this.#names.size}`);
  }

  #rule(): void {
    const name = this.#name();
    this.#space(false);
    const id = this.#id(name);
    if (this.#rules[id] !== undefined) throw new Error(`rule ${name} is defined twice`);
    if (!this.#text.startsWith('::=', this.#at)) this.#fail('::=');
    this.#at += 3;
    this.#space(true);
    this.#rules[id] = this.#alternatives(name, false);
    if (this.#peek() === '\n') this.#at++;
    else if (this.#at < this.#text.length) this.#fail('newline or end');
    this.#space(true);
  }

  #alternatives(base: string, nested: boolean): Element[][] {
    const found = [this.#sequence(base, nested)];
    while (this.#peek() === '|') {
      this.#at++;
      this.#space(true);
      found.push(this.#sequence(base, nested));
    }
    return found;
  }

  #sequence(base: string, nested: boolean): Element[] {
    const elements: Element[] = [];
    let last = 0;
    for (;;) {
      const char = this.#peek();
      if (char === '"') {
        last = elements.length;
        this.#at++;
        while (this.#peek() !== '"') {
          const point = this.#char();
          elements.push({ ranges: [[point, point]], negated: false });
        }
        this.#at++;
      } else if (char === '[') {
        last = elements.length;
        elements.push(this.#class());
      } else if (char === '(') {
        this.#at++;
        this.#space(true);
        const id = this.#fresh(base);
        this.#rules[id] = this.#alternatives(base, true);
        if (this.#peek() !== ')') this.#fail("')'");
        this.#at++;
        last = elements.length;
        elements.push({ rule: id });
      } else if (char !== '' && '*+?{'.includes(char)) {
        if (last === elements.length) this.#fail('preceding item to */+/?/{');
        const [least, most] = this.#count();
        elements.push(...this.#repeat(base, elements.splice(last), least, most));
      } else if (/[A-Za-z0-9-]/.test(char)) {
        last = elements.length;
        elements.push({ rule: this.#id(this.#name()) });
      } else {
        return elements;
      }
      this.#space(nested);
    }
  }

  #class(): Element {
    this.#at++;
    const negated = this.#peek() === '^';
    if (negated) this.#at++;
    const ranges: [number, number][] = [];
    while (this.#peek() !== ']') {
      const first = this.#char();
      let last = first;
      if (this.#peek() === '-' && this.#text.charAt(this.#at + 1) !== ']') {
        this.#at++;
        last = this.#char();
      }
      if (last < first) throw new Error('a range ends before it begins');
      ranges.push([first, last]);
    }
    this.#at++;
    if (ranges.length === 0) throw new Error('an empty class');
    return { ranges, negated };
  }

  #char(): number {
    if (this.#at >= this.#text.length || this.#peek() === '\n') throw new Error('unexpected end of input');
    if (this.#peek() !== '\\') {
      const point = this.#text.codePointAt(this.#at) ?? 0;
      this.#at += String.fromCodePoint(point).length;
      return point;
    }
    const mark = this.#text.charAt(this.#at + 1);
    const digits = { x: 2, u: 4, U: 8 }[mark];
    if (digits !== undefined) {
      const hex = this.#text.slice(this.#at + 2, this.#at + 2 + digits);
      if (!/^[0-9A-Fa-f]+$/.test(hex) || hex.length !== digits) this.#fail(`${digits} hex chars`);
      // XGrammar would read a further digit as part of the same number.
      if (/[0-9A-Fa-f]/.test(this.#text.charAt(this.#at + 2 + digits))) throw new Error('a digit stands behind an escape');
      this.#at += 2 + digits;
      return Number.parseInt(hex, 16);
    }
    const plain = new Map([...'\\"[]-'].map((char) => [char, char])).set('n', '\n').set('t', '\t').set('r', '\r').get(mark);
    if (plain === undefined) throw new Error(`unknown escape \\${mark}`);
    this.#at += 2;
    return plain.charCodeAt(0);
  }

  #count(): readonly [least: number, most: number | null] {
    const mark = this.#peek();
    this.#at++;
    if (mark === '*') return [0, null];
    if (mark === '+') return [1, null];
    if (mark === '?') return [0, 1];
    const [all, least = '', comma, most = ''] =
      /^(\d+)(,)?(\d*)\}/.exec(this.#text.slice(this.#at, this.#at + 20)) ?? this.#fail('an int');
    this.#at += all.length;
    return [Number(least), comma === undefined ? Number(least) : most === '' ? null : Number(most)];
  }

  #repeat(base: string, item: readonly Element[], least: number, most: number | null): Element[] {
    if ((most ?? least) >= MOST_REPEATED) throw new Error('number of repetitions exceeds sane defaults');
    const elements = Array.from({ length: least }, () => item).flat();
    if (most === null) {
      const id = this.#fresh(base);
      this.#rules[id] = [[...item, { rule: id }], []];
      return [...elements, { rule: id }];
    }
    let rest: Element[] = [];
    for (let i = least; i < most; i++) {
      const id = this.#fresh(base);
      this.#rules[id] = [[...item, ...rest], []];
      rest = [{ rule: id }];
    }
    return [...elements, ...rest];
  }

  #isEmpty(id: number, seen: ReadonlySet<number> = new Set()): boolean {
    if (seen.has(id)) return false;
    const within = new Set([...seen, id]);
    return (this.#rules[id] ?? []).some((alternative) =>
      alternative.every((each) => 'rule' in each && this.#isEmpty(each.rule, within)),
    );
  }

  #isLeftRecursive(id: number): boolean {
    const reached = new Set<number>();
    const todo = [id];
    for (let at = todo.pop(); at !== undefined; at = todo.pop())
      for (const alternative of this.#rules[at] ?? [])
        for (const each of alternative) {
          if (!('rule' in each)) break;
          if (each.rule === id) return true;
          if (!reached.has(each.rule)) {
            reached.add(each.rule);
            todo.push(each.rule);
          }
          if (!this.#isEmpty(each.rule)) break;
        }
    return false;
  }
}

/** A place in an alternative, and the places to return to. */
class Stack {
  readonly elements: readonly Element[];
  readonly index: number;
  readonly below: Stack | null;
  readonly #above = new Map<readonly Element[], Map<number, Stack>>();

  constructor(elements: readonly Element[], index: number, below: Stack | null) {
    this.elements = elements;
    this.index = index;
    this.below = below;
  }

  get next(): Element | undefined {
    return this.elements[this.index];
  }

  /** The stack with one more place, the same object for the same place. */
  push(elements: readonly Element[], index: number): Stack {
    const known = this.#above.get(elements) ?? new Map<number, Stack>();
    this.#above.set(elements, known);
    const found = known.get(index) ?? new Stack(elements, index, this);
    known.set(index, found);
    return found;
  }
}

/** Follows a text, character by character. */
export class Reading {
  readonly #alternatives: (rule: number) => readonly Element[][];
  #stacks: ReadonlySet<Stack>;
  /** Whether the text up to here is a whole one. */
  complete = false;
  /** The most stacks that were alive at once. */
  most = 0;

  constructor(alternatives: (rule: number) => readonly Element[][], root: number) {
    this.#alternatives = alternatives;
    this.#stacks = this.#settled([new Stack([], 0, null).push([{ rule: root }], 0)]);
  }

  /** Takes one character. Returns whether any text goes on with it. */
  take(char: string): boolean {
    const point = char.codePointAt(0) ?? 0;
    const moved = [...this.#stacks].flatMap((stack) => {
      const { next } = stack;
      const fits =
        next !== undefined &&
        'ranges' in next &&
        next.ranges.some(([first, last]) => first <= point && point <= last) !== next.negated;
      return fits && stack.below !== null ? [stack.below.push(stack.elements, stack.index + 1)] : [];
    });
    this.#stacks = this.#settled(moved);
    return moved.length > 0;
  }

  /** The stacks whose next piece is a character. */
  #settled(stacks: readonly Stack[]): ReadonlySet<Stack> {
    const seen = new Set(stacks);
    const ready = new Set<Stack>();
    this.complete = false;
    for (const stack of seen) {
      const { next, below } = stack;
      if (below === null) this.complete = true;
      else if (next === undefined) seen.add(below);
      else if ('ranges' in next) ready.add(stack);
      else {
        // A last piece needs no place to return to.
        const back = stack.index + 1 === stack.elements.length ? below : below.push(stack.elements, stack.index + 1);
        for (const alternative of this.#alternatives(next.rule)) seen.add(back.push(alternative, 0));
      }
    }
    this.most = Math.max(this.most, ready.size);
    return ready;
  }
}

/** How far a text follows a grammar: the number of characters taken, and whether it is a whole text of it. */
export function follow(grammar: Gbnf, text: string): { readonly taken: number; readonly whole: boolean; readonly most: number } {
  const reading = grammar.begin();
  let taken = 0;
  for (const char of text) {
    if (!reading.take(char)) return { taken, whole: false, most: reading.most };
    taken += char.length;
  }
  return { taken, whole: reading.complete, most: reading.most };
}
