import { MAX_NESTING, VALUE_BYTES } from '../wire/costs.ts';
import { isIndex, keyOf, moves, nameOf } from '../wire/mapkeys.ts';
import type { TaggedJson } from '../wire/protocol.ts';
import { isList } from '../wire/tagged.ts';
import { putEntry } from './assign.ts';
import { paidWhole, TextBuilder } from './builder.ts';
import { InternalError } from './errors.ts';
import { checkValue, newList, sizeOf } from './measure.ts';
import { contentBytes, listBytes } from './memory.ts';
import type { Meter } from './meter.ts';
import { tooDeep } from './text.ts';
import { Bytes, Dict, Fault, Fuzzy, Handle, List, Time, type Value } from './values.ts';
import { WORK } from './work.ts';

const { stringify } = JSON;

/** The reader of the JSON. The host gets the ids of handles, the public result does not. */
export type Audience = 'host' | 'public';

/**
 * A value as tagged JSON, whose keys keep their order in JavaScript too. It is paid for while it grows. Nesting beyond `MAX_NESTING` is
 * code 37. Lone surrogates become U+FFFD, because the JSON is sent as UTF-8.
 */
export function encode(meter: Meter, value: Value, audience: Audience): string {
  const brief = briefJson(value);
  if (brief !== null) return paidWhole(meter, WORK.json, brief);
  const writer = new Writer(meter, audience);
  writer.value(value, 1);
  return writer.finish();
}

/** A text as JSON. */
export function encodeText(meter: Meter, text: string): string {
  return encode(meter, text, 'public');
}

/** Units of a text whose JSON is one piece for a {@link TextBuilder}. */
const BRIEF = 128;

/** The JSON of a number, a boolean, nil or a short text; null for other values. */
function briefJson(value: Value): string | null {
  if (typeof value === 'number') return numberJson(value);
  if (typeof value === 'string') return value.length > BRIEF ? null : stringify(value.toWellFormed());
  return typeof value === 'object' && value !== null ? null : String(value);
}

class Writer {
  readonly #meter: Meter;
  readonly #audience: Audience;
  readonly #json: TextBuilder;

  constructor(meter: Meter, audience: Audience) {
    this.#meter = meter;
    this.#audience = audience;
    this.#json = new TextBuilder(meter, WORK.json, 'json');
  }

  finish(): string {
    return this.#json.finish();
  }

  value(value: Value, depth: number): void {
    if (typeof value === 'string') this.#text(value);
    else if (typeof value === 'number') this.#json.add(numberJson(value));
    else if (typeof value !== 'object' || value === null) this.#json.add(String(value));
    else if (value instanceof List) this.#list(value, depth);
    else if (value instanceof Dict) this.#map(value, depth);
    else if (value instanceof Fault) {
      this.#json.add('{"$error":');
      this.#map(value.fields, depth);
      this.#json.add('}');
    } else this.#json.add(this.#tag(value));
  }

  #tag(value: Bytes | Time | Fuzzy | Handle): string {
    if (value instanceof Bytes) return `{"$bytes":"${value.base64}"}`;
    if (value instanceof Time) return `{"$time":"${value.text}"}`;
    if (value instanceof Fuzzy) return `{"$fuzzy":${value.degree}}`;
    const kind = stringify(value.kind);
    const hidden = this.#audience === 'public' || value.id === '';
    return `{"$handle":${hidden ? kind : `{"kind":${kind},"id":${stringify(value.id)}}`}}`;
  }

  #list(list: List, depth: number): void {
    this.#enter(depth, list.items.length);
    let separator = '[';
    for (const item of list.items) {
      this.#json.add(separator);
      this.value(item, depth + 1);
      separator = ',';
    }
    this.#json.add(list.items.length === 0 ? '[]' : ']');
  }

  #map(map: Dict, depth: number): void {
    this.#enter(depth, map.entries.size);
    const placed = moves(map.entries.keys());
    let separator = '{';
    for (const [key, item] of map.entries) {
      this.#json.add(separator);
      // Keys are marked free of charge, so that a replay of a record without marks takes the same fuel.
      if (placed && isIndex(key)) this.#json.add(`"${nameOf(key, placed)}"`, 1);
      else this.#text(nameOf(key, placed));
      this.#json.add(':');
      this.value(item, depth + 1);
      separator = ',';
    }
    this.#json.add(map.entries.size === 0 ? '{}' : '}');
  }

  #enter(depth: number, items: number): void {
    this.#meter.pay(WORK.written, items);
    if (depth > MAX_NESTING) tooDeep(this.#meter, 'sent to the host');
  }

  /** A control character takes six units, so a long text counts as if it had nothing else until its JSON is known. */
  #text(text: string): void {
    if (text.length < SMALL) {
      this.#json.add(stringify(text.toWellFormed()));
      return;
    }
    const worst = 12 * text.length;
    this.#meter.allocate(worst);
    const json = stringify(text.toWellFormed());
    this.#meter.release(worst);
    this.#json.add(json);
  }
}

const SMALL = 4096;

function numberJson(value: number): string {
  if (Number.isFinite(value) && !Object.is(value, -0)) return String(value);
  return `{"$num":"${Object.is(value, -0) ? '-0' : String(value)}"}`;
}

/**
 * The value that parsed tagged JSON means, paid for while it is made. The host has checked it: anything that is not tagged JSON is an
 * {@link InternalError}, never a guess.
 */
export function decode(meter: Meter, json: TaggedJson): Value {
  return decodeAt(meter, json, 1);
}

function decodeAt(meter: Meter, json: TaggedJson, depth: number): Value {
  if (typeof json === 'string') {
    meter.allocateText(json.length);
    meter.pay(WORK.json, json.length);
    return json;
  }
  if (json === null || typeof json !== 'object') return json;
  if (depth > MAX_NESTING + 1) tooDeep(meter, 'taken from the host');
  if (isList(json)) {
    meter.pay(WORK.written, json.length);
    meter.allocate(listBytes(json.length));
    meter.checkItems(json.length);
    return newList(
      meter,
      json.map((item) => decodeAt(meter, item, depth + 1)),
    );
  }
  return decodeObject(meter, json, depth);
}

function decodeObject(meter: Meter, json: { readonly [key: string]: TaggedJson }, depth: number): Value {
  const keys = Object.keys(json);
  const [first = ''] = keys;
  if (keys.length === 1 && keyOf(first) === null) return decodeTag(meter, first, json[first] ?? null, depth);
  meter.allocate(VALUE_BYTES.map.amount);
  meter.pay(WORK.written, keys.length);
  const map = new Dict(new Map());
  for (const name of keys) {
    const key = keyOf(name);
    if (key === null || map.entries.has(key)) throw badTag(name);
    putEntry(meter, map, key, decodeAt(meter, json[name] ?? null, depth + 1));
  }
  checkValue(meter, map);
  return map;
}

const NUMBERS: ReadonlyMap<string, number> = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
  ['-0', -0],
]);

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

function decodeTag(meter: Meter, tag: string, content: TaggedJson, depth: number): Value {
  const value = tagged(meter, tag, content, depth);
  if (value === undefined) throw badTag(tag);
  if (typeof value === 'object' && value !== null) meter.allocate(VALUE_BYTES.other.amount + contentBytes(value));
  meter.checkSize(sizeOf(value));
  return value;
}

function tagged(meter: Meter, tag: string, content: TaggedJson, depth: number): Exclude<Value, List | Dict> | undefined {
  if (tag === '$fuzzy') return typeof content === 'number' ? new Fuzzy(content) : undefined;
  if (tag === '$error') {
    const fields = isList(content) ? null : decodeAt(meter, content, depth + 1);
    return fields instanceof Dict ? new Fault(fields) : undefined;
  }
  if (tag === '$handle') return handle(content);
  if (typeof content !== 'string') return undefined;
  meter.pay(WORK.json, content.length);
  if (tag === '$num') return NUMBERS.get(content);
  if (tag === '$bytes') return content.length % 4 === 0 && BASE64.test(content) ? new Bytes(content) : undefined;
  return tag === '$time' ? parseTime(content) : undefined;
}

function handle(content: TaggedJson): Handle | undefined {
  if (typeof content === 'string') return new Handle(content, '');
  if (content === null || typeof content !== 'object' || isList(content)) return undefined;
  const { kind, id } = content;
  return typeof kind === 'string' && typeof id === 'string' ? new Handle(kind, id) : undefined;
}

function badTag(tag: string): InternalError {
  return new InternalError(`the host sent '${tag.slice(0, 40)}', which is not a known tag with its content`);
}

const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;
const SECONDS_PER_DAY = 86_400;

/** A timedate from RFC 3339 text; undefined for other text. The calendar is computed here, because the isolate has no `Date`. */
export function parseTime(text: string): Time | undefined {
  const parts = RFC3339.exec(text);
  if (parts === null) return undefined;
  const part = (index: number): number => Number(parts[index] ?? 0);
  if (part(2) < 1 || part(2) > 12 || part(3) < 1 || part(3) > 31 || part(4) > 23 || part(5) > 59 || part(6) > 59)
    return undefined;
  const offset = (part(9) * 60 + part(10)) * 60 * (parts[8] === '-' ? -1 : 1);
  const clock = (part(4) * 60 + part(5)) * 60 + part(6);
  const seconds = daysSince1970(part(1), part(2), part(3)) * SECONDS_PER_DAY + clock - offset;
  return new Time(text, seconds, Number((parts[7] ?? '').padEnd(9, '0')));
}

/** Days since 1970 in the proleptic Gregorian calendar. The year is counted from March, so that a leap day is its last day. */
function daysSince1970(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}
