import { SHORT_TEXT } from '../../../wire/costs.ts';
import { plainSlice } from '../../kit.ts';
import { WORK } from '../../work.ts';
import { ASCII, type Automaton, BEGINS, MATCHES, ROW, STEPS_SHIFT } from './automaton.ts';
import { BATCH } from './steps.ts';

/** How many matches, and how many steps, are looked at before they are paid for. */
const MANY_MATCHES = 256;
const MANY_STEPS = 16_384;
const PER = WORK.match.per;

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
  readonly #text: string;
  readonly #prefix: string;
  readonly #automaton: Automaton;
  /** What {@link #passPrefix} noted. */
  #row = 0;
  #steps = 0;

  constructor(text: string, prefix: string, automaton: Automaton, from: number, taken: number) {
    this.#text = text;
    this.#prefix = prefix;
    this.#automaton = automaton;
    this.end = from;
    this.taken = taken;
  }

  run(most: number): void {
    const text = this.#text;
    const prefix = this.#prefix;
    const automaton = this.#automaton;
    const { looks } = automaton;
    const { texts } = this;
    const { length } = prefix;
    const matches = Math.min(most, MANY_MATCHES);
    let { taken, paid, end: at } = this;
    this.#passPrefix(at);
    let { table } = automaton;
    search: while (texts.length < matches && paid < MANY_STEPS) {
      const ahead = length === 0 ? at : text.indexOf(prefix, at);
      if (ahead < 0) break;
      taken += (ahead - at) >> 3;
      if (taken >= BATCH) {
        paid += taken - (taken % PER);
        taken %= PER;
      }
      if (looks) {
        this.#passPrefix(ahead);
        ({ table } = automaton);
      }
      if (this.#steps < 0) break;
      let row = this.#row;
      taken += this.#steps;
      at = ahead + length;
      let begin = length === 0 ? -1 : ahead;
      let end = -1;
      let entry = 1;
      while (entry > 0) {
        const unit = at < text.length ? text.charCodeAt(at) : ASCII;
        if (unit >= ASCII || taken > MANY_STEPS) break search;
        entry = table[row * ASCII + unit] ?? 0;
        if (entry === 0) break search;
        const known = entry < 0 ? -entry : entry;
        if ((known & BEGINS) !== 0) begin = at;
        if ((known & MATCHES) !== 0) end = at;
        row = known & ROW;
        taken += known >> STEPS_SHIFT;
        at++;
      }
      if (taken >= BATCH) {
        paid += taken - (taken % BATCH);
        taken %= BATCH;
      }
      if (end < 0) continue;
      if (begin < 0 || end === begin || end - begin >= SHORT_TEXT) break;
      texts.push(plainSlice(text, begin, end));
      this.units += end - begin;
      at = end;
      this.start = begin;
      this.end = end;
      this.taken = taken;
      this.paid = paid;
    }
  }

  /** Notes which row the prefix leads to at an offset, and after how many steps: -1 if that is not known or the match ends in it. */
  #passPrefix(start: number): void {
    this.#row = this.#automaton.start(this.#text, start).row;
    this.#steps = 0;
    const { table } = this.#automaton;
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
