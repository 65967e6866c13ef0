/**
 * The keys of a script's map as names of a JSON object. A script keeps keys in the order in which they were set. An object of
 * JavaScript, and so the result of its JSON parser, puts whole numbers first, in ascending order. Where that would change the order,
 * whole numbers are written with one `$`: `{"$10":1,"$2":2}` is the map of `"10"`, then `"2"`. No tag begins with a digit, and a
 * script's own key `$10` is written `$$10`, because every key that starts with a `$` gets a second one.
 */

const ZERO = 0x30;
const NINE = 0x39;

/** The largest index of an element. An object does not move larger whole numbers. */
const LAST_INDEX = 2 ** 32 - 2;

/** Whether an object of JavaScript treats a key as an index and puts it before keys that are none. */
export function isIndex(key: string): boolean {
  const unit = key.charCodeAt(0);
  if (!(unit >= ZERO && unit <= NINE) || key.length > 10) return false;
  const number = Number(key);
  return Number.isInteger(number) && number <= LAST_INDEX && String(number) === key;
}

/** Whether an object of JavaScript would change the order of these keys. Each key occurs once. */
export function moves(keys: Iterable<string>): boolean {
  let least = 0;
  for (const key of keys) {
    if (!isIndex(key)) least = Number.POSITIVE_INFINITY;
    else if (Number(key) < least) return true;
    else least = Number(key);
  }
  return false;
}

/** The name of a key; `placed` is true in a map whose keys would be moved. */
export function nameOf(key: string, placed: boolean): string {
  return key.startsWith('$') || (placed && isIndex(key)) ? `$${key}` : key;
}

/** The key of a name; null when the name is a tag. */
export function keyOf(name: string): string | null {
  if (!name.startsWith('$')) return name;
  return name.startsWith('$$') || isPlaced(name) ? name.slice(1) : null;
}

/** Whether a name is that of a whole number that keeps its place. */
export function isPlaced(name: string): boolean {
  return name.startsWith('$') && isIndex(name.slice(1));
}
