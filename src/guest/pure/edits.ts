import { DATA_FUEL } from '../../wire/costs.ts';
import { WORK } from '../kit.ts';
import type { Meter } from '../meter.ts';

/** One step of an edit script: `count` lines are kept, deleted or inserted. */
export interface Edit {
  readonly op: 'equal' | 'delete' | 'insert';
  readonly count: number;
}

/** The number of steps that are paid for together. */
const BATCH = 1024;

/**
 * Returns the shortest edit script that turns one sequence into another, with deletions before insertions. It uses the linear
 * space variant of Myers' algorithm. Time grows with the length times the number of differences, and is paid as it is spent.
 */
export function shortestEdit(meter: Meter, before: Int32Array, after: Int32Array): readonly Edit[] {
  return new Comparison(meter, before, after).edits();
}

class Comparison {
  readonly #meter: Meter;
  readonly #a: Int32Array;
  readonly #b: Int32Array;
  readonly #kept: Uint8Array;
  readonly #inserted: Uint8Array;
  readonly #forward: Int32Array;
  readonly #backward: Int32Array;
  #steps = 0;

  constructor(meter: Meter, a: Int32Array, b: Int32Array) {
    this.#meter = meter;
    this.#a = a;
    this.#b = b;
    const size = a.length + b.length + 3;
    meter.pay(WORK.shortestEdit, size);
    this.#kept = new Uint8Array(a.length);
    this.#inserted = new Uint8Array(b.length);
    this.#forward = new Int32Array(2 * size);
    this.#backward = new Int32Array(2 * size);
  }

  edits(): readonly Edit[] {
    this.#compare();
    const edits: Edit[] = [];
    const add = (op: Edit['op'], count: number): void => {
      if (count > 0) edits.push({ op, count });
    };
    let [i, j] = [0, 0];
    while (i < this.#a.length || j < this.#b.length) {
      const start = [i, j] as const;
      while (i < this.#a.length && this.#kept[i] === 0) i++;
      while (j < this.#b.length && this.#inserted[j] === 0) j++;
      add('delete', i - start[0]);
      add('insert', j - start[1]);
      const same = i;
      while (i < this.#a.length && j < this.#b.length && this.#kept[i] === 1 && this.#inserted[j] === 1) {
        i++;
        j++;
      }
      add('equal', i - same);
    }
    return edits;
  }

  /** Marks the items that stay. Boxes yet to be compared wait on an explicit stack. */
  #compare(): void {
    const boxes: (readonly [number, number, number, number])[] = [[0, this.#a.length, 0, this.#b.length]];
    for (let box = boxes.pop(); box !== undefined; box = boxes.pop()) {
      let [left, right, top, bottom] = box;
      while (left < right && top < bottom && this.#a[left] === this.#b[top]) this.#keep(left++, top++);
      while (left < right && top < bottom && this.#a[right - 1] === this.#b[bottom - 1]) this.#keep(--right, --bottom);
      if (left === right || top === bottom) continue;
      const [fromX, fromY, toX, toY] = this.#middle(left, right, top, bottom);
      boxes.push([left, fromX, top, fromY], [toX, right, toY, bottom]);
      for (let x = fromX, y = fromY; x < toX && y < toY; ) {
        if (this.#a[x] === this.#b[y]) this.#keep(x++, y++);
        else break;
      }
    }
    this.#pay();
  }

  #keep(x: number, y: number): void {
    this.#step();
    this.#kept[x] = 1;
    this.#inserted[y] = 1;
  }

  /** Finds the middle snake of a box: a run of equal items, possibly empty, in the middle of a shortest edit script. */
  #middle(left: number, right: number, top: number, bottom: number): readonly [number, number, number, number] {
    const width = right - left;
    const height = bottom - top;
    const delta = width - height;
    const odd = delta % 2 !== 0;
    const half = Math.ceil((width + height) / 2);
    const origin = half + 1;
    const forward = this.#forward;
    const backward = this.#backward;
    forward[origin + 1] = 0;
    backward[origin + 1] = 0;
    for (let d = 0; d <= half; d++) {
      for (let k = -d; k <= d; k += 2) {
        this.#step();
        const down = k === -d || (k !== d && (forward[origin + k - 1] ?? 0) < (forward[origin + k + 1] ?? 0));
        let x = down ? (forward[origin + k + 1] ?? 0) : (forward[origin + k - 1] ?? 0) + 1;
        let y = x - k;
        const startX = x;
        const startY = y;
        while (x < width && y < height && y >= 0 && this.#a[left + x] === this.#b[top + y]) {
          x++;
          y++;
          this.#step();
        }
        forward[origin + k] = x;
        const mirrored = delta - k;
        if (odd && mirrored >= -(d - 1) && mirrored <= d - 1 && x + (backward[origin + mirrored] ?? 0) >= width)
          return [left + startX, top + startY, left + x, top + y];
      }
      for (let k = -d; k <= d; k += 2) {
        this.#step();
        const down = k === -d || (k !== d && (backward[origin + k - 1] ?? 0) < (backward[origin + k + 1] ?? 0));
        let x = down ? (backward[origin + k + 1] ?? 0) : (backward[origin + k - 1] ?? 0) + 1;
        let y = x - k;
        const startX = x;
        const startY = y;
        while (x < width && y < height && y >= 0 && this.#a[right - x - 1] === this.#b[bottom - y - 1]) {
          x++;
          y++;
          this.#step();
        }
        backward[origin + k] = x;
        const mirrored = delta - k;
        if (!odd && mirrored >= -d && mirrored <= d && x + (forward[origin + mirrored] ?? 0) >= width)
          return [right - x, bottom - y, right - startX, bottom - startY];
      }
    }
    return [left, top, left, top];
  }

  #step(): void {
    if (++this.#steps >= BATCH) this.#pay();
  }

  #pay(): void {
    const steps = this.#steps;
    this.#steps %= DATA_FUEL.match.amount;
    this.#meter.pay(WORK.match, steps);
  }
}
