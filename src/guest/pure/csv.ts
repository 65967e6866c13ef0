import { VALUE_BYTES } from '../../wire/costs.ts';
import {
  checkValue,
  counted,
  Dict,
  entry,
  Fuzzy,
  List,
  newList,
  putEntry,
  TextBuilder,
  Time,
  toText,
  typeName,
  WORK,
} from '../kit.ts';
import { type Meter, payRound } from '../meter.ts';
import type { Value } from '../values.ts';
import type { Group } from './define.ts';
import { ListBuilder, newMap, paidSlice, TextMap } from './results.ts';
import { replaceText } from './substring.ts';

/** Tables as text (RFC 4180). */
export const CSV: Group<'csv'> = {
  'tool.csv.Parse': (meter, text, header, separator) => {
    const reader = new Reader(meter, text, checked(meter, separator));
    const names = header ? reader.row() : null;
    if (names !== null) checkNames(meter, names, (problem) => reader.fail(problem));
    let width = names?.length;
    const rows = new ListBuilder(meter);
    for (let fields = reader.row(); fields !== null; fields = reader.row()) {
      width ??= fields.length;
      if (fields.length !== width)
        reader.fail(`expected ${counted(width, 'field', 'fields')} as in the first row, got ${fields.length}`);
      rows.value(names === null ? listOf(meter, fields) : mapOf(meter, names, fields));
    }
    return rows.finish();
  },
  'tool.csv.Format': (meter, rows, columns, separator) => {
    const writer = new Writer(meter, checked(meter, separator));
    const [first] = rows.items;
    const names = columns === null ? (first instanceof Dict ? [...first.entries.keys()] : null) : columns.items.map(String);
    if (names !== null) {
      checkNames(meter, names, (problem) => failRow(meter, 0, problem));
      writer.row(names, 0);
    }
    for (const [index, row] of rows.items.entries()) {
      payRound(meter, index);
      writer.row(first instanceof List ? itemsOf(meter, row, index) : fieldsOf(meter, row, names ?? [], index), index + 1);
    }
    return writer.finish();
  },
};

function checked(meter: Meter, separator: string | null): string {
  if (separator === null) return ',';
  if (separator.length === 1 && !'"\r\n'.includes(separator)) return separator;
  return meter.fail('InvalidValue', 'separator must be one character, and no quote or line end', 'such as "," or ";" or "\\t"');
}

function checkNames(meter: Meter, names: readonly string[], fail: (problem: string) => never): void {
  const known = new TextMap<true>(meter);
  for (const name of names) {
    if (known.get(name) !== undefined) fail(`two columns have the name ${JSON.stringify(name.slice(0, 40))}`);
    known.add(name, true);
  }
}

function listOf(meter: Meter, fields: string[]): List {
  meter.allocate(VALUE_BYTES.list.amount);
  return newList(meter, fields);
}

function mapOf(meter: Meter, names: readonly string[], fields: readonly string[]): Dict {
  const map = newMap(meter);
  for (const [index, name] of names.entries()) putEntry(meter, map, name, fields[index] ?? '');
  checkValue(meter, map);
  return map;
}

/** Pays for each field before it makes it. */
class Reader {
  readonly #meter: Meter;
  readonly #text: string;
  readonly #separator: string;
  #at: number;
  #line = 1;
  /** The line of the row that was read last. */
  #rowLine = 1;

  constructor(meter: Meter, text: string, separator: string) {
    this.#meter = meter;
    this.#text = text;
    this.#separator = separator;
    // What some programs write before the first character.
    this.#at = text.startsWith('\ufeff') ? 1 : 0;
    meter.pay(WORK.slowScan, text.length);
  }

  /** The fields of the next row; null at the end. */
  row(): string[] | null {
    while (this.#endsLine()) {
      // A blank line.
    }
    if (this.#at >= this.#text.length) return null;
    this.#rowLine = this.#line;
    const fields: string[] = [];
    do {
      this.#meter.pay(WORK.written);
      this.#meter.allocate(VALUE_BYTES.item.amount);
      this.#meter.checkItems(fields.length + 1);
      fields.push(this.#text.charAt(this.#at) === '"' ? this.#quoted() : this.#plain());
    } while (this.#skips(this.#separator));
    if (this.#at < this.#text.length && !this.#endsLine())
      this.fail(`expected ${JSON.stringify(this.#separator)} or the end of the line after a closing quote`, this.#line);
    return fields;
  }

  fail(problem: string, line = this.#rowLine): never {
    return this.#meter.fail('InvalidValue', `the text is not CSV: line ${line}: ${problem}`);
  }

  #plain(): string {
    const text = this.#text;
    const start = this.#at;
    let at = start;
    for (; at < text.length; at++) {
      payRound(this.#meter, at);
      const char = text.charAt(at);
      if (char === this.#separator || char === '\n' || (char === '\r' && text.charAt(at + 1) === '\n')) break;
      if (char === '"')
        this.fail('a quote in a field that does not begin with one; write the field in quotes, and "" for a quote');
    }
    this.#at = at;
    return paidSlice(this.#meter, text, start, at);
  }

  #quoted(): string {
    const text = this.#text;
    const line = this.#line;
    const start = this.#at + 1;
    let doubled = false;
    for (let at = start; at < text.length; at++) {
      payRound(this.#meter, at);
      const char = text.charAt(at);
      if (char === '\n') this.#line++;
      if (char !== '"') continue;
      if (text.charAt(at + 1) !== '"') {
        this.#at = at + 1;
        const field = paidSlice(this.#meter, text, start, at);
        return doubled ? replaceText(this.#meter, field, '""', '"', -1) : field;
      }
      doubled = true;
      at++;
    }
    return this.fail('the quote that begins a field is never closed', line);
  }

  /** Skips the end of a line, if it is here. */
  #endsLine(): boolean {
    const ended = this.#skips('\r\n') || this.#skips('\n');
    if (ended) this.#line++;
    return ended;
  }

  #skips(text: string): boolean {
    const found = this.#text.startsWith(text, this.#at);
    if (found) this.#at += text.length;
    return found;
  }
}

function itemsOf(meter: Meter, row: Value, index: number): readonly Value[] {
  if (row instanceof List) return row.items;
  return failRow(meter, index + 1, `expected a list as in the first row, got ${typeName(row)}`);
}

function fieldsOf(meter: Meter, row: Value, names: readonly string[], index: number): readonly Value[] {
  if (!(row instanceof Dict)) return failRow(meter, index + 1, `expected a map as in the first row, got ${typeName(row)}`);
  let found = 0;
  const fields = names.map((name, round) => {
    payRound(meter, round);
    const value = entry(meter, row, name);
    if (value !== undefined) found++;
    return value ?? null;
  });
  if (found === row.entries.size) return fields;
  const known = new Set(names);
  const other = [...row.entries.keys()].find((name) => !known.has(name)) ?? '';
  return failRow(meter, index + 1, `${JSON.stringify(other.slice(0, 40))} is not a column`);
}

function failRow(meter: Meter, row: number, problem: string): never {
  return meter.fail('InvalidValue', `${row === 0 ? 'the columns' : `row ${row}`}: ${problem}`);
}

class Writer {
  readonly #meter: Meter;
  readonly #separator: string;
  readonly #text: TextBuilder;

  constructor(meter: Meter, separator: string) {
    this.#meter = meter;
    this.#separator = separator;
    this.#text = new TextBuilder(meter, WORK.concat, 'text');
  }

  /** Adds a row. `number` counts from 1; 0 is that of the names. */
  row(fields: readonly Value[], number: number): void {
    for (const [index, field] of fields.entries()) {
      this.#meter.pay(WORK.written);
      if (index > 0) this.#text.add(this.#separator);
      // A row of one empty field would be a blank line.
      this.#text.add(fields.length === 1 && (field === '' || field === null) ? '""' : this.#field(field, number));
    }
    this.#text.add('\n');
  }

  finish(): string {
    return this.#text.finish();
  }

  #field(field: Value, number: number): string {
    if (field === null) return '';
    if (typeof field === 'object' && !(field instanceof Time) && !(field instanceof Fuzzy))
      return failRow(this.#meter, number, `a field cannot be ${typeName(field)}`);
    const text = toText(this.#meter, field);
    this.#meter.pay(WORK.scan, 4 * text.length);
    if (![this.#separator, '"', '\n', '\r'].some((char) => text.includes(char))) return text;
    return `"${replaceText(this.#meter, text, '"', '""', -1)}"`;
  }
}
