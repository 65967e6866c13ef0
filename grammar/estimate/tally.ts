/** Numbers of calls of each row. Immutable; tallies that were made from each other share parts. */

/** A node of a tree of 16 branches, with counts at its leaves. */
type Branch = readonly (Branch | number | undefined)[];

const BITS = 4;
const WIDTH = 1 << BITS;

/** Combines the counts of one row; a row that a tally lacks counts 0. */
type Combine = (a: number, b: number) => number;

/** How many calls each row has. */
export class Tally {
  /** Branches that all tallies have made so far. The difference of two readings is the work between. */
  static made = 0;
  readonly #root: Branch;
  /** The tree holds the rows below 16 to the power of this. */
  readonly #levels: number;

  private constructor(root: Branch, levels: number) {
    this.#root = root;
    this.#levels = levels;
  }

  static readonly none = new Tally([], 1);

  static of(row: number, count: number): Tally {
    let levels = 1;
    while (row >= WIDTH ** levels) levels++;
    let node: Branch | number = count;
    for (let level = 0; level < levels; level++) {
      const branch: (Branch | number | undefined)[] = [];
      branch[(row >> (BITS * level)) % WIDTH] = node;
      node = branch;
    }
    return typeof node === 'number' ? Tally.none : new Tally(node, levels);
  }

  /** Both tallies, one after the other. */
  plus(other: Tally): Tally {
    if (other === Tally.none) return this;
    return this === Tally.none ? other : new Tally(...this.#combined(other, (a, b) => a + b, false));
  }

  /** Either tally. */
  or(other: Tally): Tally {
    if (this === other || other === Tally.none) return this;
    return this === Tally.none ? other : new Tally(...this.#combined(other, Math.max, true));
  }

  /** What both tallies have at least. */
  both(other: Tally): Tally {
    if (this === other || this === Tally.none) return this;
    if (other === Tally.none) return other;
    const levels = Math.max(this.#levels, other.#levels);
    return new Tally(common(this.#raised(levels), other.#raised(levels)), levels);
  }

  times(count: number): Tally {
    if (this === Tally.none || count === 0) return Tally.none;
    return new Tally(
      mapped(this.#root, (each) => each * count),
      this.#levels,
    );
  }

  /** The rows with calls. */
  *entries(): Generator<readonly [row: number, count: number]> {
    yield* leaves(this.#root, this.#levels - 1, 0);
  }

  #combined(other: Tally, combine: Combine, same: boolean): [root: Branch, levels: number] {
    const levels = Math.max(this.#levels, other.#levels);
    return [merged(this.#raised(levels), other.#raised(levels), combine, same), levels];
  }

  #raised(levels: number): Branch {
    let root = this.#root;
    for (let level = this.#levels; level < levels; level++) root = [root];
    return root;
  }
}

/** `same` means that combining a count with itself gives the count. Equal branches then stay shared. */
function merged(a: Branch, b: Branch, combine: Combine, same: boolean): Branch {
  if (same && a === b) return a;
  Tally.made++;
  const made: (Branch | number | undefined)[] = [];
  for (let index = 0; index < a.length || index < b.length; index++) {
    const [left, right] = [a[index], b[index]];
    if (left === undefined || right === undefined) made.push(left ?? right);
    else if (typeof left === 'number') made.push(typeof right === 'number' ? combine(left, right) : left);
    else made.push(typeof right === 'number' ? left : merged(left, right, combine, same));
  }
  if (!same) return made;
  const known = [b, a].find((branch) => branch.length === made.length && made.every((each, index) => each === branch[index]));
  return known ?? made;
}

/** The lower count of each row that both have. */
function common(a: Branch, b: Branch): Branch {
  if (a === b) return a;
  Tally.made++;
  return Array.from({ length: Math.min(a.length, b.length) }, (_, index) => {
    const [left, right] = [a[index], b[index]];
    if (typeof left === 'number' && typeof right === 'number') return Math.min(left, right);
    return typeof left === 'object' && typeof right === 'object' ? common(left, right) : undefined;
  });
}

function mapped(branch: Branch, change: (count: number) => number): Branch {
  Tally.made++;
  return branch.map((each) => (typeof each === 'number' ? change(each) : each && mapped(each, change)));
}

function* leaves(branch: Branch, level: number, base: number): Generator<readonly [number, number]> {
  for (const [index, each] of branch.entries()) {
    const row = base + (index << (BITS * level));
    if (typeof each === 'number') yield [row, each];
    else if (each !== undefined) yield* leaves(each, level - 1, row);
  }
}
