import { textBytes } from '../wire/costs.ts';
import type { Meter } from './meter.ts';
import type { Work } from './work.ts';

/** Units that are collected before they are paid for and joined. At most this many exist unpaid. */
const BATCH = 1024;
/** V8 copies slices shorter than this; longer ones point into the whole text. */
const SLICED = 13;

/**
 * A slice of a text that the caller pays for. A slice keeps the whole text alive, so a slice that is much smaller is copied. Otherwise a
 * program could hold far more memory than it pays for.
 */
export function plainSlice(whole: string, start: number, end: number): string {
  const slice = whole.slice(start, end);
  return whole.length <= 4 * slice.length ? slice : copied(slice);
}

function copied(slice: string): string {
  return slice.length < SLICED ? slice : ` ${slice}`.slice(1);
}

/** Pays for a JSON text of one piece what a {@link TextBuilder} would pay. Most texts on their way to the host are that short. */
export function paidWhole(meter: Meter, work: Work, json: string): string {
  meter.allocate(textBytes(0));
  meter.extendText(0, json.length);
  meter.pay(work, json.length);
  return json;
}

/**
 * Builds a text from pieces and pays for fuel and memory before it grows. Pieces are joined in batches, because V8 keeps a text that
 * grows by `+=` as a tree of many times its size.
 */
export class TextBuilder {
  readonly #meter: Meter;
  readonly #work: Work;
  readonly #kind: 'text' | 'json';
  #parts: string[] = [];
  #batch: string[] = [];
  #gathered = 0;
  #units = 0;

  /** `work` is paid for each unit. A `text` is a script's value and may be as long as one; `json` is on its way to the host. */
  constructor(meter: Meter, work: Work, kind: 'text' | 'json') {
    this.#meter = meter;
    this.#work = work;
    this.#kind = kind;
    meter.allocate(textBytes(0));
  }

  /** Adds a piece. `free` of its units cost nothing: the transport adds them, and they are few. */
  add(piece: string, free = 0): void {
    if (piece.length > BATCH) {
      this.#flush();
      this.#account(piece.length);
      this.#parts.push(piece);
      return;
    }
    if (piece === '') return;
    this.#batch.push(piece);
    this.#gathered += piece.length - free;
    if (this.#gathered >= BATCH) this.#flush();
  }

  /** Adds a slice of a text, which the built text does not keep alive: joining copies short slices. */
  addSlice(whole: string, start: number, end: number): void {
    this.add(end - start > BATCH ? plainSlice(whole, start, end) : whole.slice(start, end));
  }

  /** The whole text; the builder is done. */
  finish(): string {
    this.#flush();
    return this.#parts.length === 1 ? (this.#parts[0] ?? '') : this.#parts.join('');
  }

  #flush(): void {
    if (this.#batch.length === 0) return;
    this.#account(this.#gathered);
    const [piece = ''] = this.#batch;
    this.#parts.push(this.#batch.length === 1 ? copied(piece) : this.#batch.join(''));
    this.#batch = [];
    this.#gathered = 0;
  }

  #account(units: number): void {
    this.#meter.extendText(this.#units, units);
    this.#units += units;
    if (this.#kind === 'text') this.#meter.checkText(this.#units);
    this.#meter.pay(this.#work, units);
  }
}
