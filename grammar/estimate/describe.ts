/** Knowledge about a value, as JSON. */
import type { CallRow } from './calls.ts';
import { type Abstract, ANYTHING, BOOL, LIST, MAP, NIL, NUM, OTHER, prefixOf, type Scalar, TEXT } from './values.ts';

/** A type, as `typeof` names it; `other` is bytes, a timedate, a fuzzy value, an error or a handle. */
export type ForeseenType = 'nil' | 'boolean' | 'number' | 'string' | 'list' | 'map' | 'other';

/** A literal as tagged JSON: a number that JSON lacks is `{"$num": "NaN"}`, `"Infinity"`, `"-Infinity"` or `"-0"`. */
export type ForeseenScalar = Scalar | { readonly $num: string };

/** Knowledge about a value before the program runs. Present fields hold for every run; absent ones are unknown. */
export interface ForeseenValue {
  /** The value itself. */
  readonly value?: ForeseenScalar;
  /** All values that it can be. */
  readonly oneOf?: readonly ForeseenScalar[];
  /** All types that it can have. */
  readonly types?: readonly ForeseenType[];
  /** The smallest number. */
  readonly least?: number;
  /** The largest number. */
  readonly most?: number;
  /** The prefix of the text. */
  readonly prefix?: string;
  /** The items of a list, one by one. */
  readonly items?: readonly ForeseenValue[] | undefined;
  /** A description that holds for each item of a list. */
  readonly each?: ForeseenValue | undefined;
  /** The keys of a map, as tagged JSON has them, and their values. */
  readonly entries?: readonly (readonly [key: string, value: ForeseenValue])[] | undefined;
  /** Calls, by number, whose results are in it, or decide what it is. */
  readonly from?: readonly number[] | undefined;
  /** The call, by number, of which it is the result, or an element of the result. */
  readonly returned?: { readonly call: number; readonly part?: 'item' | undefined } | undefined;
}

const NAMES: readonly (readonly [number, ForeseenType])[] = [
  [NIL, 'nil'],
  [BOOL, 'boolean'],
  [NUM, 'number'],
  [TEXT, 'string'],
  [LIST, 'list'],
  [MAP, 'map'],
  [OTHER, 'other'],
];

/** Longest text that is shown whole, and beginning of a longer one. In UTF-16 units. */
const MOST_TEXT = 1000;
const MOST_PREFIX = 200;

/** Most items and entries of one argument, and how deep they nest. */
const MOST_NODES = 32;
const MOST_LEVELS = 4;

/** Describes a value. `from` and `returned` get the numbers of places. */
export function describe(value: Abstract): ForeseenValue {
  const known = described(value, value.nodes <= MOST_NODES ? MOST_LEVELS : 1);
  const { answer } = value;
  return answer === undefined ? known : { ...known, returned: { call: answer.place, part: answer.part } };
}

/** Equal for arguments of which the same is known. */
export function signature(args: CallRow['args']): string {
  return args === null ? 'any' : JSON.stringify(args.map(describe));
}

function described(value: Abstract, levels: number): ForeseenValue {
  const { known, options, from } = value;
  if (known !== undefined) {
    const shown = scalar(known);
    return shown === undefined ? { types: typesOf(value), prefix: beginning(prefixOf(value)) } : { value: shown };
  }
  const shown = options?.map(scalar);
  const oneOf = shown?.filter((one) => one !== undefined);
  if (oneOf !== undefined && oneOf.length === shown?.length) return { oneOf, from };
  const types = value.types === ANYTHING ? {} : { types: typesOf(value) };
  const parts = partsOf(value, levels);
  // Parts of the value describe their own sources.
  return { ...types, ...rangeOf(value), ...parts, from: Object.keys(parts).length === 0 ? from : undefined };
}

function typesOf({ types }: Abstract): readonly ForeseenType[] {
  return NAMES.filter(([bit]) => (types & bit) !== 0).map(([, name]) => name);
}

function rangeOf(value: Abstract): Pick<ForeseenValue, 'least' | 'most' | 'prefix'> {
  if (value.types === NUM) {
    const least = Number.isFinite(value.min) ? { least: value.min } : {};
    return Number.isFinite(value.max) ? { ...least, most: value.max } : least;
  }
  const prefix = beginning(prefixOf(value));
  return prefix === '' ? {} : { prefix };
}

function partsOf({ types, items, item, fields }: Abstract, levels: number): Pick<ForeseenValue, 'items' | 'each' | 'entries'> {
  if (levels === 0) return {};
  const part = (value: Abstract): ForeseenValue => described(value, levels - 1);
  if (types === LIST && items !== undefined && items.length <= MOST_NODES) return { items: items.map(part) };
  if (types === LIST && item !== undefined) return { each: part(item) };
  if (types !== MAP || fields === undefined || fields.size > MOST_NODES) return {};
  const keys = [...fields.keys()];
  if (!keys.every((key) => key.isWellFormed() && key.length <= MOST_TEXT)) return {};
  return { entries: [...fields].map(([key, value]) => [key.startsWith('$') ? `$${key}` : key, part(value)]) };
}

/** Undefined for a text that is too long. Replaces lone surrogates, which the host does not accept. */
function scalar(value: Scalar): ForeseenScalar | undefined {
  if (typeof value === 'string') return value.length > MOST_TEXT ? undefined : value.toWellFormed();
  if (typeof value !== 'number') return value;
  if (Object.is(value, -0)) return { $num: '-0' };
  return Number.isFinite(value) ? value : { $num: String(value) };
}

/** The beginning of a text, not cut within a character. */
function beginning(text: string): string {
  const cut = text.slice(0, MOST_PREFIX);
  return cut.replace(/[\ud800-\udbff]$/, '').toWellFormed();
}
