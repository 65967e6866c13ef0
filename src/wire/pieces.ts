import type { TaggedJson } from './protocol.ts';
import { isList, plainMap, plainMaps } from './tagged.ts';

/*
 * Work on large values in pieces, between which an event loop can do other work. A piece is work on about so many values as the host
 * reads, encodes and writes in less than two calibration loops, whatever their shape.
 */

export const PIECE_VALUES = 8192;
/** Values that are worked on at once: as many calls as may end in one round make less than two pieces of them. */
const LIGHT_VALUES = 256;
/** UTF-16 units of a text that count as one value more. */
const VALUE_TEXT = 64;
/** A value that nests deeper is refused in any case. */
const DEEPEST = 1024;

/** Work that yields after each piece. */
export type Pieces<T> = Generator<void, T>;

/** Does the work, and rests before and after each piece: neither what came before it nor what follows adds to a piece. */
export async function inPieces<T>(work: Pieces<T>, rest: () => Promise<unknown>): Promise<T> {
  for (;;) {
    await rest();
    const piece = work.next();
    if (piece.done !== true) continue;
    await rest();
    return piece.value;
  }
}

/**
 * Whether a value of JSON or of a tool is too large for one piece. It looks at no more than a piece. Never throws: whoever makes something of
 * a value that cannot be read says so, with its place.
 */
export function isHeavy(value: unknown): boolean {
  return weighsMore(value, PIECE_VALUES);
}

/** Whether a value is so small that many of them are less work than a piece. It never throws either. */
export function isLight(value: unknown): boolean {
  return !weighsMore(value, LIGHT_VALUES);
}

function weighsMore(value: unknown, most: number): boolean {
  try {
    return weightOf(value, most) > most;
  } catch {
    return false;
  }
}

/** The values within a value; counting ends soon after `most`. */
export function weightOf(value: unknown, most = PIECE_VALUES): number {
  return weigh(value, most, 0);
}

function weigh(value: unknown, most: number, depth: number): number {
  if (typeof value === 'string') return 1 + Math.floor(value.length / VALUE_TEXT);
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return 1;
  if (depth > DEEPEST) return most + 1;
  if (ArrayBuffer.isView(value) && 'length' in value) return Number(value.length);
  let sum = 1;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && sum <= most; index++) sum += weigh(value[index], most - sum, depth + 1);
  } else if (value instanceof Map) {
    for (const item of value.values()) if (sum <= most) sum += KEY + weigh(item, most - sum, depth + 1);
  } else {
    for (const key in value) {
      if (sum > most) break;
      sum += KEY + weigh(Reflect.get(value, key), most - sum, depth + 1);
    }
  }
  return sum;
}

/** Values that a key counts more. */
const KEY = 3;

/** How something is made of tagged JSON. */
export interface Maker<T> {
  /** Makes a part that is no heavier than a piece; `depth` lists and maps are around it. */
  part(json: TaggedJson, depth: number): T;
  list(item: T): T;
  join(lists: readonly T[]): T;
  /** The map with these names, whose values stand in `items`. */
  map(names: readonly string[], items: readonly T[]): T;
}

/** Makes something of tagged JSON in pieces. The keys of one map are one piece. */
export function* makeInPieces<T>(json: TaggedJson, maker: Maker<T>, depth = 0): Pieces<T> {
  return isHeavy(json) ? yield* makeHeavy(json, maker, depth) : maker.part(json, depth);
}

function* makeHeavy<T>(json: TaggedJson, maker: Maker<T>, depth: number): Pieces<T> {
  if (json === null || typeof json !== 'object') return maker.part(json, depth);
  yield;
  if (isList(json)) return maker.join(yield* listsOf(json, maker, depth));
  const names = Object.keys(json).filter((name) => json[name] !== undefined);
  const [first] = names;
  // The content of an error is as deep as the error itself.
  const inner = names.length === 1 && first === '$error' ? depth : depth + 1;
  const items: T[] = [];
  let done = 0;
  for (const name of names) {
    const item = json[name] ?? null;
    const weight = weightOf(item);
    items.push(weight > PIECE_VALUES ? yield* makeHeavy(item, maker, inner) : maker.part(item, inner));
    done += KEY + weight;
    if (done <= PIECE_VALUES) continue;
    done = 0;
    yield;
  }
  return maker.map(names, items);
}

/** Lists that make up a list, none of them more than a piece of work. */
function* listsOf<T>(list: readonly TaggedJson[], maker: Maker<T>, depth: number): Pieces<readonly T[]> {
  const lists: T[] = [];
  let from = 0;
  let weight = 0;
  for (let index = 0; index <= list.length; index++) {
    const item = list[index] ?? null;
    const own = weightOf(item);
    weight += own;
    if (index < list.length && weight <= PIECE_VALUES) continue;
    if (index > from) lists.push(maker.part(list.slice(from, index), depth));
    yield;
    const heavy = own > PIECE_VALUES;
    if (heavy) lists.push(maker.list(yield* makeHeavy(item, maker, depth + 1)));
    from = heavy ? index + 1 : index;
    weight = heavy ? 0 : own;
  }
  return lists;
}

/** UTF-16 units of a text that are one piece of work. */
const PIECE_TEXT = PIECE_VALUES * VALUE_TEXT;

/**
 * The JSON of a frame, another message or a value in parts, each of which is a piece of work. To join them would be one piece for all their
 * bytes. A field that is undefined is left out.
 */
export function* jsonTexts(message: object | TaggedJson): Generator<string, void> {
  // Messages hold JSON only.
  yield* heavyTexts(message as TaggedJson, '', '');
}

/** The JSON of a value, with what stands before and behind it. */
function* heavyTexts(json: TaggedJson, before: string, after: string): Generator<string, void> {
  if (!isHeavy(json)) yield before + JSON.stringify(json) + after;
  else if (typeof json === 'string') yield* textsOfText(json, before, after);
  else yield* isList(json) ? textsOfList(json, before, after) : textsOfMap(Object(json), before, after);
}

function* textsOfText(text: string, before: string, after: string): Generator<string, void> {
  let head = `${before}"`;
  for (let from = 0; from < text.length; ) {
    // The two halves of a character outside the basic plane would become two escapes.
    const most = from + PIECE_TEXT;
    const end = (text.charCodeAt(most - 1) & 0xfc00) === 0xd800 ? most - 1 : most;
    const part = JSON.stringify(text.slice(from, end)).slice(1, -1);
    yield end < text.length ? head + part : `${head}${part}"${after}`;
    head = '';
    from = end;
  }
}

function* textsOfList(list: readonly TaggedJson[], before: string, after: string): Generator<string, void> {
  let head = `${before}[`;
  let from = 0;
  let weight = 0;
  for (let index = 0; index < list.length; index++) {
    const item = list[index] ?? null;
    const own = weightOf(item);
    weight += own;
    if (weight <= PIECE_VALUES) continue;
    if (index > from) {
      yield head + JSON.stringify(list.slice(from, index)).slice(1, -1);
      head = ',';
    }
    from = index;
    weight = own;
    if (own <= PIECE_VALUES) continue;
    yield* heavyTexts(item, head, '');
    head = ',';
    from = index + 1;
    weight = 0;
  }
  const rest = from < list.length ? head + JSON.stringify(list.slice(from)).slice(1, -1) : '';
  yield `${rest}]${after}`;
}

function* textsOfMap(
  map: { readonly [name: string]: TaggedJson | undefined },
  before: string,
  after: string,
): Generator<string, void> {
  let text = `${before}{`;
  let separator = '';
  let weight = 0;
  for (const name of Object.keys(map)) {
    const item = map[name];
    if (item === undefined) continue;
    text += `${separator}${JSON.stringify(name)}:`;
    separator = ',';
    const own = weightOf(item);
    weight += KEY + own;
    if (own > PIECE_VALUES) {
      yield* heavyTexts(item, text, '');
      text = '';
      weight = 0;
    } else {
      text += JSON.stringify(item);
      if (weight <= PIECE_VALUES) continue;
      yield text;
      text = '';
      weight = 0;
    }
  }
  yield `${text}}${after}`;
}

/** The bytes of the JSON of a message in UTF-8, made in pieces. */
export function* jsonBytes(message: object | TaggedJson): Pieces<readonly Buffer[]> {
  const parts: Buffer[] = [];
  for (const text of jsonTexts(message)) {
    parts.push(Buffer.from(text));
    yield;
  }
  return parts;
}

/** As `plainMaps`, in pieces. */
export function plainInPieces(json: TaggedJson): Pieces<TaggedJson> {
  return makeInPieces(json, PLAIN);
}

const PLAIN: Maker<TaggedJson> = {
  part: plainMaps,
  list: (item) => [item],
  join: (lists) => ([] as readonly TaggedJson[]).concat(...lists),
  map: (names, items) => plainMap(names.map((name, index) => [name, items[index] ?? null])),
};
