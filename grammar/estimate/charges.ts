/** The cost of evaluating beyond the operations of a statement: work in proportion to data. */
import type { Span } from '../syntax/position.ts';
import type { FuelCosts } from './costs.ts';
import type { Session } from './session.ts';
import type { Cost } from './state.ts';
import { Tally } from './tally.ts';
import { type Abstract, LIST, MAP, may, NIL, NUM, OTHER, only, TEXT, text, textUnits } from './values.ts';

/** Adds up the cost of the expressions of one statement. */
export class Charges {
  least = 0;
  most = 0;
  bytes = 0;
  output = 0;
  scratch = 0;
  calls = Tally.none;
  certain = Tally.none;
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  get costs(): FuelCosts {
    return this.#session.costs;
  }

  get cost(): Cost {
    const { least, most, bytes, output, scratch, calls, certain } = this;
    return { least, most, bytes, output, scratch, calls, certain };
  }

  add(cost: Cost): void {
    this.least += cost.least;
    this.most += cost.most;
    this.bytes += cost.bytes;
    this.output += cost.output;
    this.scratch += cost.scratch;
    this.calls = this.calls.plus(cost.calls);
    this.certain = this.certain.plus(cost.certain);
  }

  /** Counts a new text. */
  made(units: number, plain: boolean): Abstract {
    const { text: own, unit } = this.#session.costs.values;
    this.bytes += own.amount + unit.amount * units;
    return text(units, plain);
  }

  /** Charges for turning a value into text. Returns the length of the text. */
  text(value: Abstract, at: Span, what = 'the value turned into text'): number {
    if (!only(value, TEXT | NIL)) this.written(value, 'text', what, at);
    this.bytes += only(value, TEXT) ? 0 : 16 + 2 * value.size;
    return textUnits(value);
  }

  /** Charges for writing a value as text or JSON. */
  written(value: Abstract, price: 'text' | 'json', what: string, at: Span): void {
    this.spend(value.size, price, what, at);
    this.most += this.#session.costs.steps.written.amount * value.nodes;
  }

  /** Charges for a value that the host gets. */
  handed(value: Abstract, what: string, at: Span): void {
    this.written(value, 'json', what, at);
    this.bytes += 16 * value.size;
  }

  /** Charges for reading a value as a number. */
  numeric(value: Abstract, at: Span): void {
    if (may(value, TEXT)) this.spend(value.units, 'number', 'text that may be a number', at);
  }

  scan(value: Abstract, times: number, at: Span): void {
    for (let time = 0; time < times; time++) this.spend(value.units, 'scan', 'the scanned text', at);
  }

  /** Charges for comparing two values for equality. */
  compare(left: Abstract, right: Abstract, at: Span): void {
    if (may(left, NUM)) this.numeric(right, at);
    if (may(right, NUM)) this.numeric(left, at);
    const deep = LIST | MAP | OTHER;
    if (may(left, TEXT) && may(right, TEXT)) this.spend(Math.min(left.units, right.units), 'compare', 'the compared values', at);
    if (!may(left, deep) || !may(right, deep)) return;
    this.spend(Math.min(left.size, right.size), 'compare', 'the compared values', at);
    this.most += this.#session.costs.steps.compared.amount * (2 + 3 * Math.min(left.nodes, right.nodes));
  }

  /** Charges for data. `what` names the data in the reason when its size is not known. */
  spend(units: number, price: keyof Session['costs']['data'], what: string, at: Span): void {
    this.most +=
      units === Number.POSITIVE_INFINITY
        ? this.#session.unbounded(`the size of ${what} is not known`, at)
        : Math.floor(units / this.#session.costs.data[price].amount);
  }
}
