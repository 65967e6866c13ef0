/** What evaluating takes, beyond the operations that a statement was charged for: work in proportion to data. */
import type { Span } from '../syntax/ast.ts';
import type { FuelCosts } from './costs.ts';
import type { Session } from './session.ts';
import type { Cost } from './state.ts';
import { type Abstract, LIST, MAP, may, NIL, NUM, OTHER, only, TEXT, text, textUnits } from './values.ts';

/** Adds up what the expressions of one statement take. */
export class Charges {
  least = 0;
  most = 0;
  bytes = 0;
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** The prices. */
  get costs(): FuelCosts {
    return this.#session.costs;
  }

  /** What all of it costs so far. */
  get cost(): Cost {
    return { least: this.least, most: this.most, bytes: this.bytes };
  }

  /** Counts a text that is made. */
  made(units: number, plain: boolean): Abstract {
    const { text: own, unit } = this.#session.costs.values;
    this.bytes += own.amount + unit.amount * units;
    return text(units, plain);
  }

  /** Turns a value into text; gives its length. */
  text(value: Abstract, at: Span, what = 'what is turned into text'): number {
    if (!only(value, TEXT | NIL)) this.written(value, 'text', what, at);
    this.bytes += only(value, TEXT) ? 0 : 16 + 2 * value.size;
    return textUnits(value);
  }

  /** Charges for writing a value as text or JSON. */
  written(value: Abstract, price: 'text' | 'json', what: string, at: Span): void {
    this.spend(value.size, price, what, at);
    this.most += this.#session.costs.steps.written.amount * value.nodes;
  }

  /** Charges for reading a value as a number. */
  numeric(value: Abstract, at: Span): void {
    if (may(value, TEXT)) this.spend(value.units, 'number', 'a text that may be a number', at);
  }

  /** Charges for looking through a text so many times. */
  scan(value: Abstract, times: number, at: Span): void {
    for (let time = 0; time < times; time++) this.spend(value.units, 'scan', 'the text that is looked through', at);
  }

  /** Charges for telling whether two values are equal. */
  compare(left: Abstract, right: Abstract, at: Span): void {
    if (may(left, NUM)) this.numeric(right, at);
    if (may(right, NUM)) this.numeric(left, at);
    const deep = LIST | MAP | OTHER;
    if (may(left, TEXT) && may(right, TEXT)) this.spend(Math.min(left.units, right.units), 'compare', 'what is compared', at);
    if (!may(left, deep) || !may(right, deep)) return;
    this.spend(Math.min(left.size, right.size), 'compare', 'what is compared', at);
    this.most += this.#session.costs.steps.compared.amount * (2 + 3 * Math.min(left.nodes, right.nodes));
  }

  /** Charges for data; `what` is named when nobody knows how much it is. */
  spend(units: number, price: keyof Session['costs']['data'], what: string, at: Span): void {
    this.most +=
      units === Number.POSITIVE_INFINITY
        ? this.#session.unbounded(`the size of ${what} is not known`, at)
        : Math.floor(units / this.#session.costs.data[price].amount);
  }
}
