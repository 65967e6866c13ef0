/**
 * How the keys of a script's map are written as names of a JSON object (DESIGN 5). A script keeps its keys in the order in which
 * they were set (P9); an object of JavaScript puts whole numbers first, by size, and every JSON parser there makes such objects.
 * So where that would change the order, whole numbers are written with one `$`: `{"$10":1,"$2":2}` is the map of `"10"`, then
 * `"2"`. No tag begins with a digit, and a script's own key `$10` is `$$10`, as every key of its own with a `$` has two.
 */

const ZERO = 0x30;
const NINE = 0x39;

/** The largest name that an object takes for the index of an element; larger whole numbers keep their places. */
const LAST_INDEX = 2 ** 32 - 2;

/** Whether an object of JavaScript would put this key before all others that are none such. */
export function isIndex(key: string): boolean {
  const unit = key.charCodeAt(0);
  if (!(unit >= ZERO && unit <= NINE) || key.length > 10) return false;
  const number = Number(key);
  return Number.isInteger(number) && number <= LAST_INDEX && String(number) === key;
}

/** Whether an object of JavaScript would give these keys, each there once, in another order than they come in. */
export function moves(keys: Iterable<string>): boolean {
  let least = 0;
  for (const key of keys) {
    if (!isIndex(key)) least = Number.POSITIVE_INFINITY;
    else if (Number(key) < least) return true;
    else least = Number(key);
  }
  return false;
}

/** The name of a key; `placed` in a map whose keys would be moved. */
export function nameOf(key: string, placed: boolean): string {
  return key.startsWith('$') || (placed && isIndex(key)) ? `$${key}` : key;
}

/** The key that a name stands for; null when it is a tag's. */
export function keyOf(name: string): string | null {
  if (!name.startsWith('$')) return name;
  return name.startsWith('$$') || isPlaced(name) ? name.slice(1) : null;
}

/** Whether it is the name of a whole number that keeps its place. */
export function isPlaced(name: string): boolean {
  return name.startsWith('$') && isIndex(name.slice(1));
}
