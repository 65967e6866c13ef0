/** Draws texts from a grammar, the same ones for the same seed. */
import type { Form, Ranges, Rules } from '../../../grammar/decoder/form.ts';
import type { Random } from '../../fuzz/random.ts';

/** How deep rules nest before a draw takes the shortest way out. */
const DEEP = 28;
/** Most repetitions of one piece. */
const MOST = 4;
/** Characters beyond ASCII that a draw takes where it may. */
const FOREIGN = ['é', 'ß', '日', '😀', '\u00a0', '\u2028', '\u0085'];

/** The rules of names. A name with more behind it is a name as well. */
const NAMES: ReadonlySet<string> = new Set(['name', 'name-n']);

/** Draws texts of one grammar. */
export class Sampler {
  readonly #rules: Rules;
  readonly #random: Random;
  readonly #heights: ReadonlyMap<string, number>;
  #budget = 0;
  #names = 0;

  constructor(rules: Rules, random: Random) {
    this.#rules = rules;
    this.#random = random;
    this.#heights = heights(rules);
  }

  /** A text of the grammar of about this many pieces at most. */
  draw(pieces = 400): string {
    this.#budget = pieces;
    this.#names = 0;
    const out: string[] = [];
    this.#write({ k: 'rule', name: 'root' }, 0, out);
    return out.join('');
  }

  #write(form: Form, depth: number, out: string[]): void {
    this.#budget--;
    const short = depth > DEEP || this.#budget < 0;
    switch (form.k) {
      case 'text':
        out.push(form.text);
        break;
      case 'chars':
        out.push(this.#char(form.ranges));
        break;
      case 'all':
        for (const each of form.of) this.#write(each, depth, out);
        break;
      case 'any':
        this.#write(short ? this.#shortest(form.of) : this.#random.pick(form.of), depth, out);
        break;
      case 'times': {
        const most = Math.min(form.most ?? form.least + MOST, form.least + MOST);
        const count = short ? form.least : form.least + this.#random.int(most - form.least + 1);
        for (let i = 0; i < count; i++) this.#write(form.of, depth, out);
        break;
      }
      case 'rule':
        this.#write(this.#rules.get(form.name) ?? { k: 'text', text: '' }, depth + 1, out);
        // No two names are equal: a grammar without memory cannot say that a procedure is defined once.
        if (NAMES.has(form.name)) out.push(`_${this.#names++}`);
    }
  }

  #shortest(of: readonly Form[]): Form {
    const ranked = of.map((each) => ({ each, height: heightOf(each, this.#heights) }));
    const least = Math.min(...ranked.map(({ height }) => height));
    return this.#random.pick(ranked.filter(({ height }) => height === least)).each;
  }

  /** Visible ASCII mostly, where there is any; else any character of the set. */
  #char(ranges: Ranges): string {
    const holds = (point: number): boolean => ranges.some(([first, last]) => first <= point && point <= last);
    const foreign = FOREIGN.filter((char) => holds(char.codePointAt(0) ?? 0));
    if (foreign.length > 0 && this.#random.once(20)) return this.#random.pick(foreign);
    const ascii = ranges.filter(([first]) => first < 0x80).map(([first, last]) => [first, Math.min(last, 0x7f)] as const);
    const size = ascii.reduce((sum, [first, last]) => sum + last - first + 1, 0);
    let at = this.#random.int(size);
    for (const [first, last] of ascii) {
      if (at <= last - first) return String.fromCodePoint(first + at);
      at -= last - first + 1;
    }
    return this.#random.pick(foreign);
  }
}

/** How many rules a piece needs at least, one in the other. */
function heightOf(form: Form, known: ReadonlyMap<string, number>): number {
  switch (form.k) {
    case 'all':
      return Math.max(0, ...form.of.map((each) => heightOf(each, known)));
    case 'any':
      return Math.min(...form.of.map((each) => heightOf(each, known)));
    case 'times':
      return form.least === 0 ? 0 : heightOf(form.of, known);
    case 'rule':
      return known.get(form.name) ?? Number.POSITIVE_INFINITY;
    default:
      return 0;
  }
}

function heights(rules: Rules): ReadonlyMap<string, number> {
  const known = new Map<string, number>();
  for (let changed = true; changed; ) {
    changed = false;
    for (const [name, form] of rules) {
      const height = heightOf(form, known) + 1;
      if (height >= (known.get(name) ?? Number.POSITIVE_INFINITY)) continue;
      known.set(name, height);
      changed = true;
    }
  }
  return known;
}
