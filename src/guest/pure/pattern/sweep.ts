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

  constructor(text: string, prefix: string, automaton: Automaton, from: number, taken: number) {
    this.#text = text;
    this.#prefix = prefix;
    this.#automaton = automaton;
    this.end = from;
    this.taken = taken;
  }

  /** Looks for at most so many matches. */
  run(most: number): void {
    const matches = Math.min(most, MANY_MATCHES);
    while (this.texts.length < matches && this.paid < MANY_STEPS && this.#next());
  }

  #next(): boolean {
    const text = this.#text;
    const prefix = this.#prefix;
    let { taken, paid, read, end: at } = this;
    let begin = -1;
    let end = -1;
    while (end < 0) {
      const ahead = prefix === '' ? at : text.indexOf(prefix, at);
      if (ahead < 0) return false;
      taken += (ahead - at) >> 3;
      if (taken >= BATCH) {
        paid += taken - (taken % PER);
        taken %= PER;
      }
      at = ahead;
      let { row } = this.#automaton.start(text, at);
      const { table } = this.#automaton;
      let entry = 1;
      while (entry > 0) {
        const unit = at < text.length ? text.charCodeAt(at) : ASCII;
        if (unit >= ASCII || taken > MANY_STEPS) return false;
        entry = table[row * ASCII + unit] ?? 0;
        if (entry === 0) return false;
        const known = Math.abs(entry);
        if ((known & BEGINS) !== 0) begin = at;
        if ((known & MATCHES) !== 0) end = at;
        row = known & ROW;
        taken += known >> STEPS_SHIFT;
        at++;
      }
      read += at - ahead;
      paid += taken - (taken % BATCH);
      taken %= BATCH;
    }
    if (begin < 0 || end === begin || end - begin >= FREE) return false;
    this.texts.push(plainSlice(text, begin, end));
    this.units += end - begin;
    this.start = begin;
    this.end = end;
    this.taken = taken;
    this.paid = paid;
    this.read = read;
    return true;
  }
}
