/** Knowledge about the elements of a value. */
import { type Abstract, join, LIST, MAP, TEXT, text, UNKNOWN } from './values.ts';

export function elementOf(value: Abstract): Abstract {
  if (value.types === LIST && value.item !== undefined) return value.item;
  if (value.types === TEXT) return { ...text(Math.min(2, value.units), value.plain), most: 1 };
  const { size, nodes, answer } = value;
  const element = { ...UNKNOWN, units: size, size, nodes, most: Math.max(size, nodes) };
  return answer === undefined || answer.part !== undefined ? element : { ...element, answer: { ...answer, part: 'item' } };
}

export function elementAt(value: Abstract, key: Abstract): Abstract {
  const { known } = key;
  if (value.types === MAP && typeof known === 'string') {
    const field = value.fields?.get(known);
    if (field !== undefined) return field;
  }
  if (value.types === LIST && typeof known === 'number') {
    const item = value.items?.[known];
    if (item !== undefined) return item;
  }
  return elementOf(value);
}

/** Most items and entries of a value whose parts are followed while it changes. */
const MOST_FIELDS = 64;

/** The description of a list or map after one of its elements was set. */
export function replaced({ types, items, item, fields, least }: Abstract, key: Abstract, value: Abstract): Partial<Abstract> {
  const { known } = key;
  if (types === MAP && fields !== undefined && typeof known === 'string') {
    const made = new Map(fields).set(known, value);
    return made.size > MOST_FIELDS ? {} : { fields: made, least: made.size, most: made.size };
  }
  if (types !== LIST || items === undefined || typeof known !== 'number' || items.length >= MOST_FIELDS) return {};
  if (!Number.isInteger(known) || known < 0 || known > items.length) return {};
  const made = items.toSpliced(known, 1, value);
  return {
    items: made,
    item: item === undefined ? value : join(item, value),
    least: Math.max(least, made.length),
    most: made.length,
  };
}
