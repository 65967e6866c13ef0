import type { ForeseenScalar, ForeseenType, ForeseenValue } from '../../grammar/index.ts';
import { clipped } from './clip.ts';
import { isPlaced } from './mapkeys.ts';
import type { TaggedJson } from './protocol.ts';
import { isList, jsonBeginning, shownEntries } from './tagged.ts';

/** Whether a value is one of those that were foreseen. */
export function fits(known: ForeseenValue, value: TaggedJson): boolean {
  if (known.value !== undefined) return isScalar(known.value, value);
  if (known.oneOf !== undefined) return known.oneOf.some((one) => isScalar(one, value));
  return fitsType(known, value) && fitsRange(known, value) && fitsParts(known, value);
}

function isScalar(scalar: ForeseenScalar, value: TaggedJson): boolean {
  if (typeof scalar !== 'object' || scalar === null) return Object.is(scalar, value);
  return isObject(value) && value['$num'] === scalar.$num;
}

function fitsType({ types }: ForeseenValue, value: TaggedJson): boolean {
  return types === undefined || types.includes(typeOf(value));
}

function fitsRange({ least, most, prefix }: ForeseenValue, value: TaggedJson): boolean {
  if (prefix !== undefined && !(typeof value === 'string' && value.startsWith(prefix))) return false;
  if (least === undefined && most === undefined) return true;
  const number = isObject(value) ? Number(value['$num']) : value;
  return (
    typeof number === 'number' && number >= (least ?? Number.NEGATIVE_INFINITY) && number <= (most ?? Number.POSITIVE_INFINITY)
  );
}

function fitsParts({ items, each, entries }: ForeseenValue, value: TaggedJson): boolean {
  if (items !== undefined || each !== undefined) {
    if (!isList(value) || (items !== undefined && items.length !== value.length)) return false;
    return value.every((item, index) => fits(items?.[index] ?? each ?? {}, item));
  }
  if (entries === undefined) return true;
  if (!isObject(value)) return false;
  const given = new Map(Object.entries(value).map(([name, item]) => [isPlaced(name) ? name.slice(1) : name, item]));
  return (
    given.size === entries.length &&
    entries.every(([key, known]) => {
      const item = given.get(key);
      return item !== undefined && fits(known, item);
    })
  );
}

function isObject(value: TaggedJson): value is { readonly [key: string]: TaggedJson } {
  return typeof value === 'object' && value !== null && !isList(value);
}

const TAGS: ReadonlySet<string> = new Set(['$bytes', '$time', '$fuzzy', '$error', '$handle']);

function typeOf(value: TaggedJson): ForeseenType {
  if (value === null) return 'nil';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'number') return 'number';
  if (typeof value === 'boolean') return 'boolean';
  if (isList(value)) return 'list';
  const [first] = Object.keys(value);
  if (first === '$num') return 'number';
  return first !== undefined && TAGS.has(first) ? 'other' : 'map';
}

/** Everything about a value, in the form of what is known before a run. */
export function knownOf(value: TaggedJson): ForeseenValue {
  if (typeof value !== 'object' || value === null) return { value };
  if (isList(value)) return { items: value.map(knownOf) };
  const number = value['$num'];
  if (typeof number === 'string') return { value: { $num: number } };
  if (typeOf(value) === 'other') return { types: ['other'] };
  return { entries: shownEntries(value).map(([key, item]) => [key, knownOf(item)]) };
}

/** What is known of the arguments of a call, in words, on one line. Of each text at most `width` characters are shown. */
export function argumentsText(args: readonly ForeseenValue[] | null, width = MOST_CHARACTERS): string {
  return args === null ? '(any arguments)' : `(${args.map((arg) => valueText(arg, width)).join(', ')})`;
}

/** What is known of a value, in words. */
function valueText(known: ForeseenValue, width: number): string {
  const { value, oneOf, from } = known;
  if (value !== undefined) return scalarText(value, width);
  const source = from === undefined ? '' : ` from call ${from.join(', ')}`;
  if (oneOf !== undefined) return `one of ${oneOf.map((one) => scalarText(one, width)).join(' | ')}${source}`;
  return `${formText(known, (part) => valueText(part, width))}${source}`;
}

function formText(
  { types, least, most, prefix, items, each, entries }: ForeseenValue,
  text: (part: ForeseenValue) => string,
): string {
  if (items !== undefined) return `[${items.map(text).join(', ')}]`;
  if (entries !== undefined) return `{${entries.map(([key, value]) => `${JSON.stringify(key)}: ${text(value)}`).join(', ')}}`;
  if (each !== undefined) return `[any number of: ${text(each)}]`;
  if (prefix !== undefined) return `text that begins with ${JSON.stringify(prefix)}`;
  if (least !== undefined && most !== undefined) return `number from ${least} to ${most}`;
  if (least !== undefined) return `number from ${least}`;
  if (most !== undefined) return `number up to ${most}`;
  return types === undefined ? 'anything' : types.map((type) => (type === 'other' ? 'special value' : type)).join(' | ');
}

/** Most characters of a text that is shown on a line of a terminal. */
const MOST_CHARACTERS = 80;

function scalarText(scalar: ForeseenScalar, width: number): string {
  if (scalar === null) return 'nil';
  if (typeof scalar === 'object') return scalar.$num;
  const text = jsonBeginning(scalar, width);
  return text.length <= width ? text : `${clipped(text, width)}…`;
}
