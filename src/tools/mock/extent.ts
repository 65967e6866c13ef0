import { utf8Length } from '../../wire/bytes.ts';
import { encode } from '../../wire/codec.ts';
import { isList } from '../../wire/tagged.ts';
import { isOrderedMap, type OrderedValue } from '../../wire/values.ts';

/** How large a value is at most. */
export interface Extent {
  /** Bytes of JSON. */
  readonly bytes: number;
  /** Lists and maps within each other. */
  readonly levels: number;
}

/** Values do not change, so a part that a value shares with earlier ones, or has several times, is measured once. */
const known = new WeakMap<object, Extent>();

/** Measures a value without writing its parts again that were measured before. */
export function extentOf(value: OrderedValue): Extent {
  if (!isList(value) && !isOrderedMap(value)) return { bytes: utf8Length(JSON.stringify(encode(value))), levels: 0 };
  const found = known.get(value);
  if (found !== undefined) return found;
  let [bytes, levels] = [2, 0];
  const add = (item: OrderedValue, own: number): void => {
    const inner = extentOf(item);
    bytes += inner.bytes + own;
    levels = Math.max(levels, inner.levels);
  };
  if (isList(value)) for (const item of value) add(item, 1);
  // A colon, a comma, and a `$` that may come before the key.
  else for (const [key, item] of value) add(item, utf8Length(JSON.stringify(key)) + 3);
  const extent = { bytes, levels: levels + 1 };
  known.set(value, extent);
  return extent;
}
