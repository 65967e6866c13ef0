import { WORK } from '../../work.ts';
import { FREE, plainSlice } from '../results.ts';
import { ASCII, type Automaton, BEGINS, MATCHES, ROW, STEPS_SHIFT } from './automaton.ts';
import { BATCH } from './steps.ts';

/** How many matches, and how many steps, are looked at before they are paid for. */
const MANY_MATCHES = 256;
const MANY_STEPS = 16_384;
const PER = WORK.match.first.per;

/** Reads matches one after the other, as long as plain transitions that an automaton knows lead through them. It pays for nothing. */
export class Sweep {
  /** The texts of the matches, and their units. */
  readonly texts: string[] = [];
  units = 0;
  /** Where the latest match starts and ends. */
  start = 0;
  end: number;
  /** What `Steps` has taken and paid meanwhile. */
  taken: number;
  paid = 0;
  /** Characters read by the automaton. */
  read = 0;
  readonly #text: string;
  readonly #prefix: string;
  readonly #automaton: Automaton;
  /** What {@link #passPrefix} noted: from which row on, to which one, and the steps. */
  #first = -1;
  #row = 0;
  #steps = 0;

  constructor(text: string, prefix: string, automaton: Automaton, from: number, taken: number) {
    this.#text = text;
    this.#prefix = prefix;
    this.#automaton = automaton;
    this.end = from;
    this.taken = taken;
  }

  /** Looks for at most so many matches. */
  run(most: number): void {
    const text = this.#text;
    const prefix = this.#prefix;
    const matches = Math.min(most, MANY_MATCHES);
    let { taken, paid, read, end: at } = this;
    let begin = -1;
    search: while (this.texts.length < matches && paid < MANY_STEPS) {
      const ahead = prefix === '' ? at : text.indexOf(prefix, at);
      if (ahead < 0) break;
      taken += (ahead - at) >> 3;
      if (taken >= BATCH) {
        paid += taken - (taken % PER);
        taken %= PER;
      }
      const { row: first } = this.#automaton.start(text, ahead);
      const { table } = this.#automaton;
      if (first !== this.#first) this.#passPrefix(table, first);
      if (this.#steps < 0) break;
      let row = this.#row;
      taken += this.#steps;
      at = ahead + prefix.length;
      begin = prefix === '' ? -1 : ahead;
      let end = -1;
      let entry = 1;
      while (entry > 0) {
        const unit = at < text.length ? text.charCodeAt(at) : ASCII;
        if (unit >= ASCII || taken > MANY_STEPS) break search;
        entry = table[row * ASCII + unit] ?? 0;
        if (entry === 0) break search;
        const known = Math.abs(entry);
        if ((known & BEGINS) !== 0) begin = at;
        if ((known & MATCHES) !== 0) end = at;
        row = known & ROW;
        taken += known >> STEPS_SHIFT;
        at++;
      }
      read += at - ahead;
      if (taken >= BATCH) {
        paid += taken - (taken % BATCH);
        taken %= BATCH;
      }
      if (end < 0) continue;
      if (begin < 0 || end === begin || end - begin >= FREE) break;
      this.texts.push(plainSlice(text, begin, end));
      this.units += end - begin;
      at = end;
      this.start = begin;
      this.end = end;
      this.taken = taken;
      this.paid = paid;
      this.read = read;
    }
  }

  /** Notes where the prefix leads to from a row, and after how many steps: -1 if that is not known or the match ends in it. */
  #passPrefix(table: Int32Array, first: number): void {
    this.#first = first;
    this.#row = first;
    this.#steps = 0;
    for (let at = 0; at < this.#prefix.length; at++) {
      const unit = this.#prefix.charCodeAt(at);
      const entry = unit < ASCII ? (table[this.#row * ASCII + unit] ?? 0) : 0;
      if (entry <= 0 || (entry & MATCHES) !== 0 || ((entry & BEGINS) !== 0) !== (at === 0)) {
        this.#steps = -1;
        return;
      }
      this.#row = entry & ROW;
      this.#steps += entry >> STEPS_SHIFT;
    }
  }
}
